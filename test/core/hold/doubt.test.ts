import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Client, Hold, Permit } from 'holdfast'
import { connect } from 'holdfast'
import { virtualClock } from 'holdfast/testing'
import { start } from '#src/client.js'
import { settle } from '#src/config/settings.js'
import { MemoryDriver } from '#src/engine/memory/driver.js'
import { MemoryServer } from '#src/engine/memory/server.js'
import { SwitchedDriver } from '../../support/switched-driver.js'

const WATCHDOG = 30_000
const LEASE = 60_000

const stage = async () => {
  const clock = virtualClock()
  const server = new MemoryServer(clock)
  const driver = new SwitchedDriver(new MemoryDriver(server, undefined))
  const other = new MemoryDriver(server, undefined)
  const client = await start(settle({ url: 'memory:', clock, watchdog: WATCHDOG, presence: false }, {}), driver)
  const second = await start(settle({ url: 'memory:', clock, watchdog: WATCHDOG, presence: false }, {}), other)
  const raw = (...words: string[]): Promise<unknown> => other.send(words)
  const run = async <T>(promise: Promise<T>): Promise<T> => {
    let over = false
    const done = (): void => void (over = true)
    promise.then(done, done)
    for (let step = 0; !over && step < 10_000; step++) await clock.advance(1)
    return promise
  }
  return { clock, driver, client, second, raw, run }
}

type Held = Pick<Hold, 'state' | 'remaining'> | Permit

/** One of each kind, renewed and with a lease of its own. */
const holdAll = async (client: Client): Promise<Record<string, Held>> => {
  const held: Record<string, Held> = {}
  for (const lease of [undefined, LEASE]) {
    const how = lease === undefined ? 'renewed' : 'fixed'
    const options = { lease, wait: 1000 }
    const rw = client.readWriteLock(`rw ${how}`)
    const fair = client.readWriteLock(`frw ${how}`, { fair: true })
    const permits = client.permitSemaphore(`permits ${how}`)
    await permits.trySetPermits(3)
    const all = {
      lock: client.lock(`lock ${how}`),
      fairLock: client.fairLock(`fair ${how}`),
      fencedLock: client.fencedLock(`fenced ${how}`),
      spinLock: client.spinLock(`spin ${how}`),
      read: rw.read,
      write: client.readWriteLock(`write ${how}`).write,
      'fair read': fair.read,
      'fair write': client.readWriteLock(`fwrite ${how}`, { fair: true }).write,
      keyedLock: client.keyedLock(`keyed ${how}`, ['a', 'b']),
      multiLock: client.multiLock(client.lock(`one ${how}`), client.fairLock(`two ${how}`)),
    }
    for (const [kind, lock] of Object.entries(all)) held[`${kind}, ${how}`] = await lock.acquire(options)
    held[`permit, ${how}`] = await permits.acquire(lease === undefined ? { renew: true } : { lease })
    if (lease === undefined) held['permit that never expires'] = await permits.acquire()
  }
  return held
}

const statesOf = (held: Record<string, Held>): Record<string, string> =>
  Object.fromEntries(Object.entries(held).map(([what, hold]) => [what, hold.state]))

const all = (held: Record<string, Held>, state: string): Record<string, string> =>
  Object.fromEntries(Object.keys(held).map((what) => [what, state]))

void describe('what a hold may believe', () => {
  void test('after a reconnect → every hold is in doubt until the server has said so of it, at once', async () => {
    const { clock, driver, client, run } = await stage()
    const held = await run(holdAll(client))
    await clock.advance(100)
    assert.deepEqual(statesOf(held), all(held, 'held'))
    driver.up = false
    driver.up = true
    assert.deepEqual(statesOf(held), all(held, 'uncertain'))
    await clock.advance(5)
    assert.deepEqual(statesOf(held), all(held, 'held'))
    await run(client.close())
  })

  void test('the server after a reconnect has none of the keys → every hold is lost at once', async () => {
    const { clock, driver, client, raw, run } = await stage()
    const held = await run(holdAll(client))
    driver.up = false
    await raw('FLUSHALL')
    driver.up = true
    assert.deepEqual(statesOf(held), all(held, 'uncertain'))
    await clock.advance(5)
    assert.deepEqual(statesOf(held), all(held, 'lost'))
    await run(client.close())
  })

  void test('another program set all expiries far away → no hold is believed for longer than it was asked for', async () => {
    const { clock, client, raw, run } = await stage()
    const held = await run(holdAll(client))
    const far = String(9_000_000_000_000_000)
    for (const key of (await raw('KEYS', '*')) as string[]) await raw('PEXPIREAT', key, far)
    await clock.advance(WATCHDOG)
    assert.deepEqual(statesOf(held), all(held, 'held'))
    for (const [what, hold] of Object.entries(held)) {
      const most = what === 'permit that never expires' ? Infinity : LEASE
      assert.ok(hold.remaining() <= most, `${what}: ${hold.remaining()} ms`)
    }
    await run(client.close())
  })

  void test('5000 holds of either kind after a reconnect → asked about in batches', async () => {
    const { clock, driver, client, run } = await stage()
    const holds: Hold[] = []
    for (let i = 0; i < 5000; i++) holds.push(await client.lock(`a${i}`).acquire(i % 2 === 0 ? {} : { lease: LEASE }))
    driver.up = false
    driver.sent.length = 0
    driver.up = true
    await clock.advance(50)
    assert.ok(holds.every(({ state }) => state === 'held'))
    assert.ok(driver.sent.length <= 5000 / 250 + 20, `${driver.sent.length} requests`)
    await run(client.close())
  })

  void test('a connection that is replaced → nothing goes from hand to hand until the server has confirmed', async () => {
    const { clock, driver, client, raw, run } = await stage()
    const lock = client.lock('pass')
    const first = await lock.acquire()
    const next = lock.acquire()
    driver.up = false
    await raw('DEL', 'pass')
    await raw('HSET', 'pass', 'another', '1')
    driver.up = true
    assert.equal(await run(first.release()), false)
    let had = false
    void next.then(() => (had = true))
    await clock.advance(500)
    assert.equal(had, false)
    await raw('DEL', 'pass')
    await run(next)
    await run(client.close())
  })

  void test('a hold with a lease of its own is released by force → told within a third of its lease', async () => {
    const { clock, client, raw, run } = await stage()
    const held = await run(holdAll(client))
    await clock.advance(1000)
    await raw('FLUSHALL')
    await clock.advance(WATCHDOG + 1000)
    assert.deepEqual(statesOf(held), all(held, 'lost'))
    await run(client.close())
  })

  void test('1000 holds with short leases of their own → asked about in batches, each about once in a third', async () => {
    const { clock, driver, client, run } = await stage()
    const lease = 3000
    const holds: Hold[] = []
    for (let i = 0; i < 1000; i++) {
      holds.push(await client.lock(`a${i}`).acquire({ lease }))
      await clock.advance(0.5)
    }
    driver.sent.length = 0
    await clock.advance(lease / 2)
    const asked = driver.sent.filter(([name]) => name === 'EVALSHA')
    const about = asked.reduce((sum, [, , keys]) => sum + Number(keys), 0)
    assert.ok(holds.every(({ state }) => state === 'held'))
    assert.ok(about <= 2000, `${about} questions`)
    assert.ok(asked.length <= 60, `${asked.length} requests`)
    await run(client.close())
  })
})

void describe('a hold that was released by force and goes from hand to hand', () => {
  for (const kind of ['lock', 'write', 'keyedLock', 'nonReentrantLock'] as const) {
    void test(`${kind}: passed on after a release by force → release() resolves with true, and the next holder loses it when its turn is over`, async () => {
      const clock = virtualClock()
      const [one, two] = [
        await connect({ url: `memory:${kind}`, clock }),
        await connect({ url: `memory:${kind}`, clock }),
      ]
      const lockOf = (client: Client) =>
        kind === 'write'
          ? client.readWriteLock('a').write
          : kind === 'keyedLock'
            ? client.keyedLock('a', ['x'])
            : client[kind]('a')
      const first = await lockOf(one).acquire()
      await clock.advance(10)
      assert.equal(await lockOf(two).forceRelease(), true)
      const theirs = await lockOf(two).acquire()
      const next = lockOf(one).acquire()
      // It handed the lock over, and asked nobody: docs/guide.md, Trust.
      assert.equal(await first.release(), true)
      await clock.advance(0)
      const beside = await next
      await clock.advance(58)
      assert.equal(theirs.state, 'held')
      assert.equal(beside.state, 'lost')
      assert.equal(await beside.release(), false)
      for (const client of [one, two]) await client.close()
    })
  }

  for (const kind of ['fairLock', 'nonReentrantFairLock', 'fencedLock', 'read', 'fair write'] as const) {
    void test(`${kind}: never passed on without the server → the next caller waits until the other holder has gone`, async () => {
      const clock = virtualClock()
      const [one, two] = [
        await connect({ url: `memory:no trust ${kind}`, clock }),
        await connect({ url: `memory:no trust ${kind}`, clock }),
      ]
      const lockOf = (client: Client) =>
        kind === 'read'
          ? client.readWriteLock('a').read
          : kind === 'fair write'
            ? client.readWriteLock('a', { fair: true }).write
            : client[kind]('a')
      const first = await lockOf(one).acquire()
      await clock.advance(10)
      assert.equal(await lockOf(two).forceRelease(), true)
      const theirs = await (kind === 'read' ? two.readWriteLock('a').write : lockOf(two)).acquire()
      let granted = false
      const next = lockOf(one).acquire()
      void next.then(() => (granted = true))
      assert.equal(await first.release(), false)
      await clock.advance(100)
      assert.equal(granted, false)
      assert.equal(theirs.state, 'held')
      await theirs.release()
      await clock.advance(2000)
      assert.equal((await next).state, 'held')
      for (const client of [one, two]) await client.close()
    })
  }

  void test('many hands in one turn → one question, when it is over', async () => {
    const { clock, driver, client, run } = await stage()
    const lock = client.lock('turns')
    driver.sent.length = 0
    const work = async (): Promise<void> => {
      await lock.using(() => new Promise<void>((resolve) => void clock.setTimer(resolve, 1)))
    }
    await run(Promise.all(Array.from({ length: 200 }, work)))
    // 200 ms: four turns and a bit, each taken, freed, and asked about once at most.
    const steps = driver.sent.filter(([name]) => name?.startsWith('EVAL')).length
    assert.ok(steps <= 5 * 3 + 1, `${steps} steps`)
    await run(client.close())
  })
})
