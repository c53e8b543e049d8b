import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Client, SpinBackoff } from 'holdfast'
import { connect } from 'holdfast'
import { isBadArgument, lasted, rejection, timed, times, watch } from '../../suites/contract/lock/kind.js'
import { engines, scenarios } from '../../support/engines.js'
import { backoffOf } from '#src/sync/spin-lock/backoff.js'

const pauses = (options: SpinBackoff | undefined, count: number, random: number): number[] => {
  const backoff = backoffOf(options)
  return times(count, (refusals) => backoff(refusals, () => random))
}

void test('SPO1: initial 10, max 100, multiplier 3 → 10, 30–31, 90–92, 100, 100: never above max', () => {
  const options = { initial: 10, max: 100, multiplier: 3 }
  assert.deepEqual(pauses(options, 5, 0), [10, 30, 90, 100, 100])
  assert.deepEqual(pauses(options, 5, 0.999), [10, 31, 92, 100, 100])
})

void test('SPO2: delay 30 → exactly 30 ten times', () => {
  assert.deepEqual(
    pauses({ delay: 30 }, 10, 0.999),
    times(10, () => 30),
  )
})

void test('none given → Redisson’s: 1, 2, 4 … 128, and bounded however long it takes', () => {
  assert.deepEqual(pauses(undefined, 9, 0), [1, 2, 4, 8, 16, 32, 64, 128, 128])
  assert.deepEqual(
    [1000, 1e6].map((refusals) => backoffOf(undefined)(refusals, () => 0.999)),
    [128, 128],
  )
})

void test('a backoff that is none → named, before anything is sent', async () => {
  const client: Client = await connect('memory:')
  for (const value of [0, -1, NaN, Infinity, '5', null]) {
    for (const part of ['delay', 'initial', 'max', 'multiplier']) {
      const backoff = { [part]: value } as unknown as SpinBackoff
      assert.throws(
        () => client.spinLock('x', { backoff }),
        (error) => isBadArgument(error, `backoff.${part}`, value),
      )
    }
  }
  for (const backoff of [1, 'slow', null]) {
    assert.throws(
      () => client.spinLock('x', { backoff: backoff as unknown as SpinBackoff }),
      (error) => isBadArgument(error, 'backoff', backoff),
    )
  }
  await client.close()
})

for (const engine of engines) {
  void describe(`back-off of a spin lock on ${engine.name}`, { concurrency: engine.concurrency }, () => {
    const scenario = scenarios(engine, {}, 150)

    scenario('SP03: aborted in the middle of a long pause → at once', async (w) => {
      const [one, two] = [await w.connect(), await w.connect()]
      const hold = await one.spinLock(w.id).acquire()
      const controller = new AbortController()
      const waiting = rejection(
        two.spinLock(w.id, { backoff: { delay: 3_600_000 } }).acquire({ signal: controller.signal }),
      )
      await w.pass(100)
      controller.abort(new Error('enough'))
      const { value, ms } = await timed(w, () => waiting)
      assert.equal((value as Error).message, 'enough')
      lasted(w, ms, 0, 50)
      assert.equal(await hold.release(), true)
    })

    scenario('SP19 SP20: another’s, then given back → had within the longest pause', async (w) => {
      const [one, two] = [await w.connect(), await w.connect()]
      for (const options of [{}, { wait: 60_000, lease: 30_000 }]) {
        const hold = await one.spinLock(w.id).acquire()
        const waiting = watch(two.spinLock(w.id).acquire(options))
        await w.pass(500)
        assert.equal(waiting.settled, false)
        const { value, ms } = await timed(w, () => hold.release().then(() => waiting.promise))
        lasted(w, ms, 0, 50)
        assert.equal(value.state, 'held')
        assert.equal(await two.spinLock(w.id).forceRelease(), true)
        assert.equal(await w.run(value.release()), false)
      }
    })

    scenario('SP21 SP22: another’s all the while → not had: at once, and after the wait', async (w) => {
      const [one, two] = [await w.connect(), await w.connect()]
      const hold = await one.spinLock(w.id).acquire()
      for (const wait of [0, 500]) {
        const { value, ms } = await timed(w, () => two.spinLock(w.id).tryAcquire({ wait, lease: 30_000 }))
        assert.equal(value, undefined)
        lasted(w, ms, wait, wait + 20)
      }
      assert.equal(await hold.release(), true)
    })

    scenario('SP23: a try where it is free → had', async (w) => {
      const client = await w.connect()
      const hold = await client.spinLock(w.id).tryAcquire()
      assert.equal(hold?.state, 'held')
      assert.equal(await hold.release(), true)
    })

    scenario('a wait that ends in the middle of a pause → not had, in time', async (w) => {
      const [one, two] = [await w.connect(), await w.connect()]
      const hold = await one.spinLock(w.id).acquire()
      const lock = two.spinLock(w.id, { backoff: { delay: 3_600_000 } })
      const { value, ms } = await timed(w, () => lock.tryAcquire({ wait: 200 }))
      assert.equal(value, undefined)
      lasted(w, ms, 200)
      assert.equal(await hold.release(), true)
    })

    scenario('one client’s waiters never leave it free for long → another client has its turns too', async (w) => {
      const [one, two] = [await w.connect(), await w.connect()]
      let turns = 0
      let over = false
      const crowd = times(4, async () => {
        while (!over) await one.spinLock(w.id).using(() => w.pause(20))
      })
      const other = async (): Promise<void> => {
        for (; turns < 5; turns++) await two.spinLock(w.id).using(() => undefined)
        over = true
      }
      const { ms } = await timed(w, () => Promise.all([other(), ...crowd]))
      assert.ok(ms < 15_000, `5 turns took ${ms} ms`)
    })
  })
}
