import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { EngineError, type FencedHold } from 'holdfast'
import { exists, rejection, SHORT } from '../../suites/contract/lock/kind.js'
import { type Client, engines, scenarios, type World } from '../../support/engines.js'

/** What no client leaves in a counter of tokens, and what an error shows of it. */
const FOREIGN: readonly (readonly [text: string, shown?: string])[] = [
  [''],
  ['-5'],
  ['-0'],
  ['1.5'],
  ['007'],
  [' 5'],
  ['1e3'],
  ['nan'],
  ['two\r\nlines é', 'two??lines ??'],
  ['9223372036854775807'],
  ['9223372036854775808'],
  ['9'.repeat(5000), '9'.repeat(32)],
]

/** Whatever counts tokens: its counter, and a call that takes one. */
const counting: Readonly<Record<string, { counter: (id: string) => string; take: Take }>> = {
  'a fenced lock': {
    counter: (id) => `redisson_lock_token:{${id}}`,
    take: async (client, id) => {
      const hold = await client.fencedLock(id).acquire()
      await hold.release()
      return hold.token
    },
  },
  'an election': {
    counter: (id) => `redisson_lock_token:{${id}}`,
    take: (client, id) => client.election(id).lead(({ term }) => term) as Promise<bigint>,
  },
  slots: {
    counter: (id) => `{${id}}:slots:token`,
    take: async (client, id, round) => {
      const result = await client.slots(id).run(`slot ${round}`, () => undefined)
      if (result.outcome === 'ran') return result.token
      throw result.outcome === 'failed' ? result.error : new Error(result.reason)
    },
  },
  'a flight': {
    counter: (id) => `{${id}}:flights:token`,
    take: async (client, id, round) => {
      const run = (): Promise<{ value: string }> =>
        client.flight(id).run(`key ${round}`, { ttl: 60_000 }, ({ token }) => String(token))
      const { value } = await run()
      assert.equal((await run()).value, value, 'kept')
      return BigInt(value)
    },
  },
}

type Take = (client: Client, id: string, round: number) => Promise<bigint>

const isForeign = (error: unknown, shown: string): void => {
  assert.ok(error instanceof EngineError, String(error))
  assert.equal(error.code, 'WRONG_KIND')
  assert.ok(error.message.includes(`: "${shown}"; set it to the newest token`), error.message)
}

for (const engine of engines)
  void describe(`counters of tokens on ${engine.name}`, { concurrency: Math.min(engine.concurrency, 4) }, () => {
    const scenario = scenarios(engine)

    for (const [kind, { counter, take }] of Object.entries(counting)) {
      scenario(`${kind}: its counter holds what no client wrote → WRONG_KIND that shows it, untouched`, async (w) => {
        w.leavesKeys = true
        // The second knows of no token yet.
        const [one, two] = [await w.connect(), await w.connect()]
        await w.run(take(one, w.id, -1))
        for (const [round, [text, shown = text]] of FOREIGN.entries()) {
          for (const client of [one, two]) {
            await w.raw('SET', counter(w.id), text)
            isForeign(await w.run(rejection(take(client, w.id, round))), shown)
            assert.equal(await w.raw('GET', counter(w.id)), text)
          }
        }
        assert.equal(await exists(w, w.id), false, 'held')
        await w.raw('SET', counter(w.id), '41')
        assert.equal(await w.run(take(two, w.id, FOREIGN.length)), 42n, 'mended')
      })

      scenario(`${kind}: tokens beyond 2^53, up to the last → exact`, async (w) => {
        w.leavesKeys = true
        const [one, two] = [await w.connect(), await w.connect()]
        for (const [round, last] of ['0', '9007199254740992', '9223372036854775805'].entries()) {
          await w.raw('SET', counter(w.id), last)
          assert.equal(await w.run(take(one, w.id, 2 * round)), BigInt(last) + 1n)
          assert.equal(await w.run(take(two, w.id, 2 * round + 1)), BigInt(last) + 2n)
        }
      })
    }

    const counterOf = (w: World): string => `redisson_lock_token:{${w.id}}`

    for (const [text] of FOREIGN.slice(0, 2)) {
      scenario(
        `the counter is ${JSON.stringify(text)} while it is held → the hold goes on, without more levels`,
        async (w) => {
          const client = await w.connect({ watchdog: SHORT })
          const lock = client.fencedLock(w.id)
          const hold = await lock.acquire()
          await w.raw('SET', counterOf(w), text)
          isForeign(await w.run(rejection(lock.acquire({ owner: hold.owner }))), text)
          const { holders, token } = await w.run(lock.inspect())
          assert.deepEqual([holders.length, token], [1, undefined])
          await w.pass(SHORT)
          assert.deepEqual([hold.state, hold.token], ['held', 1n])
          const ticket = await hold.detach()
          isForeign(await w.run(rejection(client.adopt(ticket))), text)
          assert.equal(await w.raw('GET', counterOf(w)), text)
          await w.raw('SET', counterOf(w), '1')
          const adopted = (await client.adopt(ticket)) as FencedHold
          assert.equal(adopted.token, 2n)
          await w.raw('SET', counterOf(w), text)
          assert.equal(await w.run(adopted.release()), true)
          assert.equal(await w.raw('GET', counterOf(w)), text)
          await w.raw('DEL', counterOf(w))
        },
      )

      scenario(
        `the counter is ${JSON.stringify(text)} while it is held → it is listed, and its owner is released by force`,
        async (w) => {
          const [one, two] = [await w.connect(), await w.connect()]
          await one.fencedLock(w.id).acquire()
          await w.raw('SET', counterOf(w), text)
          const listed = []
          for await (const lock of two.list({ name: w.id })) listed.push(lock)
          const [{ kind, token, holders } = assert.fail('it is not listed')] = listed
          assert.deepEqual([kind, token], ['fencedLock', undefined])
          const owner = holders[0]?.owner ?? assert.fail()
          assert.equal(await w.run(two.fencedLock(w.id).forceRelease({ owner })), true)
          assert.equal(await exists(w, w.id), false)
          assert.equal(await w.raw('GET', counterOf(w)), text)
          await w.raw('DEL', counterOf(w))
        },
      )

      scenario(
        `the counter is ${JSON.stringify(text)} when a waiter is granted the lock → its error, and it is free`,
        async (w) => {
          const [one, two] = [await w.connect(), await w.connect()]
          const hold = await one.fencedLock(w.id).acquire()
          const waiting = rejection(two.fencedLock(w.id).acquire())
          await w.pass(300)
          await w.raw('SET', counterOf(w), text)
          assert.equal(await w.run(hold.release()), true)
          isForeign(await w.run(waiting), text)
          await w.eventually(async () => !(await exists(w, w.id)))
          assert.equal(await w.raw('GET', counterOf(w)), text)
          await w.raw('DEL', counterOf(w))
        },
      )
    }
  })
