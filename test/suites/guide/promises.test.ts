import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { describe, test } from 'node:test'
import { type Client, connect, LockLostError } from 'holdfast'
import { virtualClock } from 'holdfast/testing'
import { Redis } from 'ioredis'
import { start } from '#src/client.js'
import { settle } from '#src/config/settings.js'
import { MemoryDriver } from '#src/engine/memory/driver.js'
import { MemoryServer } from '#src/engine/memory/server.js'
import { rejection } from '../contract/lock/kind.js'
import { startRedis, type RedisServer } from '../../support/redis-server.js'
import { SwitchedDriver } from '../../support/switched-driver.js'
import { until } from '../../support/until.js'

type Clock = ReturnType<typeof virtualClock>

/** A client of this server. */
const openOn = (
  server: MemoryServer,
  clock: Clock,
  presence = false,
): Promise<{ client: Client; driver: SwitchedDriver }> => {
  const driver = new SwitchedDriver(new MemoryDriver(server, undefined))
  const settings = settle({ url: 'memory:', clock, presence, label: 'a label' }, {})
  return start(settings, driver).then((client) => ({ client, driver }))
}

const during = async <T>(clock: Clock, promise: Promise<T>): Promise<T> => {
  let over = false
  const done = (): void => void (over = true)
  promise.then(done, done)
  while (!over) await clock.advance(1)
  return promise
}

void test('a client that lives → its label can be read at any time, over many leases', async () => {
  const clock = virtualClock()
  const server = new MemoryServer(clock)
  const [{ client }, { client: reader }] = [await openOn(server, clock, true), await openOn(server, clock)]
  const hold = await client.lock('a').acquire()
  for (let second = 0; second < 120; second++) {
    const state = await reader.lock('a').inspect()
    assert.equal(state.holders[0]?.label, 'a label', `after ${second} s`)
    await clock.advance(1000)
  }
  await hold.release()
  await Promise.all([client.close(), reader.close()])
})

for (const kind of ['lock', 'fairLock', 'fencedLock'] as const) {
  void test(`${kind}: the event loop stands still between the grant and the work → the work never begins`, async () => {
    const client = await connect('memory:')
    const stall = (): void => {
      const end = performance.now() + 250
      while (performance.now() < end);
    }
    let began = false
    subscribe('holdfast:grant', stall)
    try {
      const used = client[kind]('a').using({ lease: 200 }, () => void (began = true))
      assert.ok((await rejection(used)) instanceof LockLostError)
    } finally {
      unsubscribe('holdfast:grant', stall)
    }
    assert.equal(began, false)
    await client.close()
  })
}

for (const step of [-5000, 5000, -3_600_000]) {
  void test(`this machine’s wall clock is set ${step < 0 ? 'back' : 'on'} by ${Math.abs(step)} ms → in doubt, and the server is asked within a second`, async () => {
    const clock = virtualClock()
    const client = await connect({ url: 'memory:', clock, watchdog: 30_000 })
    const holds = [await client.lock('a').acquire(), await client.lock('b').acquire({ lease: 60_000 })]
    await clock.advance(3000)
    clock.stepWall(step)
    for (const hold of holds) assert.equal(hold.state, 'uncertain')
    await clock.advance(1500)
    for (const hold of holds) assert.equal(hold.state, 'held')
    await client.close()
  })
}

for (const kind of ['lock', 'fencedLock', 'fairLock', 'nonReentrantLock', 'read', 'write'] as const) {
  void test(`${kind}: trouble for minutes while somebody waits → a free lock is asked for within a second after it`, async () => {
    const clock = virtualClock()
    const server = new MemoryServer(clock)
    const [one, two] = [await openOn(server, clock), await openOn(server, clock)]
    const lockOf = (client: Client) =>
      kind === 'read' || kind === 'write' ? client.readWriteLock('a')[kind] : client[kind]('a')
    const holder = kind === 'read' ? one.client.readWriteLock('a').write : lockOf(one.client)
    const hold = await holder.acquire()
    let had = false
    const waiting = lockOf(two.client).acquire()
    void waiting.then(() => (had = true))
    await clock.advance(200)
    two.driver.refuses = "READONLY You can't write against a read only replica."
    await clock.advance(1000)
    await during(clock, hold.release())
    for (let minute = 0; minute < 5; minute++) await clock.advance(60_000)
    assert.equal(had, false)
    two.driver.refuses = undefined
    await clock.advance(1200)
    assert.equal(had, true)
    await during(clock, (await waiting).release())
    await Promise.all([one.client.close(), two.client.close()].map((closing) => during(clock, closing)))
  })
}

for (const kind of ['lock', 'fencedLock', 'fairLock', 'nonReentrantLock', 'read', 'write'] as const) {
  void test(`${kind}: trouble for minutes from the first question on → a free lock is acquired within a second after it`, async () => {
    const clock = virtualClock()
    const server = new MemoryServer(clock)
    const { client, driver } = await openOn(server, clock)
    const lock = kind === 'read' || kind === 'write' ? client.readWriteLock('a')[kind] : client[kind]('a')
    driver.refuses = "READONLY You can't write against a read only replica."
    let acquired = false
    const waiting = lock.acquire({ wait: 3_600_000 })
    void waiting.then(() => (acquired = true))
    for (let minute = 0; minute < 5; minute++) await clock.advance(60_000)
    assert.equal(acquired, false)
    driver.refuses = undefined
    await clock.advance(1200)
    assert.equal(acquired, true)
    await during(clock, (await waiting).release())
    await during(clock, client.close())
  })
}

void test('a fair lock whose holder is still in the line is released by force → it is gone from every key', async () => {
  const clock = virtualClock()
  const server = new MemoryServer(clock)
  const { client, driver } = await openOn(server, clock)
  const raw = (...words: (string | number)[]): Promise<unknown> => driver.send(words)
  // Granted, and not confirmed: the owner of a client that is gone.
  const owner = `${client.id.slice(0, -12)}0123456789ab:7`
  await raw('HSET', 'a', owner, 1)
  await raw('PEXPIRE', 'a', 3000)
  await raw('RPUSH', 'redisson_lock_queue:{a}', owner)
  await raw('ZADD', 'redisson_lock_timeout:{a}', clock.now() + 4500.5, owner)
  assert.equal(await client.fairLock('a').forceRelease(), true)
  assert.deepEqual(await raw('KEYS', '*'), [])
  await client.close()
})

void test('a read that was detached and whose lease ran out beside another read → its ticket is refused, the other stays', async () => {
  const clock = virtualClock()
  const server = new MemoryServer(clock)
  const { client, driver } = await openOn(server, clock)
  const raw = (...words: (string | number)[]): Promise<unknown> => driver.send(words)
  const { read } = client.readWriteLock('a')
  const other = await read.acquire()
  const ticket = await (await read.acquire()).detach()
  const keys = (await raw('KEYS', '*rwlock_timeout*')) as string[]
  const mine = (await read.inspect()).holders.map(({ owner }) => owner)
  assert.equal(keys.length, 2)
  // The lock itself lasts on for the other.
  await raw('DEL', ...keys.filter((key) => key.includes(`:${mine.at(-1)}:`)))
  const before = await raw('HGETALL', 'a')
  assert.ok((await rejection(client.adopt(ticket))) instanceof LockLostError)
  assert.deepEqual(await raw('HGETALL', 'a'), before)
  assert.equal(other.state, 'held')
  assert.equal(await during(clock, other.release()), true)
  await client.close()
})

void test('a replica that is still being filled → nobody waits for it', async (t) => {
  const servers: RedisServer[] = []
  try {
    // Whoever comes is filled 20 s later.
    servers.push(await startRedis(['--repl-diskless-sync', 'yes', '--repl-diskless-sync-delay', '20']))
    const [master] = servers as [RedisServer]
    servers.push(await startRedis(['--replicaof', '127.0.0.1', String(master.port)]))
    const redis = new Redis(master.url)
    const states = async (): Promise<string[]> => (await redis.info('replication')).match(/state=\w+/g) ?? []
    await until(async () => (await states()).length === 1)
    const client = await connect(master.url)
    const hold = await client.lock('a').acquire()
    assert.deepEqual(
      (await states()).filter((state) => state === 'state=online'),
      [],
      'it is not filled yet',
    )
    assert.equal(await hold.release(), true)
    await client.close()
    redis.disconnect()
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'NO_REDIS') throw error
    t.skip('no Redis')
  } finally {
    for (const server of servers) await server.stop()
  }
})

void describe('the server’s wall clock is set while a lock is held', () => {
  /** A server whose clock runs as fast as the clients', and can be set. */
  const scene = async () => {
    const [clock, theirs] = [virtualClock(), virtualClock()]
    const server = new MemoryServer(theirs)
    const pass = async (ms: number): Promise<void> => {
      for (let left = ms; left > 0; left -= 100) {
        await theirs.advance(Math.min(100, left))
        await clock.advance(Math.min(100, left))
      }
    }
    const [one, two] = [await openOn(server, clock), await openOn(server, clock)]
    return { server, theirs, pass, one: one.client, two: two.client, away: one.driver }
  }

  for (const step of [60_000, 3_600_000]) {
    for (const lease of [undefined, 30_000]) {
      void test(`on by ${step / 60_000} min, ${lease === undefined ? 'renewed' : 'a lease of 30 s'} → free for others at once, the holder is told within a third`, async () => {
        const { theirs, pass, one, two } = await scene()
        const hold = await one.lock('a').acquire({ lease })
        await pass(1000)
        theirs.stepWall(step)
        assert.ok((await two.lock('a').tryAcquire()) !== undefined)
        await pass(10_000)
        assert.equal(hold.state, 'lost')
        assert.equal(await hold.release(), false)
        await Promise.all([one.close(), two.close()])
      })
    }
  }

  for (const step of [-60_000, -3_600_000]) {
    void test(`back by ${-step / 60_000} min → who lives goes on; who dies has it for so much longer`, async () => {
      const { theirs, pass, one, two, away } = await scene()
      const [lives, dies] = [await one.lock('lives').acquire(), await one.lock('dies').acquire()]
      await pass(1000)
      theirs.stepWall(step)
      await pass(45_000)
      assert.equal(lives.state, 'held')
      assert.equal(await two.lock('lives').tryAcquire(), undefined)
      assert.equal(await lives.release(), true)
      assert.ok((await two.lock('lives').tryAcquire()) !== undefined)
      assert.equal(dies.state, 'held')
      away.up = false
      // The time that the clock was set back, and a lease.
      await pass(-step > 60_000 ? 100_000 : -step - 45_000)
      assert.equal(await two.lock('dies').tryAcquire(), undefined)
      if (step === -60_000) {
        await pass(76_000)
        assert.ok((await two.lock('dies').tryAcquire()) !== undefined)
      }
      away.up = true
      await pass(100)
      void one.close()
      void two.close()
      await pass(5000)
    })
  }
})

void test('a long computation goes past the deadline → a signal that was kept says so when it is read, before any timer', async () => {
  const client = await connect('memory:')
  const multi = client.multiLock(client.lock('a'), client.lock('b'))
  const holds = [
    await client.lock('c').acquire({ lease: 100 }),
    await client
      .permitSemaphore('p')
      .trySetPermits(1)
      .then(() => client.permitSemaphore('p').acquire({ lease: 100 })),
    await multi.acquire({ lease: 100 }),
  ]
  const signals = holds.map((hold) => hold.signal)
  const told: unknown[] = []
  for (const signal of signals) signal.addEventListener('abort', () => told.push(signal.reason))
  assert.ok(signals.every(({ aborted }) => !aborted))
  const end = performance.now() + 150
  while (performance.now() < end);
  for (const signal of signals) {
    assert.equal(signal.aborted, true)
    assert.throws(() => {
      signal.throwIfAborted()
    }, LockLostError)
  }
  assert.equal(told.length, 3)
  await client.close()
})

void test('taken by force elsewhere in the turn of a hold → a try here may be refused until the turn is over, and not after', async () => {
  const clock = virtualClock()
  const server = new MemoryServer(clock)
  const [{ client: one }, { client: two }] = [await openOn(server, clock), await openOn(server, clock)]
  const held = await one.lock('a').acquire()
  await two.lock('a').forceRelease()
  assert.equal(await one.lock('a').tryAcquire(), undefined)
  await clock.advance(60)
  assert.ok((await during(clock, one.lock('a').tryAcquire())) !== undefined)
  assert.equal(held.state, 'lost')
  await Promise.all([one.close(), two.close()])
})

void test('taken again and again → up to 9,999 levels, and a RangeError for the next one, which changes nothing', async () => {
  const client = await connect('memory:')
  const me = client.lock('a').for(client.owner())
  for (let level = 0; level < 9999; level++) await me.lock(600_000)
  await assert.rejects(me.lock(600_000), RangeError)
  assert.equal(await me.holdCount(), 9999)
  for (let level = 0; level < 9999; level++) await me.unlock()
  assert.equal(await client.lock('a').isLocked(), false)
  await client.close()
})

for (const kind of ['lock', 'fairLock', 'fencedLock'] as const) {
  void test(`${kind}: a stranger takes the expiry away → renewed with one, and lost in time where nobody answers`, async () => {
    const clock = virtualClock()
    const server = new MemoryServer(clock)
    const { client, driver } = await openOn(server, clock)
    const owner = client.owner()
    const hold = await client[kind]('a').acquire({ owner })
    server.execute(['PERSIST', 'a'])
    await clock.advance(11_000)
    assert.ok(Number(server.execute(['PTTL', 'a'])) > 25_000, 'it has its expiry again')
    server.execute(['PERSIST', 'a'])
    // The server says that it has no expiry.
    await during(clock, client[kind]('a').acquire({ owner }))
    assert.ok(hold.remaining() <= 30_000)
    driver.up = false
    await clock.advance(31_000)
    assert.equal(hold.state, 'lost')
    assert.equal(hold.signal.aborted, true)
    driver.up = true
    await during(clock, client.close())
  })
}
