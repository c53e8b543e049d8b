import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { describe } from 'node:test'
import { fileURLToPath } from 'node:url'
import { fieldsOf, lasted, pttl, times } from '../../suites/contract/lock/kind.js'
import { engines, redisEngine, scenarios } from '../../support/engines.js'
import type { Stay } from '../../support/history.js'
import { checkHistory } from '../../support/history.js'

const PROGRAM = fileURLToPath(new URL('../../support/lock-process.js', import.meta.url))
const OWNERS = 8
const ROUNDS = 50

const start = (...words: string[]) => {
  const child = spawn(process.execPath, ['--unhandled-rejections=strict', PROGRAM, ...words], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return { child, ended: once(child, 'close') as Promise<[number | null]> }
}

const output = async (...words: string[]): Promise<string> => {
  const { child, ended } = start(...words)
  const [said, [code]] = await Promise.all([text(child.stdout), ended])
  assert.equal(code, 0)
  return said
}

/** Every stay has one of its own, and they grow in the order of the stays. */
const tokensInOrder = (stays: readonly (Stay & { token: bigint })[]): void => {
  const inOrder = [...stays].sort((one, other) => (one.from < other.from ? -1 : 1))
  inOrder.reduce((last, { token, who }) => {
    assert.ok(token > last, `${who} has token ${token} after ${last}`)
    return token
  }, 0n)
}

void describe('processes that share a lock', () => {
  const scenario = scenarios(redisEngine)

  for (const kind of ['lock', 'fencedLock', 'spinLock', 'multiLock']) {
    scenario(
      `G-01: ${kind}, two processes × 8 owners × 50 rounds → the total exact, one inside at a time`,
      async (w) => {
        const said = await Promise.all(
          times(2, () => output('visits', w.url, w.id, String(OWNERS), String(ROUNDS), kind)),
        )
        const stays: (Stay & { token: bigint })[] = []
        for (const part of said) {
          const { crowded, stays: some } = JSON.parse(part) as {
            crowded: number
            stays: [string, string, string, string][]
          }
          assert.equal(crowded, 0, 'somebody else was inside')
          for (const [who, from, to, token] of some)
            stays.push({ who, from: BigInt(from), to: BigInt(to), token: BigInt(token) })
        }
        assert.equal(stays.length, 2 * OWNERS * ROUNDS)
        checkHistory(stays)
        if (kind === 'fencedLock') tokensInOrder(stays)
        assert.equal(Number(await w.raw('GET', 'counter')), 2 * OWNERS * ROUNDS)
        await w.raw('DEL', 'counter')
      },
    )
  }

  scenario('RW29: two processes × 8 owners × 40 rounds of either side → writers alone, readers together', async (w) => {
    const said = await Promise.all(times(2, () => output('readsAndWrites', w.url, w.id, String(OWNERS), '40')))
    const stays: Stay[] = []
    let together = 0
    for (const part of said) {
      const told = JSON.parse(part) as { crowded: number; together: number; stays: [string, string, string, boolean][] }
      assert.equal(told.crowded, 0, 'somebody else was inside')
      together += told.together
      for (const [who, from, to, shared] of told.stays) stays.push({ who, from: BigInt(from), to: BigInt(to), shared })
    }
    assert.equal(stays.length, 2 * OWNERS * 40)
    assert.ok(together > 0, 'no two readers were inside together')
    checkHistory(stays)
    const writes = stays.filter(({ shared }) => shared !== true).length
    assert.equal(Number(await w.raw('GET', 'counter')), writes)
    await w.raw('DEL', 'counter', 'inside')
  })

  scenario(
    'G-13: a holder killed → every key it left expires, the waiter of another process is in by then',
    async (w) => {
      w.leavesKeys = true
      const { child, ended } = start('holdUntilKilled', w.url, w.id)
      await once(child.stdout, 'data')
      const client = await w.connect()
      assert.equal(await client.lock(w.id).tryAcquire({ wait: 4000 }), undefined, 'it renews while it lives')
      child.kill('SIGKILL')
      await ended
      for (const key of (await w.raw('KEYS', '*')) as string[]) {
        assert.ok(Number(await w.raw('PTTL', key)) > 0, `${key} never expires`)
      }
      const begun = w.now()
      const hold = await w.run(client.lock(w.id).acquire())
      lasted(w, w.now() - begun, 0, 3000)
      assert.equal(await w.run(hold.release()), true)
    },
  )

  scenario(
    'G-03: the event loop blocked while another process takes over → lost on waking, the other’s hold untouched',
    async (w) => {
      const client = await w.connect({ watchdog: 1000 })
      const told: string[] = []
      client.on('lost', ({ name }) => told.push(name))
      const hold = await client.lock(w.id).acquire()
      const mine = await fieldsOf(w, w.id)
      const { child, ended } = start('takeOver', w.url, w.id)
      await once(child.stdout, 'data')
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3500)
      assert.deepEqual([hold.state, hold.lost, hold.remaining()], ['lost', true, 0])
      await w.eventually(() => hold.signal.aborted, 2000)
      assert.deepEqual(told, [w.id])
      child.stdout.resume()
      await ended
      const theirs = await fieldsOf(w, w.id)
      assert.equal(Object.keys(theirs).length, 1)
      assert.notDeepEqual(theirs, mine)
      const left = await pttl(w, w.id)
      assert.equal(await hold.release(), false)
      await w.pass(1000)
      assert.deepEqual(await fieldsOf(w, w.id), theirs)
      assert.ok((await pttl(w, w.id)) <= left - 900)
      assert.equal(await client.lock(w.id).forceRelease(), true)
    },
  )

  scenario('G-19: a process that closed its client → ends by itself, and nothing is left', async (w) => {
    assert.equal(await w.run(output('closeAndEnd', w.url, w.id)), 'released')
    assert.deepEqual(await w.raw('KEYS', '*'), [])
  })

  scenario('`detach` in one process → `adopt` in another', async (w) => {
    const ticket = await w.run(output('detach', w.url, w.id))
    const client = await w.connect()
    assert.equal(await client.lock(w.id).tryAcquire(), undefined)
    const hold = await client.adopt(ticket)
    assert.equal(hold.name, w.id)
    assert.equal(hold.state, 'held')
    assert.equal(await w.run(hold.release()), true)
  })
})

for (const engine of engines) {
  void describe(`one process, two clients on ${engine.name}`, () => {
    const scenario = scenarios(engine)

    scenario('G-01: 2 clients × 8 owners × 50 rounds → the total exact, one inside at a time', async (w) => {
      const clients = [await w.connect(), await w.connect()]
      const stays: Stay[] = []
      let inside = 0
      let most = 0
      let clock = 0n
      const owner = async (index: number): Promise<void> => {
        const client = clients[index % 2]
        assert.ok(client !== undefined)
        for (let round = 0; round < ROUNDS; round += 1) {
          await client.lock(w.id).using(async () => {
            const from = (clock += 1n)
            inside += 1
            most = Math.max(most, inside)
            const seen = Number((await w.raw('GET', 'counter')) ?? 0)
            if (round % 10 === 0) await w.pause(1)
            await w.raw('SET', 'counter', seen + 1)
            inside -= 1
            stays.push({ who: `${index}/${round}`, from, to: (clock += 1n) })
          })
        }
      }
      await w.run(Promise.all(times(2 * OWNERS, owner)))
      assert.equal(most, 1)
      assert.equal(stays.length, 2 * OWNERS * ROUNDS)
      checkHistory(stays)
      assert.equal(Number(await w.raw('GET', 'counter')), 2 * OWNERS * ROUNDS)
      await w.raw('DEL', 'counter')
    })
  })
}
