import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { BusyError, DeadlockError, LockLostError } from 'holdfast'
import type { Hold } from 'holdfast'
import { SHORT, lasted, rejection, releaseAll, timed, times, watch } from '../../suites/contract/lock/kind.js'
import type { Scenario, World } from '../../support/engines.js'
import { engines, scenarios } from '../../support/engines.js'
import { open } from './sides.js'

const lineOf = (w: World): string => `holdfast_rwlock_queue:{${w.id}}`

/** What is given up is given up at once, and does not only lapse. */
const nobodyWaits = (w: World): Promise<void> =>
  w.eventually(async () => (await w.raw('EXISTS', lineOf(w))) === 0, w.virtual ? 100 : 2000)

const leaving = (scenario: Scenario): void => {
  scenario('`maxWaiters` → bounds who waits to read, also while they sleep', async (w) => {
    const [one, two] = [await open(w), await open(w, { maxWaiters: 2 })]
    const writer = await one.write.acquire()
    const waiting = times(2, () => two.read.acquire())
    await w.pass(300)
    for (const side of [two.read, two.write, two.read]) {
      const { value, ms } = await timed(w, () => rejection(side.acquire({ wait: 10_000 })))
      assert.ok(value instanceof BusyError, String(value))
      lasted(w, ms, 0, 20)
    }
    assert.equal(await two.read.tryAcquire(), undefined)
    assert.equal(await writer.release(), true)
    await releaseAll(w, await w.run(Promise.all(waiting)))
  })

  scenario('a writer who is one too many while others read → has no place in the line', async (w) => {
    const [one, two] = [await open(w), await open(w, { maxWaiters: 1 })]
    const other = `${w.id}:other`
    const [reader, elsewhere] = [await one.read.acquire(), await one.client.lock(other).acquire()]
    const waiting = two.client.lock(other).acquire()
    await w.pass(100)
    const error = await w.run(rejection(two.write.acquire({ wait: 10_000 })))
    assert.ok(error instanceof BusyError, String(error))
    await nobodyWaits(w)
    const second = await two.read.tryAcquire()
    await releaseAll(w, [second, reader, elsewhere])
    await (await w.run(waiting)).release()
  })

  scenario('a reader who waits beside others and is aborted → told at once', async (w) => {
    const [one, two] = [await open(w), await open(w)]
    const writer = await one.write.acquire()
    const controller = new AbortController()
    const aborted = rejection(two.read.acquire({ signal: controller.signal }))
    const waiting = two.read.acquire()
    await w.pass(300)
    const { ms } = await timed(w, async () => {
      controller.abort()
      await aborted
    })
    if (w.virtual) assert.ok(ms < 20, `took ${ms} ms`)
    assert.equal(await writer.release(), true)
    await releaseAll(w, [await w.run(waiting)])
  })

  scenario('a read under a write while others wait to read, who then leave → no place is left', async (w) => {
    const { read, write } = await open(w)
    const writer = await write.acquire()
    const controller = new AbortController()
    const aborted = rejection(read.acquire({ signal: controller.signal }))
    await w.eventually(async () => (await w.raw('EXISTS', lineOf(w))) === 1)
    const inner = await read.acquire({ owner: writer.owner })
    controller.abort()
    await w.run(aborted)
    await nobodyWaits(w)
    await releaseAll(w, [inner, writer])
  })
}

/** Of both sides, in the order in which they were asked for. */
const settled = (asked: readonly Promise<Hold>[]) => Promise.allSettled(asked)

const bothSides = (scenario: Scenario): void => {
  for (const order of [['read', 'write'] as const, ['write', 'read'] as const]) {
    scenario(`one owner asks for both sides at once, ${order.join(' before ')} → one under the other`, async (w) => {
      const sides = await open(w)
      const options = { owner: sides.client.owner() }
      const outcomes = await w.run(settled(order.map((side) => sides[side].acquire(options))))
      for (const outcome of outcomes) {
        if (outcome.status === 'fulfilled') assert.equal(await w.run(outcome.value.release()), true)
        else assert.ok(outcome.reason instanceof DeadlockError, String(outcome.reason))
      }
      assert.ok(outcomes.some(({ status }) => status === 'fulfilled'))
    })

    scenario(
      `one owner waits for both sides, ${order.join(' before ')}, behind others → one under the other`,
      async (w) => {
        for (const held of order) {
          const [other, sides] = [await open(w), await open(w)]
          const options = { owner: sides.client.owner() }
          const first = await other[held].acquire()
          const asked = order.map((side) => watch(sides[side].acquire(options)))
          await w.pass(300)
          await releaseAll(w, [first])
          const outcomes = await w.run(settled(asked.map(({ promise }) => promise)))
          for (const outcome of outcomes) {
            if (outcome.status === 'fulfilled') assert.equal(await w.run(outcome.value.release()), true)
            else assert.ok(outcome.reason instanceof DeadlockError, String(outcome.reason))
          }
          assert.ok(outcomes.some(({ status }) => status === 'fulfilled'))
        }
      },
    )
  }

  scenario('who waits to read and is given the write → reads under it, every call of its', async (w) => {
    const [one, two] = [await open(w), await open(w)]
    const first = await one.read.acquire()
    const owner = two.client.owner()
    const writing = two.write.acquire({ owner })
    await w.eventually(async () => (await w.raw('EXISTS', lineOf(w))) === 1)
    const reading = times(3, () => two.read.acquire({ owner }))
    await w.pass(200)
    await releaseAll(w, [first])
    const reads = await w.run(Promise.all(reading))
    const writer = await w.run(writing)
    assert.deepEqual((await one.read.inspect()).holders.map(({ count, mode }) => `${mode} ${count}`).sort(), [
      'read 3',
      'write 1',
    ])
    await releaseAll(w, [...reads, writer])
  })

  scenario('who waits to write and is given the read → DeadlockError; a try is not had', async (w) => {
    const [one, two] = [await open(w), await open(w)]
    const owner = two.client.owner()
    const writer = await one.write.acquire()
    const reading = two.read.acquire({ owner })
    await w.eventually(async () => (await w.raw('EXISTS', lineOf(w))) === 1)
    const writing = rejection(two.write.acquire({ owner, wait: 60_000 }))
    await w.pass(200)
    await releaseAll(w, [writer])
    const read = await w.run(reading)
    const error = await w.run(writing)
    assert.ok(error instanceof DeadlockError, String(error))
    assert.equal(await two.write.tryAcquire({ owner }), undefined)
    await releaseAll(w, [read])
    await nobodyWaits(w)
  })

  scenario('what its owner reads under a write that was deleted → told, and asked for like any read', async (w) => {
    const { read, write } = await open(w)
    const writer = await write.acquire()
    await w.raw('DEL', w.id)
    await w.raw('HSET', w.id, 'mode', 'write', 'foreign:1:write', 1)
    await w.raw('PEXPIRE', w.id, 500)
    const { value, ms } = await timed(w, () => read.acquire({ owner: writer.owner }))
    lasted(w, ms, 400, 600)
    assert.equal(writer.state, 'lost')
    assert.ok(writer.signal.reason instanceof LockLostError)
    await releaseAll(w, [value])
  })

  scenario('a read whose lock was deleted → nothing of it is left', async (w) => {
    const { client, read } = await open(w, { watchdog: SHORT })
    const owner = client.owner()
    const renewed = [await read.acquire({ owner }), await read.acquire({ owner })]
    await w.raw('DEL', w.id)
    await w.eventually(() => renewed.every(({ lost }) => lost), SHORT)
    const left = async (): Promise<string[]> =>
      ((await w.raw('KEYS', '*')) as string[]).filter((key) => key.includes(w.id))
    await w.eventually(async () => (await left()).length === 0, w.virtual ? 300 : 2000)
    const given = await read.acquire()
    await w.raw('DEL', w.id)
    assert.equal(await w.run(given.release()), false)
    assert.deepEqual(await left(), [])
  })
}

for (const engine of engines) {
  void describe(`waiting for one of both sides on ${engine.name}`, { concurrency: engine.concurrency }, () => {
    const scenario = scenarios(engine)
    for (const part of [leaving, bothSides]) part(scenario)
  })
}
