import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AcquireTimeoutError, connect, LockLostError } from 'holdfast'
import { virtualClock } from 'holdfast/testing'
import { rejection, times } from '../suites/contract/lock/kind.js'
import { seeded } from '../support/random.js'

const HOUR = 3_600_000

void test('an hour of a renewed hold under a virtual clock → held all the time, in milliseconds of real time', async () => {
  const clock = virtualClock(1)
  const began = performance.now()
  await using client = await connect({ url: 'memory:hour', clock })
  await using other = await connect({ url: 'memory:hour', clock })
  const hold = await client.lock('orders').acquire()
  const start = clock.now()
  for (let minute = 0; minute < 60; minute += 1) {
    await clock.advance(60_000)
    assert.equal(hold.state, 'held')
    assert.ok(hold.remaining() > 0)
  }
  assert.equal(clock.now() - start, HOUR)
  assert.equal(await hold.release(), true)
  assert.equal(await other.lock('orders').isLocked(), false)
  assert.ok(performance.now() - began < 20_000)
})

void test('what has nothing to wait for → resolves without advancing the clock', async () => {
  const clock = virtualClock()
  const start = clock.now()
  const client = await connect({ url: 'memory:', clock })
  const lock = client.lock('free')
  const hold = await lock.acquire()
  assert.equal(await lock.isLocked(), true)
  assert.equal(await lock.tryAcquire(), undefined)
  assert.equal(await hold.release(), true)
  assert.equal(await lock.using(() => 7), 7)
  await client.close()
  assert.equal(clock.now(), start)
})

void test('a free lock that was contended a moment ago → had without advancing the clock', async () => {
  const clock = virtualClock()
  await using one = await connect({ url: 'memory:contended', clock })
  await using two = await connect({ url: 'memory:contended', clock })
  const hold = await one.lock('a').acquire()
  const next = two.lock('a').acquire()
  await clock.advance(100)
  assert.equal(await hold.release(), true)
  await clock.advance(0)
  assert.equal(await (await next).release(), true)
  let had = false
  const again = one
    .lock('a')
    .acquire()
    .finally(() => (had = true))
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
  const atOnce = had
  await clock.advance(1000)
  assert.equal(await (await again).release(), true)
  assert.equal(atOnce, true)
})

void test('a fixed lease → lost exactly on time, the signal before the expiry, free at the expiry', async () => {
  const clock = virtualClock(2)
  await using client = await connect({ url: 'memory:exact', clock })
  await using other = await connect({ url: 'memory:exact', clock })
  for (const lease of [1000, 10_000, 60_000, HOUR]) {
    const name = `lease:${lease}`
    const taken = clock.now()
    const margin = Math.min(lease / 20, 500)
    const hold = await client.lock(name).acquire({ lease })
    let told = NaN
    hold.signal.addEventListener('abort', () => (told = clock.now()))
    await clock.advance(lease - margin - 2)
    assert.equal(hold.state, 'held')
    assert.equal(hold.signal.aborted, false)
    assert.equal(await other.lock(name).tryAcquire(), undefined)
    await clock.advance(3)
    assert.equal(hold.state, 'lost')
    assert.equal(hold.remaining(), 0)
    assert.ok(hold.signal.reason instanceof LockLostError)
    assert.ok(told - taken >= lease - margin - 1 && told - taken < lease, `told after ${told - taken}`)
    await clock.advance(margin)
    const next = await other.lock(name).tryAcquire()
    assert.equal(next?.state, 'held')
    assert.equal(await next.release(), true)
  }
})

void test('a waiter with a limit of an hour → rejected on the millisecond', async () => {
  const clock = virtualClock(3)
  await using client = await connect({ url: 'memory:limit', clock })
  const hold = await client.lock('a').acquire()
  const start = clock.now()
  let ended = NaN
  const waiting = client.lock('a').acquire({ wait: HOUR })
  const failing = rejection(waiting).finally(() => (ended = clock.now()))
  await clock.advance(HOUR - 1)
  assert.ok(Number.isNaN(ended))
  await clock.advance(2)
  assert.ok((await failing) instanceof AcquireTimeoutError)
  assert.equal(ended - start, HOUR)
  assert.equal(hold.state, 'held')
})

void test('a waiter for a dead client’s lock → in when the lease has run out, to the poll', async () => {
  const clock = virtualClock(4)
  const dead = await connect({ url: 'memory:dead', clock })
  await using client = await connect({ url: 'memory:dead', clock })
  await dead.lock('a').acquire()
  const start = clock.now()
  await dead.close({ release: false })
  let had = NaN
  const waiting = client
    .lock('a')
    .acquire()
    .finally(() => (had = clock.now() - start))
  await clock.advance(29_999)
  assert.ok(Number.isNaN(had))
  await clock.advance(2000)
  const hold = await waiting
  assert.ok(had >= 30_000 && had <= 31_500, String(had))
  await clock.advance(1000)
  assert.equal(hold.state, 'held')
})

void test('the wall clock jumps past the deadline (a suspended machine) → lost at once when asked, told in the next turn', async () => {
  const clock = virtualClock(5)
  await using client = await connect({ url: 'memory:', clock })
  const [renewed, fixed, long] = [
    await client.lock('renewed').acquire(),
    await client.lock('fixed').acquire({ lease: 10_000 }),
    await client.lock('long').acquire({ lease: 10 * HOUR }),
  ]
  clock.stepWall(60_000)
  assert.equal(renewed.state, 'lost')
  assert.equal(fixed.state, 'lost')
  assert.equal(renewed.remaining() + fixed.remaining(), 0)
  assert.notEqual(long.state, 'lost')
  assert.ok(long.remaining() <= 10 * HOUR - 60_000)
  await clock.advance(30_000)
  assert.equal(renewed.signal.aborted, true)
  assert.equal(fixed.signal.aborted, true)
  assert.equal(long.state, 'held')
  assert.equal(await renewed.release(), false)
})

void test('the wall clock jumps by seconds, forth and back → no hold is lost, no wait ends early or late', async () => {
  const clock = virtualClock(6)
  await using client = await connect({ url: 'memory:', clock })
  const hold = await client.lock('a').acquire()
  const start = clock.now()
  let ended = NaN
  const waiting = rejection(client.lock('a').acquire({ wait: 20_000 })).finally(() => (ended = clock.now() - start))
  for (const ms of [5000, -5000, -3000, 3000, 8000, -8000]) {
    clock.stepWall(ms)
    await clock.advance(3000)
    assert.equal(hold.lost, false)
  }
  assert.ok(Number.isNaN(ended))
  await clock.advance(3000)
  assert.ok((await waiting) instanceof AcquireTimeoutError)
  assert.equal(ended, 20_000)
  assert.equal(hold.state, 'held')
  assert.equal(hold.signal.aborted, false)
})

void test('the wall clock jumps back an hour → leases last no longer than they should', async () => {
  const clock = virtualClock(7)
  await using client = await connect({ url: 'memory:', clock })
  const hold = await client.lock('a').acquire({ lease: 10_000 })
  clock.stepWall(-HOUR)
  assert.ok(hold.remaining() <= 10_000)
  await clock.advance(9000)
  assert.ok(hold.remaining() <= 1000)
  await clock.advance(1000)
  assert.equal(hold.state, 'lost')
  assert.equal(hold.signal.aborted, true)
})

let histories = 0

const history = async (seed: number): Promise<string[]> => {
  const clock = virtualClock(seed)
  const random = seeded(seed)
  const events: string[] = []
  histories += 1
  const clients = await Promise.all(times(3, () => connect({ url: `memory:history-${histories}`, clock })))
  const note = (text: string): void => void events.push(`${clock.now()} ${text}`)
  const pause = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      clock.setTimer(resolve, ms)
    })
  const task = async (index: number): Promise<void> => {
    const client = clients[index % clients.length]
    assert.ok(client !== undefined)
    const lock = client.lock(`lock:${index % 2}`)
    for (let round = 0; round < 6; round += 1) {
      await pause(Math.floor(random() * 400))
      const controller = new AbortController()
      if (random() < 0.2) void pause(Math.floor(random() * 300)).then(() => controller.abort('left'))
      try {
        const options = random() < 0.3 ? { lease: 150 } : {}
        const hold = await lock.acquire({ signal: controller.signal, wait: 5000, ...options })
        note(`${index} has ${lock.name} as ${hold.owner.label ?? ''}${client.id}`)
        await pause(Math.floor(random() * 300))
        note(`${index} ${String(await hold.release())} ${hold.state}`)
      } catch (error) {
        note(`${index} ${error instanceof Error ? error.name : String(error)}`)
      }
    }
  }
  let done = false
  const all = Promise.all(times(9, task)).finally(() => (done = true))
  while (!done) await clock.advance(100)
  await all
  await Promise.all(clients.map((client) => client.close()))
  return events
}

void test('the same seed → the same events at the same times, twice; another seed → others', async () => {
  const first = await history(11)
  const second = await history(11)
  assert.ok(first.length > 60, `${first.length} events`)
  assert.deepEqual(first, second)
  assert.notDeepEqual(first, await history(12))
})
