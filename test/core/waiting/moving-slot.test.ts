import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AcquireTimeoutError, EngineError } from 'holdfast'
import { virtualClock } from 'holdfast/testing'
import { start } from '#src/client.js'
import { settle } from '#src/config/settings.js'
import { MemoryDriver } from '#src/engine/memory/driver.js'
import { MemoryServer } from '#src/engine/memory/server.js'
import { flightClaim, lockAcquire, rateLimiterTrySetRate, spinLockAcquire } from '#src/lua/scripts.gen.js'
import { rejection } from '../../suites/contract/lock/kind.js'
import { SwitchedDriver } from '../../support/switched-driver.js'

const MOVING = 'TRYAGAIN Multiple keys request during rehashing of slot'

const stage = async () => {
  const clock = virtualClock()
  const driver = new SwitchedDriver(new MemoryDriver(new MemoryServer(clock), undefined))
  const client = await start(settle({ url: 'memory:', clock, presence: false }, {}), driver)
  return { clock, driver, client }
}

/** Only these scripts meet a slot that is moving, until the returned function is called. */
const refuseOnly = (driver: SwitchedDriver, refused: readonly { readonly sha: string; readonly text: string }[]) => {
  const words = refused.flatMap(({ sha, text }) => [sha, text])
  const send = driver.send.bind(driver)
  driver.send = (argv, options) =>
    words.includes(String(argv[1])) ? Promise.reject(new Error(MOVING)) : send(argv, options)
  return () => void (driver.send = send)
}

const never = (): never => assert.fail('it works')

void test('a slot is moving when they begin → calls that wait go on when it has moved', async () => {
  const { clock, driver, client } = await stage()
  driver.refuses = MOVING
  const calls = Promise.all([
    client.flight('f').run('a', () => 'a'),
    client.flight('f').run('b', { wait: 20_000 }, () => 'b'),
    client.slots('s').run('c', { retry: 1 }, () => 'c'),
  ])
  calls.catch(() => undefined)
  await clock.advance(5000)
  driver.refuses = undefined
  await clock.advance(3000)
  const [one, other, slot] = await calls
  assert.deepEqual([one.value, other.value], ['a', 'b'])
  assert.ok(slot.outcome === 'ran' && slot.value === 'c')
  await client.close()
})

void test('it moves for longer than the call waits → AcquireTimeoutError in time, and why', async () => {
  const { clock, driver, client } = await stage()
  driver.refuses = MOVING
  let settled = false
  const late = rejection(client.flight('f').run('a', { wait: 2000 }, never)).finally(() => (settled = true))
  await clock.advance(1990)
  assert.equal(settled, false)
  await clock.advance(100)
  assert.equal(settled, true)
  const error = await late
  assert.ok(error instanceof AcquireTimeoutError, String(error))
  assert.ok(error.cause instanceof EngineError && error.cause.code === 'TRYAGAIN', String(error.cause))
  await client.close()
})

void test('it is moving, and the signal aborts → its reason, at once', async () => {
  const { clock, driver, client } = await stage()
  driver.refuses = MOVING
  const controller = new AbortController()
  const [flight, slot] = [
    rejection(client.flight('f').run('a', { signal: controller.signal }, never)),
    rejection(client.slots('s').run('a', { retry: 1, signal: controller.signal }, never)),
  ]
  await clock.advance(3000)
  const reason = new Error('enough')
  controller.abort(reason)
  await clock.advance(100)
  assert.deepEqual(await Promise.all([flight, slot]), [reason, reason])
  await client.close()
})

void test('it is moving → calls that do not wait reject at once', async () => {
  const { driver, client } = await stage()
  driver.refuses = MOVING
  await assert.rejects(client.flight('f').run('a', { wait: 0 }, never), { code: 'TRYAGAIN' })
  await assert.rejects(client.slots('s').run('a', never), { code: 'TRYAGAIN' })
  await client.close()
})

void test('the server is away when they begin → the call with a time limit waits for it, the one without rejects', async () => {
  const { clock, driver, client } = await stage()
  driver.up = false
  const waits = client.flight('f').run('a', { wait: 20_000 }, () => 'a')
  waits.catch(() => undefined)
  const rejects = rejection(client.flight('f').run('b', never))
  await clock.advance(4000)
  const error = await rejects
  assert.ok(error instanceof EngineError && error.code === 'OFFLINE', String(error))
  driver.up = true
  await clock.advance(3000)
  assert.equal((await waits).value, 'a')
  await client.close()
})

for (const [what, ...scripts] of [
  ['the lock', lockAcquire, spinLockAcquire],
  ['the key', flightClaim],
] as const)
  void test(`it is moving when a flight takes ${what} → calls that do not wait reject at once, also beside one that waits`, async () => {
    const { clock, driver, client } = await stage()
    const moved = refuseOnly(driver, scripts)
    const flight = client.flight('f')
    await assert.rejects(flight.run('a', { wait: 0 }, never), { code: 'TRYAGAIN' })
    const waits = flight.run('b', { wait: 60_000 }, () => 'b')
    waits.catch(() => undefined)
    await clock.advance(10)
    const error = await rejection(flight.run('b', { wait: 0 }, never))
    // While the flight claims the key, it has the lock.
    if (what === 'the key') assert.ok(error instanceof AcquireTimeoutError, String(error))
    else assert.ok(error instanceof EngineError && error.code === 'TRYAGAIN', String(error))
    await clock.advance(5000)
    moved()
    await clock.advance(3000)
    assert.equal((await waits).value, 'b')
    assert.equal((await flight.run('a', { wait: 0 }, () => 'a')).value, 'a')
    await client.close()
  })

void test('the slot moves just when a limiter’s rate is set → it is set when the slot has moved', async () => {
  const { clock, driver, client } = await stage()
  const moved = refuseOnly(driver, [rateLimiterTrySetRate])
  const rate = { permits: 5, interval: 1000 }
  await assert.rejects(client.rateLimiter('l').tryAcquire({ rate }), { code: 'TRYAGAIN' })
  const [waits, late] = [
    client.rateLimiter('l').tryAcquire({ rate, wait: 60_000 }),
    client.rateLimiter('l').tryAcquire({ rate, wait: 1000 }),
  ]
  waits.catch(() => undefined)
  await clock.advance(2000)
  assert.equal((await late).allowed, false)
  moved()
  await clock.advance(2000)
  assert.equal((await waits).allowed, true)
  await client.close()
})

void test('a limiter’s rate is set late → the rest of the wait is for the permits', async () => {
  const { clock, driver, client } = await stage()
  const moved = refuseOnly(driver, [rateLimiterTrySetRate])
  const limiter = client.rateLimiter('l')
  const options = { rate: { permits: 1, interval: 60_000 }, wait: 3000 }
  const calls = Promise.all([limiter.tryAcquire(options), limiter.tryAcquire(options)])
  let settled = false
  calls.then(
    () => (settled = true),
    () => undefined,
  )
  await clock.advance(2000)
  moved()
  await clock.advance(1200)
  assert.equal(settled, true)
  // Each of them retries after pauses of its own, so either may be the first.
  const answers = await calls
  const refused = answers.filter(({ allowed }) => !allowed)
  assert.equal(refused.length, 1)
  assert.ok(
    refused.every(({ retryAfter }) => retryAfter > 50_000),
    String(refused.map(({ retryAfter }) => retryAfter)),
  )
  await client.close()
})
