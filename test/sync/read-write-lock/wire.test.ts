import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'holdfast'
import { Redis } from 'ioredis'
import { times } from '../../suites/contract/lock/kind.js'
import type { Client, Options } from '../../support/engines.js'
import { redisEngine, started } from '../../support/engines.js'
import { seeded } from '../../support/random.js'
import { startRedis } from '../../support/redis-server.js'
import { RedissonReadWriteActor } from '../../support/redisson-rw-actor.js'

const CHANNEL = 'redisson_rwlock:{doc}'
const level = (owner: string, i: number): string => `{doc}:${owner}:rwlock_timeout:${i}`

void describe('the read-write lock on the wire', async () => {
  const skip = await started({ ...redisEngine, start: async () => (await startRedis()).stop() })
  if (skip !== undefined) {
    void test('the read-write lock on the wire', { skip }, () => undefined)
    return
  }
  let server: Awaited<ReturnType<typeof startRedis>>
  let redis: Redis
  let listener: Redis
  let heard: string[] = []
  const clients: Client[] = []

  before(async () => {
    server = await startRedis()
    redis = new Redis(server.url)
    listener = new Redis(server.url)
    await listener.psubscribe('*')
    listener.on('pmessage', (_pattern: string, channel: string, payload: string) => heard.push(`${channel} ${payload}`))
  })

  after(async () => {
    redis.disconnect()
    listener.disconnect()
    await server.stop()
  })

  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()))
    assert.deepEqual(await redis.keys('*'), [])
    assert.deepEqual(await redis.pubsub('CHANNELS', '*'), [])
    heard = []
  })

  const open = async (options: Partial<Options> = {}): Promise<Client> => {
    const client = await connect({ url: server.url, presence: false, ...options })
    clients.push(client)
    return client
  }

  const sides = async (options: Partial<Options> = {}) => (await open(options)).readWriteLock('doc')

  const owners = async (): Promise<string[]> => (await redis.hkeys('doc')).filter((field) => field !== 'mode')

  const about = (left: number, lease: number): void => {
    assert.ok(left <= lease && left > lease - 3000, `${left} of ${lease}`)
  }

  /** How many scripts clients sent meanwhile. */
  const scriptsDuring = async (work: () => Promise<unknown>): Promise<number> => {
    const calls = async (): Promise<number> => {
      const stats = await redis.info('commandstats')
      return [...stats.matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g)].reduce((sum, [, count]) => sum + Number(count), 0)
    }
    const before = await calls()
    await work()
    return (await calls()) - before
  }

  /** All that the server has done, also within scripts. */
  const callsOf = (stats: string): number =>
    [...stats.matchAll(/:calls=(\d+)/g)].reduce((sum, [, count]) => sum + Number(count), 0)

  const told = async (...messages: string[]): Promise<void> => {
    for (let wait = 0; wait < 200 && heard.length < messages.length; wait += 1) await sleep(10)
    await sleep(20)
    assert.deepEqual(
      heard,
      messages.map((payload) => `${CHANNEL} ${payload}`),
    )
    heard = []
  }

  void test('read → the mode, a field of its owner, and a key of its own with its lease', async () => {
    const { read } = await sides()
    const [one, two] = [await read.acquire({ lease: 10_000 }), await read.acquire({ lease: 60_000 })]
    const [first, second] = (await owners()) as [string, string]
    assert.match(first, /^[0-9a-f-]{36}:\d+$/)
    assert.deepEqual(await redis.hgetall('doc'), { mode: 'read', [first]: '1', [second]: '1' })
    assert.deepEqual((await redis.keys('*')).sort(), ['doc', level(first, 1), level(second, 1)].sort())
    assert.equal(await redis.get(level(first, 1)), '1')
    about(await redis.pttl(level(first, 1)), 10_000)
    about(await redis.pttl(level(second, 1)), 60_000)
    about(await redis.pttl('doc'), 60_000)
    assert.equal(await two.release(), true)
    about(await redis.pttl('doc'), 10_000)
    await told()
    assert.equal(await one.release(), true)
    await told('0')
  })

  void test('a name with a brace → its companions have no more of them', async () => {
    const { read } = (await open()).readWriteLock('a:{b}:c')
    const hold = await read.acquire()
    const [owner] = (await redis.hkeys('a:{b}:c')).filter((field) => field !== 'mode')
    assert.deepEqual((await redis.keys('*')).sort(), ['a:{b}:c', `a:{b}:c:${owner}:rwlock_timeout:1`])
    assert.equal(await hold.release(), true)
    for (let wait = 0; wait < 200 && heard.length === 0; wait += 1) await sleep(10)
    assert.deepEqual(heard, ['redisson_rwlock:a:{b}:c 0'])
  })

  void test('read again → a key for each level, contiguous, whichever ends first', async () => {
    const { read } = await sides()
    const first = await read.acquire()
    const [owner] = (await owners()) as [string]
    const more = [await read.acquire({ owner: first.owner }), await read.acquire({ owner: first.owner })]
    for (const [hold, left] of [[first, 2] as const, [more[0], 1] as const]) {
      assert.equal(await redis.hget('doc', owner), String(left + 1))
      assert.equal(await redis.exists(...times(4, (i) => level(owner, i + 1))), left + 1)
      assert.equal(await hold?.release(), true)
      assert.equal(await redis.hget('doc', owner), String(left))
      assert.equal(await redis.exists(...times(left, (i) => level(owner, i + 1))), left)
      assert.equal(await redis.exists(level(owner, left + 1)), 0)
    }
    assert.equal(await more[1]?.release(), true)
  })

  void test('write → the mode and a field `<owner>:write`; freed → 1', async () => {
    const { write } = await sides()
    const hold = await write.acquire({ lease: 20_000 })
    const [owner] = (await owners()) as [string]
    assert.match(owner, /^[0-9a-f-]{36}:\d+:write$/)
    assert.deepEqual(await redis.hgetall('doc'), { mode: 'write', [owner]: '1' })
    assert.deepEqual(await redis.keys('*'), ['doc'])
    about(await redis.pttl('doc'), 20_000)
    assert.equal(await hold.release(), true)
    await told('1')
  })

  void test('read under its own write → by the same name, the next one by another; the write ends → a read', async () => {
    const { read, write } = await sides()
    const writer = await write.acquire()
    const [owner] = (await owners()) as [string]
    const reader = owner.replace(':write', '')
    const first = await read.acquire({ owner: writer.owner })
    assert.deepEqual(await redis.hgetall('doc'), { mode: 'write', [owner]: '1', [reader]: '1' })
    assert.equal(await first.release(), true)
    assert.deepEqual(await redis.hgetall('doc'), { mode: 'write', [owner]: '1' })
    const second = await read.acquire({ owner: writer.owner, lease: 10_000 })
    const other = (await owners()).find((field) => field !== owner)
    assert.notEqual(other, reader)
    await told()
    assert.equal(await writer.release(), true)
    assert.deepEqual(await redis.hgetall('doc'), { mode: 'read', [String(other)]: '1' })
    about(await redis.pttl('doc'), 10_000)
    await told('1')
    assert.equal(await second.release(), true)
  })

  void test('20 readers at once → a script each; 20 let in by a release → that one, and a confirmation each when they stay', async () => {
    const [one, two] = [await sides(), await sides()]
    const free = await scriptsDuring(async () => Promise.all(times(20, () => one.read.acquire())))
    assert.ok(free <= 20, `${free} scripts`)
    await one.read.forceRelease()
    const writer = await two.write.acquire()
    const waiting = times(20, () => one.read.acquire())
    await sleep(300)
    const woken = await scriptsDuring(async () => {
      await writer.release()
      return Promise.all(waiting)
    })
    // Those that the server does not know yet are sent again.
    assert.ok(woken <= 2 * 21 + 2, `${woken} scripts`)
    assert.equal((await owners()).length, 20)
  })

  void test('300 readers → renewed 250 at a time, the lock and each key of theirs', async () => {
    const { read } = await sides({ watchdog: 3000 })
    const holds = await Promise.all(times(300, () => read.acquire()))
    const renewals = await scriptsDuring(() => sleep(2000))
    assert.ok(renewals >= 2 && renewals <= 8, `${renewals} scripts`)
    for (const owner of await owners()) assert.ok((await redis.pttl(level(owner, 1))) > 800, owner)
    assert.ok(holds.every(({ state }) => state === 'held'))
  })

  void test('300 readers with leases of their own, in any order → the lock lasts as long as the longest, and hardly longer', async () => {
    const { read } = await sides()
    const random = seeded(7)
    const holds = await Promise.all(times(300, () => read.acquire({ lease: Math.floor(30_000 + 60_000 * random()) })))
    const longest = async (): Promise<number> => {
      const ask = redis.pipeline()
      for (const owner of await owners()) ask.pttl(level(owner, 1))
      return Math.max(...((await ask.exec()) ?? []).map(([, left]) => left as number))
    }
    while (holds.length > 1) {
      const [hold] = holds.splice(Math.floor(random() * holds.length), 1)
      assert.equal(await hold?.release(), true)
      const [lock, reads] = [await redis.pttl('doc'), await longest()]
      assert.ok(lock > reads - 50 && lock < reads + 250 + 500, `${lock} ms, its longest read ${reads} ms`)
    }
    assert.equal(await holds[0]?.release(), true)
    await told('0')
  })

  void test('2,000 readers → each given back at the cost of one of 200', async () => {
    const costOf = async (count: number): Promise<number> => {
      const { read } = await sides()
      const readers = await Promise.all(times(count, () => read.acquire()))
      const before = await redis.info('commandstats')
      assert.deepEqual(new Set(await Promise.all(readers.map((hold) => hold.release()))), new Set([true]))
      return (callsOf(await redis.info('commandstats')) - callsOf(before)) / count
    }
    const [few, many] = [await costOf(200), await costOf(2000)]
    assert.ok(many < 1.5 * few, `${few} calls of the script each, then ${many}`)
  })

  void test('beside a reader of Redisson’s → each keeps the other’s time; the last one frees it and says so', async () => {
    const { read, write } = await sides()
    const theirs = new RedissonReadWriteActor(redis, 'doc')
    const hold = await read.acquire({ lease: 20_000 })
    assert.equal(await theirs.read(60_000), null)
    assert.equal(await hold.release(), true)
    about(await redis.pttl('doc'), 60_000)
    const again = await read.acquire({ lease: 20_000 })
    assert.equal(await theirs.unread(), 0, 'ours goes on')
    about(await redis.pttl('doc'), 20_000)
    assert.equal(await write.tryAcquire(), undefined)
    assert.equal(await theirs.read(), null)
    assert.equal(await again.release(), true)
    await told()
    const waiting = write.acquire()
    await sleep(200)
    assert.equal(await theirs.unread(), 1)
    const writer = await waiting
    about(Number(await theirs.read()), 30_000)
    about(Number(await theirs.write()), 30_000)
    assert.equal(await theirs.unread(), null)
    assert.equal(await writer.release(), true)
    await told('0', '1')
  })

  void test('a reader of Redisson’s renews the lock for less than ours has, and dies → ours lasts as long as it has', async () => {
    const { read, write } = await sides({ watchdog: 2400 })
    const theirs = new RedissonReadWriteActor(redis, 'doc')
    const outlives = async (least: number): Promise<void> => {
      assert.equal(await theirs.read(2400), null)
      assert.equal(await theirs.renewRead(2400), 1)
      assert.ok((await redis.pttl('doc')) <= 2400)
      await sleep(2500)
      assert.ok((await redis.pttl('doc')) > least)
      assert.equal(await write.tryAcquire(), undefined)
    }
    const fixed = await read.acquire({ lease: 30_000 })
    const renewed = await read.acquire()
    const longer = await read.acquire({ owner: renewed.owner, lease: 60_000 })
    await outlives(45_000)
    for (const hold of [longer, renewed]) assert.equal(await hold.release(), true)
    await outlives(15_000)
    assert.equal(fixed.state, 'held')
    assert.equal(await fixed.release(), true)
  })

  void test('RWE1: read twice by one owner and given back → nothing is renewed any more', async () => {
    const { read, write } = await sides({ watchdog: 900 })
    for (const side of [read, write]) {
      const outer = await side.acquire()
      const inner = await side.acquire({ owner: outer.owner })
      const renewals = await scriptsDuring(() => sleep(800))
      assert.ok(renewals >= 1, 'while it is held')
      for (const hold of [inner, outer]) assert.equal(await hold.release(), true)
    }
    assert.equal(await scriptsDuring(() => sleep(1000)), 0)
  })

  void test('behind a writer of Redisson’s who reads, too → readers in when its write ends, a writer when all have', async () => {
    const { read, write } = await sides()
    const theirs = new RedissonReadWriteActor(redis, 'doc')
    assert.equal(await theirs.write(), null)
    assert.equal(await theirs.read(), null)
    assert.deepEqual(
      (await read.inspect()).holders.map(({ owner, mode }) => [owner, mode]),
      [
        [`${theirs.owner}:write`, 'write'],
        [theirs.owner, 'read'],
      ],
    )
    for (const side of [read, write]) assert.equal(await side.tryAcquire(), undefined)
    assert.equal(await theirs.unwrite(), 1)
    const reader = await read.acquire()
    assert.equal(await theirs.unread(), 0)
    assert.equal(await write.tryAcquire(), undefined)
    assert.equal(await reader.release(), true)
    const writer = await write.acquire()
    assert.equal(await writer.release(), true)
  })

  void test('a reader of ours that died → Redisson’s last reader frees it', async () => {
    const client = await open({ watchdog: 1000 })
    await client.readWriteLock('doc').read.acquire()
    await client.close({ release: false })
    const theirs = new RedissonReadWriteActor(redis, 'doc')
    assert.equal(await theirs.read(20_000), null)
    await sleep(1100)
    assert.equal((await owners()).length, 2)
    assert.equal(await theirs.unread(), 1)
    await told('0')
  })
})
