import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, type ClientOptions, connect, type ListedLock, type ListOptions } from 'holdfast'
import { indexKey, limiterOrder, limiterPermits, limiterValue } from '#src/keys.js'
import { admit, READER_LINE } from '../../support/acl.js'
import { startCluster } from '../../support/redis-cluster.js'
import { onServer } from '../../support/server.js'
import { until } from '../../support/until.js'

const all = async (client: Client, options?: ListOptions): Promise<ListedLock[]> => {
  const rows: ListedLock[] = []
  for await (const row of client.list(options)) rows.push(row)
  return rows
}

/** What the rows say, without what differs from run to run. */
const told = (rows: readonly ListedLock[]): unknown[] =>
  rows.map(({ name, kind, holders, waiting, available, permits, remaining }) => [
    ...[kind, name, holders.length, available, permits, remaining],
    waiting.map(({ label, since }) => [label, since !== undefined]),
  ])

const ALL = [
  ['countDownLatch', 'l', 0, 3, undefined, undefined, [['waits', true]]],
  ['permitSemaphore', 'p', 0, 0, 2, undefined, [['waits', true]]],
  ['rateLimiter', 'r', 0, 0, 1, undefined, [['waits', true]]],
  ['semaphore', 's', 0, 1, undefined, undefined, [['waits', true]]],
]

interface Stage {
  readonly reader: Client
  readonly waiter: Client
  /** Ends all waits. */
  serve(): Promise<unknown>
}

/** Of each kind, one object for which a call waits. */
const staged = async (open: (options: ClientOptions) => Promise<Client>): Promise<Stage> => {
  const [reader, waiter] = [await open({ label: 'has' }), await open({ label: 'waits' })]
  const [s, p, r, l] = [
    reader.semaphore('s'),
    reader.permitSemaphore('p'),
    reader.rateLimiter('r'),
    reader.countDownLatch('l'),
  ]
  assert.ok((await s.trySetPermits(2)) && (await p.trySetPermits(2)) && (await l.trySetCount(3)))
  assert.ok(await r.trySetRate({ permits: 1, interval: 3_600_000 }))
  await s.acquire()
  const permits = await p.acquireMany(2)
  await r.acquire()
  const waits = [
    waiter.semaphore('s').acquire({ permits: 2 }),
    waiter.permitSemaphore('p').acquire(),
    waiter.rateLimiter('r').acquire(),
    waiter.countDownLatch('l').wait(),
  ]
  for (const wait of waits) wait.catch(() => undefined)
  const serve = async (): Promise<unknown> => {
    await s.release()
    await p.release(permits.map(({ id }) => id))
    await r.release()
    for (let i = 0; i < 3; i++) await l.countDown()
    return Promise.all(waits)
  }
  return { reader, waiter, serve }
}

const byKind = (rows: readonly ListedLock[]): ListedLock[] => [...rows].sort((a, b) => (a.kind < b.kind ? -1 : 1))

const listsAll = async ({ reader, serve }: Stage): Promise<void> => {
  await until(async () => (await all(reader)).length === 4)
  assert.deepEqual(told(byKind(await all(reader))), ALL)
  for (const [i, kind] of (['countDownLatch', 'permitSemaphore', 'rateLimiter', 'semaphore'] as const).entries())
    assert.deepEqual(told(await all(reader, { kind })), [ALL[i]])
  assert.deepEqual(told(await all(reader, { name: 'p' })), [ALL[1]])
  assert.deepEqual(told(await all(reader, { pattern: '[rs]' })), [ALL[2], ALL[3]])
  const tell = await serve()
  assert.equal((tell as unknown[]).length, 4)
  assert.deepEqual(await all(reader), [], 'nothing waits any more, whatever the index still says')
}

const opener = (t: { after(work: () => Promise<void>): void }, place: ClientOptions) => {
  const clients: Client[] = []
  t.after(async () => {
    for (const client of clients) await client.close({ release: false })
  })
  return async (options: ClientOptions): Promise<Client> => {
    const client = await connect({ ...place, ...options })
    clients.push(client)
    return client
  }
}

const EACH = 'semaphores, a rate limiter and a latch that calls wait for → listed, with permits; once served → not'

void test(`memory: ${EACH}`, { timeout: 60_000 }, async (t) => {
  await listsAll(await staged(opener(t, { url: `memory:shared-${process.pid}` })))
})

void test(`a cluster, with mapName: ${EACH}`, { timeout: 120_000 }, async (t) => {
  const cluster = await startCluster().catch((error: unknown) => {
    t.skip(String(error))
    return undefined
  })
  if (cluster === undefined) return
  t.after(() => cluster.stop())
  await listsAll(await staged(opener(t, { url: cluster.url, mapName: (name) => `app:${name}` })))
})

onServer(`a server: ${EACH}; by a user who only looks`, async ({ open, redis, server }) => {
  const stage = await staged(open)
  const user = await admit(redis, READER_LINE, 'secret-of-a-test')
  const looks = await open({ url: `redis://${user}@127.0.0.1:${server.port}`, presence: false })
  await until(async () => (await all(looks)).length === 4)
  assert.deepEqual(told(byKind(await all(looks))), ALL)
  await listsAll(stage)
})

onServer('waits of less than a second → no entry in the index', async ({ open, redis }) => {
  const [one, two] = [await open(), await open()]
  const semaphore = one.semaphore('s')
  await semaphore.trySetPermits(1)
  await semaphore.acquire()
  for (let i = 0; i < 10; i++) {
    const waits = two.semaphore('s').acquire()
    await sleep(300)
    await semaphore.release()
    await waits
    assert.equal(await redis.exists(indexKey(two.id)), 0)
  }
})

onServer(
  'entries that lie → a row only of what is there and waited for; other programs’ keys → none',
  async (broken) => {
    const { open, redis } = broken
    const liar = await open()
    const entry = JSON.stringify({ w: [1, 5] })
    await redis.set('text', 'no number')
    await redis.hset('hash', 'a', 'b')
    await redis.set('count', '5')
    await redis.rpush('holdfast_permits_line:{count}', 'x'.repeat(100_000))
    await redis.hset('limiter', { rate: 'x'.repeat(100_000), interval: '1', type: '0' })
    const kinds = ['semaphore', 'permitSemaphore', 'rateLimiter', 'countDownLatch']
    const entries = kinds.flatMap((kind) =>
      ['text', 'hash', 'count', 'limiter', 'none'].map((key) => [`${kind} ${key}`, entry] as const),
    )
    await redis.hset(indexKey(liar.id), Object.fromEntries(entries))
    const rows = await all(await open())
    // Only the clients of a latch say that they wait.
    assert.deepEqual(
      rows.map(({ kind, name, available }) => [kind, name, available]),
      [['countDownLatch', 'count', 5]],
    )
  },
)

onServer(
  'a limiter that calls wait for → how many permits are left in its window; what is uncertain is left out',
  async (broken) => {
    const { open, redis } = broken
    const [reader, waiter] = [await open(), await open()]
    const limiter = reader.rateLimiter('r')
    await limiter.trySetRate({ permits: 10, interval: 3_600_000 })
    await limiter.acquire({ permits: 3 })
    // A place that nobody asks about: a call would move the window.
    await redis.hset(indexKey(waiter.id), 'rateLimiter r', JSON.stringify({ w: [1, 5] }))
    await redis.zadd(limiterOrder('r'), '1', `${waiter.id}:1`)
    const window = async () => {
      const [row] = await all(reader, { kind: 'rateLimiter' })
      return row && [row.available, row.permits, row.interval]
    }
    assert.deepEqual(await window(), [7, 10, 3_600_000])

    const [value, grants] = [limiterValue('r'), limiterPermits('r')]
    const there = async () =>
      [await redis.get(value), await redis.zrange(grants, '0', '-1', 'WITHSCORES'), await redis.hgetall('r')] as const
    // What has left the window counts, but stays where it is.
    const [grant = Buffer.alloc(0)] = await redis.zrangeBuffer(grants, '0', '0')
    await redis.zadd(grants, String(Date.now()), Buffer.concat([Buffer.alloc(16, 1), Buffer.from([2, 0, 0, 0])]))
    await redis.zadd(grants, '1', grant)
    const before = await there()
    assert.deepEqual(await window(), [10, 10, 3_600_000])
    assert.deepEqual(await there(), before)

    for (const text of ['x', '99', '1e3', 'x'.repeat(100_000)]) {
      await redis.set(value, text)
      assert.deepEqual(await window(), [undefined, 10, 3_600_000], text.slice(0, 10))
    }
    await redis.set(value, '5')
    for (let i = 0; i < 200; i++) await redis.zadd(grants, String(i), `${i}${'x'.repeat(20)}`)
    assert.deepEqual(await window(), [undefined, 10, 3_600_000], 'too many grants have left the window')
    await redis.del(grants)
    assert.deepEqual(await window(), [10, 10, 3_600_000])
    await redis.hset('r', 'type', '1')
    assert.deepEqual(await window(), [undefined, 10, 3_600_000], 'each client has a window of its own')
    await redis.hset('r', { type: '0', interval: '-1' })
    assert.deepEqual(await window(), [undefined, 10, undefined])
    await redis.hset('r', { interval: '1000', [grants]: '1 1 1' })
    assert.deepEqual(await window(), [undefined, 10, 1000], 'a count runs')
  },
)
