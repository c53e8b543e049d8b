import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, connect, type EngineError, type ListedLock, type ListOptions } from 'holdfast'
import { Redis } from 'ioredis'
import { admit, READER_LINE } from '../../support/acl.js'
import { startCluster } from '../../support/redis-cluster.js'
import { onServer } from '../../support/server.js'
import { lenders } from '../../suites/connections/lenders.js'
import { rejection } from '../../suites/contract/lock/kind.js'

const all = async (client: Client, options?: ListOptions): Promise<ListedLock[]> => {
  const rows: ListedLock[] = []
  for await (const row of client.list(options)) rows.push(row)
  return rows
}

onServer(
  '1,000 locks of 20 clients → all of them, each once, in the order of their keys, and no other script is delayed',
  async ({ open, redis }) => {
    const clients = await Promise.all(Array.from({ length: 20 }, async (_, i) => open({ label: `worker ${i}` })))
    await Promise.all(
      Array.from({ length: 1000 }, (_, i) =>
        (clients[i % 20] as Client).lock(`lock:${String(i).padStart(4, '0')}`).acquire(),
      ),
    )
    const [reader] = clients as [Client]
    await sleep(2000)
    await redis.config('RESETSTAT')
    const rows = await all(reader)
    assert.deepEqual(
      rows.map(({ name }) => name),
      Array.from({ length: 1000 }, (_, i) => `lock:${String(i).padStart(4, '0')}`),
    )
    assert.deepEqual(
      rows.map(({ holders }) => holders[0]?.label),
      rows.map((_, i) => `worker ${i % 20}`),
    )
    const [, each] = /cmdstat_evalsha:.*usec_per_call=([\d.]+)/.exec(await redis.info('commandstats')) ?? []
    assert.ok(Number(each) < 1000, `${each} us for each of its scripts`)
    assert.equal((await all(reader, { pattern: 'lock:09[0-4]?' })).length, 50)
  },
)

onServer(
  'the user of SECURITY.md who only looks → lists and scans, and can change nothing; without +scan → an error that says so',
  async ({ server, redis, open }) => {
    const writer = await open()
    await writer.fairLock('f').acquire()
    await writer.readWriteLock('rw').read.acquire()
    await writer.keyedLock('g', ['a', 'b']).acquire()
    await writer.fencedLock('t').acquire()
    const user = await admit(redis, READER_LINE, 'secret-of-a-test')
    const reader = await open({ url: `redis://${user}@127.0.0.1:${server.port}`, presence: false })
    await sleep(2000)
    const held = (await redis.keys('*')).sort()
    const rows = async (options?: ListOptions): Promise<string[]> =>
      (await all(reader, options)).map(({ kind, name }) => `${kind} ${name}`).sort()
    const locks = ['fairLock f', 'fencedLock t', 'keyedLock g', 'readWriteLock rw']
    assert.deepEqual(await rows(), locks)
    assert.deepEqual(await rows({ scan: true }), locks)
    assert.equal((await reader.fairLock('f').inspect()).holders[0]?.client, writer.id)
    const refused = async (promise: Promise<unknown>): Promise<void> => {
      assert.equal(((await rejection(promise)) as EngineError).code, 'NOPERM')
    }
    for (const lock of [reader.lock('free'), reader.fairLock('free'), reader.readWriteLock('free').read])
      await refused(lock.tryAcquire())
    await refused(reader.fairLock('f').forceRelease())
    assert.deepEqual((await redis.keys('*')).sort(), held)
    const may = (...rules: string[]): Promise<unknown> => redis.call('ACL', 'SETUSER', 'holdfast-reader', ...rules)
    await may('-scan')
    await refused(all(reader, { scan: true }))
    await may('+scan', '-hkeys')
    await refused(all(reader, { scan: true }))
    await may('+hkeys', '-hgetall', '-hget', '-hscan')
    await refused(all(reader))
    await may('+hgetall', '+hget', '+hscan', 'resetkeys', '~holdfast:client:*', '~f', '~*{f}')
    for (const scan of [false, true]) assert.deepEqual(await rows({ scan }), ['fairLock f'], 'the others are left out')
  },
)

onServer(
  'a scan beside 200,000 other keys → finds Redisson’s locks; no step takes long',
  async ({ server, redis, open }) => {
    for (let from = 0; from < 200_000; from += 1000) {
      const some = redis.pipeline()
      for (let i = from; i < from + 1000; i++) some.hset(`session:${i}`, 'user', i, 'at', i)
      await some.exec()
    }
    await redis.hset('theirs', '00000000-0000-4000-8000-000000000000:55', 1)
    await redis.pexpire('theirs', 60_000)
    const client = await open()
    await client.lock('ours').acquire()
    const other = new Redis(server.url)
    const waits: number[] = []
    let going = true
    const watching = (async (): Promise<void> => {
      while (going) {
        const began = performance.now()
        await other.ping()
        waits.push(performance.now() - began)
        await sleep(1)
      }
    })()
    let looked = 0
    const rows = await all(client, { scan: true, onProgress: (progress) => void (looked = progress.looked) })
    going = false
    await watching
    other.disconnect()
    assert.deepEqual(
      rows.map(({ name }) => name),
      ['ours', 'theirs'],
    )
    assert.ok(looked >= 200_000)
    const sorted = waits.sort((a, b) => a - b)
    const most = sorted[Math.floor(sorted.length * 0.95)] ?? 0
    assert.ok(most < 20, `a ping took ${most} ms`)
  },
)

void test('on a cluster → locks of all slots, by the index and by a scan', { timeout: 120_000 }, async (t) => {
  const cluster = await startCluster().catch((error: unknown) => {
    t.skip(String(error))
    return undefined
  })
  if (cluster === undefined) return
  const opened: Client[] = []
  t.after(async () => {
    for (const client of opened) await client.close()
    await cluster.stop()
  })
  const client = await connect(cluster.url)
  opened.push(client)
  const names = Array.from({ length: 30 }, (_, i) => `lock:${i}`)
  await Promise.all(names.map((name) => client.lock(name).acquire()))
  const scanned = await all(client, { scan: true })
  assert.deepEqual(scanned.map(({ name }) => name).sort(), [...names].sort(), 'by a scan, before they are old')
  await sleep(2000)
  for (const { name, lend } of lenders) {
    const { place, end } = await lend.cluster(cluster)
    const reader = await connect({ ...place, presence: false })
    try {
      for (const scan of [false, true])
        assert.deepEqual((await all(reader, { scan })).map((row) => row.name).sort(), [...names].sort(), name)
    } finally {
      await reader.close()
      await end()
    }
  }
})
