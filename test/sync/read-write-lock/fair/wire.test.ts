import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'holdfast'
import { Redis } from 'ioredis'
import { secretOf, wireOwner } from '#src/keys.js'
import { times } from '../../../suites/contract/lock/kind.js'
import type { Client, Options } from '../../../support/engines.js'
import { redisEngine, started } from '../../../support/engines.js'
import { grantTo } from '../../../support/grant.js'
import { startRedis } from '../../../support/redis-server.js'
import { RedissonReadWriteActor } from '../../../support/redisson-rw-actor.js'

const NAME = 'doc'
const QUEUE = 'holdfast_rwlock_queue:{doc}'
const DEADLINES = 'holdfast_rwlock_timeout:{doc}'
const GRANTS = 'holdfast_rwlock_grant:{doc}'
const CHANNEL = 'redisson_rwlock:{doc}'
const TRIAL = 3000
/** How much longer than its last deadline the line lasts. */
const LONGER = 60_000

void describe('the fair read-write lock on the wire', async () => {
  const skip = await started({ ...redisEngine, start: async () => (await startRedis()).stop() })
  if (skip !== undefined) {
    void test('the fair read-write lock on the wire', { skip }, () => undefined)
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
    listener.on('message', (_channel: string, payload: string) => heard.push(payload))
  })

  after(async () => {
    redis.disconnect()
    listener.disconnect()
    await server.stop()
  })

  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()))
    await listener.unsubscribe()
    // Whose turn it is goes by itself.
    assert.deepEqual(await keys(), [])
    assert.deepEqual(await redis.pubsub('CHANNELS', '*'), [])
    heard = []
  })

  /** What is told on Redisson’s channel; whoever listens there counts as one of Redisson’s. */
  const listens = (): Promise<unknown> => listener.subscribe(CHANNEL)

  const keys = async (): Promise<string[]> =>
    (await redis.keys('*')).filter((key) => !key.startsWith('holdfast_rwlock_turn:')).sort()

  const sides = async (options: Partial<Options> = {}, name = NAME) => {
    const client = await connect({ url: server.url, presence: false, ...options })
    clients.push(client)
    return { client, ...client.readWriteLock(name, { fair: true }) }
  }

  const until = async (condition: () => Promise<boolean> | boolean): Promise<void> => {
    for (let wait = 0; !(await condition()); wait += 1) {
      assert.ok(wait < 1000, String(condition))
      await sleep(10)
    }
  }

  const line = (): Promise<string[]> => redis.lrange(QUEUE, 0, -1)

  const queues = async <T>(come: () => Promise<T>): Promise<{ promise: Promise<T> }> => {
    const before = (await line()).length
    const promise = come()
    promise.catch(() => undefined)
    await until(async () => (await line()).length === before + 1)
    return { promise }
  }

  const told = async (...messages: string[]): Promise<void> => {
    await until(() => heard.length >= messages.length)
    await sleep(20)
    assert.deepEqual(heard.splice(0), messages)
  }

  const scripts = async (): Promise<number> => {
    const stats = await redis.info('commandstats')
    return [...stats.matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g)].reduce((sum, [, count]) => sum + Number(count), 0)
  }

  void test('nobody waits → Redisson’s keys and messages, and no others', async () => {
    await listens()
    const { read, write } = await sides()
    const reader = await read.acquire({ lease: 10_000 })
    const [owner = ''] = (await redis.hkeys(NAME)).filter((field) => field !== 'mode')
    assert.match(owner, /^[0-9a-f-]{36}:\d+$/)
    assert.deepEqual(await redis.hgetall(NAME), { mode: 'read', [owner]: '1' })
    assert.deepEqual(await keys(), [NAME, `{${NAME}}:${owner}:rwlock_timeout:1`].sort())
    assert.equal(await write.tryAcquire(), undefined)
    assert.equal(await redis.exists(QUEUE, DEADLINES), 0, 'a try stands in no line')
    assert.equal(await reader.release(), true)
    await told('0')
    const writer = await write.acquire({ lease: 20_000 })
    const [writes = ''] = (await redis.hkeys(NAME)).filter((field) => field !== 'mode')
    assert.match(writes, /^[0-9a-f-]{36}:\d+:write$/)
    assert.deepEqual(await keys(), [NAME])
    assert.ok(Math.abs((await redis.pttl(NAME)) - 20_000) < 3000)
    assert.equal(await writer.release(), true)
    await told('1')
  })

  void test('two wait → a list and their deadlines, which go away by themselves; the last leaves neither', async () => {
    const [one, two] = [await sides(), await sides()]
    const writer = await one.write.acquire()
    const reading = await queues(() => two.read.acquire({ lease: 10_000 }))
    const writing = await queues(() => one.write.acquire())
    const [first = '', second = ''] = await line()
    assert.ok(first.startsWith(two.client.id) && second.startsWith(one.client.id) && second.endsWith(':write'))
    const deadlines = await redis.zrange(DEADLINES, '0', '-1', 'WITHSCORES')
    assert.deepEqual([deadlines[0], deadlines[2]], [first, second])
    assert.ok(Math.abs(Number(deadlines[1]) - Date.now() - 10_000) < 5000)
    for (const key of [QUEUE, DEADLINES]) {
      const left = await redis.pttl(key)
      assert.ok(left > LONGER && left < LONGER + 20_000, `${left}`)
    }
    assert.equal(await writer.release(), true)
    const reader = await reading.promise
    // It has confirmed, and has what it asked for.
    await until(async () => (await line()).length === 1)
    assert.ok((await redis.pttl(NAME)) > TRIAL)
    assert.ok((await redis.pttl(`{${NAME}}:${first}:rwlock_timeout:1`)) > TRIAL)
    assert.equal(await reader.release(), true)
    assert.equal(await (await writing.promise).release(), true)
    assert.equal(await redis.exists(NAME, QUEUE, DEADLINES), 0)
  })

  void test('let in on trial → in Redisson’s hash for a short lease, and in the line still, marked', async () => {
    const [one] = [await sides()]
    const gone = '00000000-0000-8100-8000-000000000001'
    const [reader = '', second = '', writes = ''] = [1, 2, 3].map((number) => wireOwner(gone, secretOf(7), number))
    const ear = new Redis(server.url)
    const grants: string[] = []
    ear.on('message', (_channel: string, payload: string) => grants.push(payload))
    await ear.subscribe(`${GRANTS}:${gone}`, `${GRANTS}:${gone}:write`)
    try {
      const writer = await one.write.acquire()
      for (const owner of [reader, second, `${writes}:write`]) {
        await redis.rpush(QUEUE, owner)
        await redis.zadd(DEADLINES, Date.now() + 300_000, owner)
      }
      assert.equal(await writer.release(), true)
      assert.deepEqual(await redis.hgetall(NAME), { mode: 'read', [reader]: '1', [second]: '1' })
      for (const key of [NAME, `{${NAME}}:${reader}:rwlock_timeout:1`, `{${NAME}}:${second}:rwlock_timeout:1`]) {
        const left = await redis.pttl(key)
        assert.ok(left > TRIAL - 2000 && left <= TRIAL, `${key}: ${left}`)
      }
      assert.equal((await line()).length, 3)
      const scores = (await redis.zrange(DEADLINES, '0', '-1', 'WITHSCORES')).filter((_, i) => i % 2 === 1).map(Number)
      assert.deepEqual(
        scores.map((score) => score % 1 !== 0),
        [true, true, false],
      )
      await until(() => grants.length === 2)
      for (const [i, owner] of [reader, second].entries())
        assert.equal(grants[i], grantTo(owner, grants[i]?.split(' ')[1] ?? ''))
      // All of it goes with the first whose time is over.
      await sleep(TRIAL)
      assert.equal(await (await one.write.acquire()).release(), true)
    } finally {
      ear.disconnect()
    }
  })

  void test('20 readers of two processes behind a writer → let in by its release, in one trip', async () => {
    const [one, two, three] = [await sides(), await sides(), await sides()]
    const writer = await three.write.acquire()
    const waiting = times(20, (i) => (i % 2 === 0 ? one : two).read.acquire())
    await until(async () => (await line()).length === 20)
    await sleep(100)
    assert.equal(await writer.release(), true)
    // Before any of them could answer.
    const holds = await Promise.all(waiting)
    assert.equal((await redis.hlen(NAME)) - 1, 20)
    for (const hold of holds) assert.equal(await hold.release(), true)
    const before = await scripts()
    const next = await three.write.acquire()
    assert.equal((await scripts()) - before, 1, 'what is free costs one trip')
    assert.equal(await next.release(), true)
  })

  const serverTime = async (): Promise<number> => {
    const stats = await redis.info('commandstats')
    return [...stats.matchAll(/cmdstat_eval(?:sha)?:calls=\d+,usec=(\d+)/g)].reduce(
      (sum, [, us]) => sum + Number(us),
      0,
    )
  }

  const published = async (): Promise<number> =>
    Number(/cmdstat_publish:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1] ?? 0)

  void test('writers of one process right behind one another → handed on without the server, in order', async () => {
    const [one, two] = [await sides(), await sides()]
    const holder = await two.write.acquire()
    const order: string[] = []
    const comes = (side: 'one' | 'two', mode: 'read' | 'write', name: string): Promise<void> =>
      (side === 'one' ? one : two)[mode].using(() => {
        order.push(name)
      })
    const waiting: { promise: Promise<void> }[] = []
    for (const [i, side, mode] of [
      ...times(10, (i) => [i, 'one', 'write'] as const),
      [10, 'two', 'read'] as const,
      [11, 'one', 'read'] as const,
      ...times(10, (i) => [12 + i, 'one', 'write'] as const),
    ]) {
      waiting.push(await queues(() => comes(side, mode, `${i}`)))
    }
    const before = await scripts()
    assert.equal(await holder.release(), true)
    await Promise.all(waiting.map(({ promise }) => promise))
    // The two readers are in together.
    assert.deepEqual(
      [...order.slice(0, 10), ...order.slice(10, 12).sort(), ...order.slice(12)].map(Number),
      times(22, (i) => i),
    )
    const asked = (await scripts()) - before
    // One round for each of three groups, and not for each of 22: released, confirmed, and a poll now and then.
    assert.ok(asked <= 14, `${asked} scripts`)
    await until(async () => (await redis.exists(NAME, QUEUE, DEADLINES)) === 0)
  })

  void test('a client that hears nothing → is tried once in a walk along the line, whatever it has there', async () => {
    const [one, two] = [await sides(), await sides()]
    const writer = await one.write.acquire()
    const gone = '00000000-0000-8100-8000-000000000001'
    for (let i = 0; i < 20; i++) {
      await redis.rpush(QUEUE, `${gone}:${i}`)
      await redis.zadd(DEADLINES, Date.now() + 300_000, `${gone}:${i}`)
    }
    const reading = await queues(() => two.read.acquire())
    const before = await published()
    assert.equal(await writer.release(), true)
    const reader = await reading.promise
    // That one, the one who is in, and all others.
    assert.equal((await published()) - before, 3)
    await until(async () => (await line()).length === 20)
    const marked = (await redis.zrange(DEADLINES, '0', '-1', 'WITHSCORES')).filter((_, i) => i % 2 === 1).map(Number)
    assert.equal(marked.filter((score) => score % 1 !== 0 && score < Date.now() + TRIAL + 1000).length, 20)
    await sleep(TRIAL)
    assert.equal(await reader.release(), true)
    assert.equal(await (await one.write.acquire()).release(), true)
  })

  void test('out of memory when it goes to the next → refused before anybody is told', async () => {
    const [one, two, three] = [await sides(), await sides(), await sides()]
    const holder = await one.write.acquire()
    const reading = await queues(() => two.read.acquire())
    const ear = new Redis(server.url)
    const grants: string[] = []
    ear.on('message', (_channel: string, payload: string) => grants.push(payload))
    await ear.subscribe(`${GRANTS}:${two.client.id}`)
    try {
      await redis.config('SET', 'maxmemory', '1')
      await redis.del(NAME)
      await assert.rejects(three.write.tryAcquire(), /OOM/)
      await sleep(100)
      assert.deepEqual(grants, [])
      assert.equal(await redis.exists(NAME), 0)
    } finally {
      await redis.config('SET', 'maxmemory', '0')
      ear.disconnect()
    }
    assert.equal(await holder.release(), false)
    assert.equal(await (await reading.promise).release(), true)
  })

  void test('2,000 readers behind one writer → let in and given back, each at the cost of one of 200', async () => {
    const costOf = async (count: number): Promise<number> => {
      const [one, two] = [await sides(), await sides()]
      const writer = await one.write.acquire()
      const waiting = times(count, (i) => (i % 2 === 0 ? one : two).read.acquire())
      await until(async () => (await redis.llen(QUEUE)) === count)
      const before = await serverTime()
      assert.equal(await writer.release(), true)
      const readers = await Promise.all(waiting)
      assert.deepEqual(new Set(await Promise.all(readers.map((hold) => hold.release()))), new Set([true]))
      return ((await serverTime()) - before) / count
    }
    await costOf(200)
    const seen: string[] = []
    // What else the machine does may fall into one of them: once more, then.
    const isFlat = async (): Promise<boolean> => {
      const [few, many] = [await costOf(200), await costOf(2000)]
      seen.push(`${few} µs each, then ${many} µs`)
      return many < 2.5 * few
    }
    assert.ok((await isFlat()) || (await isFlat()), seen.join('; '))
  })

  void test('names with a brace → all keys of one slot', async () => {
    const one = await sides({}, 'a:{b}:c')
    const writer = await one.write.acquire()
    const reading = one.read.acquire()
    await until(async () => (await redis.exists('holdfast_rwlock_queue:a:{b}:c!')) === 1)
    assert.deepEqual(await keys(), ['a:{b}:c', 'holdfast_rwlock_queue:a:{b}:c!', 'holdfast_rwlock_timeout:a:{b}:c!'])
    assert.equal(await writer.release(), true)
    assert.equal(await (await reading).release(), true)
  })

  void test('Redisson writes → the first of the line hears its release; its readers join ours where nobody waits', async () => {
    const [one, two] = [await sides(), await sides()]
    const theirs = new RedissonReadWriteActor(redis, NAME)
    assert.equal(await theirs.write(), null)
    const reading = [await queues(() => one.read.acquire()), await queues(() => two.read.acquire())]
    const writing = await queues(() => one.write.acquire())
    await sleep(300)
    const began = performance.now()
    assert.equal(await theirs.unwrite(), 1)
    const readers = await Promise.all(reading.map(({ promise }) => promise))
    assert.ok(performance.now() - began < 800, 'woken, and not by a poll')
    // The bound: whoever reads of theirs joins ours, and our writer waits for that, too.
    assert.equal(await theirs.read(), null)
    for (const reader of readers) assert.equal(await reader.release(), true)
    assert.equal(await theirs.unread(), 1)
    const writer = await writing.promise
    assert.ok(Number(await theirs.read()) > 0)
    assert.equal(await writer.release(), true)
    assert.equal(await theirs.write(), null)
    assert.equal(await theirs.unwrite(), 1)
  })

  void test('ours end and a writer waits → Redisson finds no gap between', async () => {
    const [one, two] = [await sides(), await sides()]
    const theirs = new RedissonReadWriteActor(redis, NAME)
    const writer = await one.write.acquire()
    const waiting = [await queues(() => two.write.acquire()), await queues(() => one.write.acquire())]
    assert.equal(await writer.release(), true)
    assert.ok(Number(await theirs.write()) > 0)
    for (const { promise } of waiting) {
      const hold = await promise
      assert.ok(Number(await theirs.read()) > 0)
      assert.equal(await hold.release(), true)
    }
    assert.equal(await theirs.read(), null)
    assert.equal(await theirs.unread(), 1)
  })

  void test('beside our plain one → each excludes the other, and is woken by the other', async () => {
    const one = await sides()
    const plain = one.client.readWriteLock(NAME)
    const writer = await plain.write.acquire()
    const reading = await queues(() => one.read.acquire())
    assert.equal(await one.write.tryAcquire(), undefined)
    assert.equal(await writer.release(), true)
    const reader = await reading.promise
    assert.equal(await plain.write.tryAcquire(), undefined)
    const waiting = plain.write.acquire()
    await sleep(300)
    assert.equal(await reader.release(), true)
    assert.equal(await (await waiting).release(), true)
  })

  void test('`fair` that is no boolean → TypeError at once', async () => {
    const { client } = await sides()
    for (const fair of [1, 'yes', null, {}]) {
      assert.throws(() => client.readWriteLock(NAME, { fair } as never), /fair must be true or false/)
    }
    assert.throws(() => client.readWriteLock(NAME, 'fair' as never), /options must be an object/)
  })
})
