import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Clock, EngineError } from 'holdfast'
import { virtualClock } from 'holdfast/testing'
import { type TenureHost, Tenure } from '#src/core/hold/tenure.js'
import { ReleaseCallerLimit } from '#src/core/hold/release-caller-limit.js'
import { UnansweredReleases } from '#src/core/server/ask-again-after-release.js'
import { Watchdog } from '#src/core/hold/watchdog.js'
import { plainLock } from '#src/sync/lock/lock.js'
import { momentOf } from '#src/base/clock.js'

const LEASE = 30_000
/** What one turn of the event loop may send at most. */
const MOST = 2000

/** How many holds the watchdog asks for in each turn that it is woken, with a server that agrees, unless a `refused` key is among them: then with this code. */
const watching = (
  clock: ReturnType<typeof virtualClock>,
  refused?: string,
  code: 'NOPERM' | 'BAD_REPLY' = 'NOPERM',
) => {
  const turns: { at: number; asked: number; requests: number }[] = []
  const counting: Clock = {
    ...{ now: () => clock.now(), monotonic: () => clock.monotonic(), random: () => clock.random() },
    randomBytes: (count) => clock.randomBytes(count),
    setTimer: (callback, ms) =>
      clock.setTimer(() => {
        turns.push({ at: clock.monotonic(), asked: 0, requests: 0 })
        callback()
      }, ms),
  }
  const runner = {
    publishCommand: 'PUBLISH',
    countsAll: true,
    mayBeCounted: () => false,
    fleet: { redisson: '4', fairWaiterTimeout: 300_000, watchdog: LEASE } as const,
    take: (): never => assert.fail('it takes nothing'),
    run: (_script: unknown, keys: readonly string[]) => {
      const turn = turns.at(-1)!
      turn.asked += keys.length
      turn.requests += 1
      if (keys.some((key) => key === refused)) return Promise.reject(new EngineError(code, 'not this key'))
      return Promise.resolve(keys.map(() => LEASE)) as Promise<never>
    },
  }
  let renewed = 0
  const watchdog = new Watchdog({ clock: counting, runner, cluster: false, lease: LEASE, isUp: () => true })
  const hold = (name: string): Tenure => {
    const refuse = (): never => assert.fail('it is neither lost nor in doubt, and nobody gives it back')
    const mayFail = name === refused ? () => undefined : refuse
    const runtime: TenureHost['runtime'] = {
      options: { clock: counting },
      unanswered: new UnansweredReleases(
        (step) => step,
        (error) => assert.fail(String(error)),
      ),
      writes: true,
      releases: new ReleaseCallerLimit(counting, LEASE),
      watchdog: { moved: () => undefined, leftOf: refuse },
      lockEvents: {
        lost: mayFail,
        doubted: mayFail,
        renewed: () => (renewed += 1),
      },
      retry: { insist: refuse },
      untilClosed: refuse,
    }
    const keeper: TenureHost = {
      ...{ name, kind: plainLock, runtime, protocol: plainLock.protocol(runner, name) },
      ...{ lost: mayFail, giveBack: refuse, ticketOf: refuse, detach: refuse, carries: refuse },
    }
    const tenure = new Tenure(keeper, `owner:${name}`, { lease: LEASE, watched: true }, momentOf(clock))
    watchdog.add(tenure)
    return tenure
  }
  return { turns, watchdog, hold, renewed: () => renewed }
}

void test('25,000 holds due at the same moment → a bounded number in each turn, and all renewed in time', async () => {
  const clock = virtualClock(1)
  const { turns, watchdog, hold, renewed } = watching(clock)
  const tenures = Array.from({ length: 25_000 }, (_, i) => hold(`name:${i}`))
  await clock.advance(LEASE / 3 + LEASE / 30)
  assert.equal(renewed(), tenures.length)
  assert.ok(Math.max(...turns.map(({ asked }) => asked)) <= MOST)
  assert.equal(Math.max(...turns.map(({ requests }) => requests)), 8, 'in full batches')
  await clock.advance(2 * LEASE)
  assert.ok(tenures.every((tenure) => tenure.status() === 'held'))
  assert.ok(Math.max(...turns.map(({ asked }) => asked)) <= MOST)
  assert.ok(renewed() >= 6 * tenures.length, `${renewed()} renewals`)
  void watchdog.stop()
})

void test('one key that the server refuses → all others are renewed', async () => {
  const clock = virtualClock(2)
  const { watchdog, hold, renewed } = watching(clock, 'name:7')
  const tenures = Array.from({ length: 20 }, (_, i) => hold(`name:${i}`))
  await clock.advance(LEASE / 3 + LEASE / 30)
  assert.equal(renewed(), tenures.length - 1)
  assert.deepEqual(
    tenures.filter((tenure) => tenure.status() !== 'held').map(({ name }) => name),
    ['name:7'],
  )
  void watchdog.stop()
})

void test('one key among 250 that makes the answer strange → it alone is in doubt, after three rounds of few calls', async () => {
  const clock = virtualClock(3)
  const { turns, watchdog, hold, renewed } = watching(clock, 'name:77', 'BAD_REPLY')
  const tenures = Array.from({ length: 250 }, (_, i) => hold(`name:${i}`))
  await clock.advance(LEASE / 3 + LEASE / 30)
  assert.equal(renewed(), tenures.length - 1)
  const calls = turns.reduce((sum, { requests }) => sum + requests, 0)
  assert.ok(calls <= 33 + 8, `${calls} calls`)
  for (let third = 0; third < 6; third++) {
    await clock.advance(LEASE / 3)
    const others = tenures.filter((tenure) => tenure.status() !== 'held').map(({ name }) => name)
    assert.deepEqual(others, ['name:77'])
  }
  assert.ok(
    Math.max(...turns.slice(-30).map(({ asked }) => asked)) >= tenures.length - 1,
    'the others go together again',
  )
  void watchdog.stop()
})
