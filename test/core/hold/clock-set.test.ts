import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { test } from 'node:test'
import { type Hold, LockLostError } from 'holdfast'
import { virtualClock } from 'holdfast/testing'
import type { Clock } from '#src/base/clock.js'
import { start } from '#src/client.js'
import { settle } from '#src/config/settings.js'
import { MemoryDriver } from '#src/engine/memory/driver.js'
import { MemoryServer } from '#src/engine/memory/server.js'
import { rejection, watch } from '../../suites/contract/lock/kind.js'

/** `one` has a wall clock that can be set; the server and `two` have not. The lease is 30 s. */
const scene = async () => {
  const clock = virtualClock()
  const server = new MemoryServer(clock)
  let off = 0
  const mine: Clock = {
    now: () => clock.now() + off,
    monotonic: () => clock.monotonic(),
    setTimer: (callback, ms) => clock.setTimer(callback, ms),
    random: () => clock.random(),
    randomBytes: (count) => clock.randomBytes(count),
  }
  const open = (by: Clock) =>
    start(settle({ url: 'memory:', clock: by, presence: false }, {}), new MemoryDriver(server, undefined))
  const [one, two] = [await open(mine), await open(clock)]
  const sleep = (ms: number) => new Promise<void>((resolve) => void clock.setTimer(resolve, ms))
  const run = async <T>(promise: Promise<T>): Promise<T> => {
    const seen = watch(promise)
    while (!seen.settled) await clock.advance(10)
    return promise
  }
  const close = async (): Promise<void> => {
    const closing = Promise.all([one.close(), two.close()])
    await clock.advance(5000)
    await closing
  }
  return { clock, one, two, sleep, run, close, set: (ms: number) => void (off += ms) }
}
const aborted = ({ signal }: { readonly signal: AbortSignal }) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })

for (const kind of ['lock', 'fairLock', 'fencedLock', 'spinLock'] as const)
  void test(`${kind}: this machine’s clock is set on past the lease → nobody is let in while the work stops`, async () => {
    const { clock, one, two, sleep, run, close, set } = await scene()
    let stopped = false
    const failed = rejection(
      one[kind]('a').using(async (hold) => {
        await aborted(hold)
        await sleep(5000)
        stopped = true
      }),
    )
    await clock.advance(1000)
    const there = watch(
      two[kind]('a')
        .acquire()
        .then((hold) => {
          assert.ok(stopped)
          return hold
        }),
    )
    await clock.advance(100)
    set(60_000)
    await clock.advance(5000)
    assert.equal(there.settled, false)
    await clock.advance(4000)
    assert.ok(there.settled)
    assert.ok((await failed) instanceof LockLostError)
    await run((await there.promise).release())
    await close()
  })

void test('a waiter of the same process → waits as well, and is in once the hold is released', async () => {
  const { clock, one, run, close, set } = await scene()
  const hold = await run(one.lock('a').acquire())
  const here = watch(one.lock('a').acquire())
  await clock.advance(100)
  set(60_000)
  assert.equal(hold.state, 'lost')
  await clock.advance(5000)
  assert.equal(here.settled, false)
  assert.equal(await hold.release(), false)
  await clock.advance(1500)
  assert.ok(here.settled)
  await close()
})

void test('nobody releases it → the next is in when the lease is over by the other clock', async () => {
  const { clock, one, two, run, close, set } = await scene()
  await run(one.lock('a').acquire())
  await clock.advance(1000)
  set(60_000)
  const there = watch(two.lock('a').acquire())
  await clock.advance(28_500)
  assert.equal(there.settled, false)
  await clock.advance(2500)
  assert.ok(there.settled)
  await close()
})

void test('a fixed lease, the clock set on by less than is left of it → its early end lets nobody in beside it', async () => {
  const { clock, one, two, run, close, set } = await scene()
  const hold = await run(one.lock('a').acquire({ lease: 30_000 }))
  await clock.advance(1000)
  const there = watch(two.lock('a').acquire())
  set(25_000)
  await clock.advance(9000)
  assert.equal(hold.state, 'lost')
  assert.equal(there.settled, false)
  await hold.release()
  await clock.advance(1500)
  assert.ok(there.settled)
  await close()
})

void test('two levels → freed when both are released', async () => {
  const { clock, one, two, run, close, set } = await scene()
  const owner = one.owner()
  const outer = await run(one.lock('a').acquire({ owner }))
  const inner = await run(one.lock('a').acquire({ owner }))
  set(60_000)
  await clock.advance(2000)
  const there = watch(two.lock('a').acquire())
  await inner.release()
  await clock.advance(3000)
  assert.equal(there.settled, false)
  await outer.release()
  await clock.advance(1500)
  assert.ok(there.settled)
  await close()
})

void test('released within the margin → freed after the margin, not a lease later', async () => {
  const { clock, one, two, run, close, set } = await scene()
  const hold = await run(one.lock('a').acquire())
  set(60_000)
  assert.equal(await hold.release(), false)
  await clock.advance(600)
  assert.ok((await run(two.lock('a').tryAcquire())) !== undefined)
  await close()
})

void test('the clock is set between the grant and the work → `using` rejects and keeps nothing', async () => {
  const { clock, one, two, run, close, set } = await scene()
  const jump = () => set(60_000)
  subscribe('holdfast:grant', jump)
  const failed = rejection(one.lock('a').using(() => assert.fail()))
  await clock.advance(10)
  unsubscribe('holdfast:grant', jump)
  assert.ok((await run(failed)) instanceof LockLostError)
  await clock.advance(1000)
  assert.ok((await run(two.lock('a').tryAcquire())) !== undefined)
  await close()
})

void test('close → frees it at once', async () => {
  const { clock, one, two, run, set } = await scene()
  await run(one.lock('a').acquire())
  set(60_000)
  await clock.advance(2000)
  assert.equal(await run(two.lock('a').tryAcquire()), undefined)
  await run(one.close())
  assert.ok((await run(two.lock('a').tryAcquire())) !== undefined)
  await run(two.close())
})

void test('an election → the next leads when the old work has settled', async () => {
  const { clock, one, two, sleep, run, close, set } = await scene()
  let working = 0
  let terms = 0
  const end = new AbortController()
  const work = async (term: { readonly signal: AbortSignal }) => {
    terms++
    assert.equal(++working, 1)
    await aborted(term)
    await sleep(5000)
    working--
  }
  const led = [one, two].map((client) => client.election('e').lead({ signal: end.signal }, work))
  await clock.advance(1000)
  set(60_000)
  await clock.advance(20_000)
  assert.ok(terms > 1)
  end.abort()
  await run(Promise.all(led))
  await close()
})

void test('a permit, and the members of a multi-lock → the same', async () => {
  const { clock, one, two, run, close, set } = await scene()
  await run(one.permitSemaphore('p').trySetPermits(1))
  const holds: Pick<Hold, 'release'>[] = [
    await run(one.permitSemaphore('p').acquire({ renew: true })),
    await run(one.multiLock(one.lock('a'), one.lock('b')).acquire()),
  ]
  set(60_000)
  await clock.advance(5000)
  const there = [watch<unknown>(two.permitSemaphore('p').acquire()), watch<unknown>(two.lock('a').acquire())]
  const settled = (): boolean[] => there.map((one) => one.settled)
  await clock.advance(2000)
  assert.deepEqual(settled(), [false, false])
  for (const hold of holds) void hold.release()
  await clock.advance(1500)
  assert.deepEqual(settled(), [true, true])
  await close()
})
