import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, connect, type ListedLock, type ListOptions } from 'holdfast'
import { Redis } from 'ioredis'
import { startCluster } from '../../support/redis-cluster.js'
import { onServer } from '../../support/server.js'
import { rejection } from '../../suites/contract/lock/kind.js'

const all = async (client: Client, options?: ListOptions): Promise<ListedLock[]> => {
  const rows: ListedLock[] = []
  for await (const row of client.list(options)) rows.push(row)
  return rows
}

/** What a user who only looks may do. */
const LOOKS =
  '+ping +select +info +time +eval +evalsha +cluster|slots +get +exists +type +pttl +hget +hmget +hgetall +hkeys +hlen +hexists +hscan +hstrlen ' +
  '+lrange +llen +lindex +zrange +zscore +zcard +zcount'

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
    assert.equal(rows[7]?.holders[0]?.label, 'worker 7')
    const [, each] = /cmdstat_evalsha:.*usec_per_call=([\d.]+)/.exec(await redis.info('commandstats')) ?? []
    assert.ok(Number(each) < 1000, `${each} us for each of its scripts`)
    assert.equal((await all(reader, { pattern: 'lock:09[0-4]?' })).length, 50)
  },
)

onServer(
  'a user who may only read → lists what is held; without its commands → an error that says so',
  async ({ server, redis, open }) => {
    const writer = await open()
    await writer.fairLock('f').acquire()
    await writer.readWriteLock('rw').read.acquire()
    await writer.keyedLock('g', ['a', 'b']).acquire()
    await writer.fencedLock('t').acquire()
    await redis.call('ACL', 'SETUSER', 'looks', 'reset', 'on', '>secret', '~*', ...LOOKS.split(' '))
    const port = new URL(server.url).port
    const reader = await connect({ url: `redis://looks:secret@127.0.0.1:${port}`, presence: false })
    await sleep(2000)
    assert.deepEqual((await all(reader)).map(({ kind, name }) => `${kind} ${name}`).sort(), [
      'fairLock f',
      'fencedLock t',
      'keyedLock g',
      'readWriteLock rw',
    ])
    assert.match(String(await rejection(all(reader, { scan: true }))), /NOPERM|scan|dbsize/)
    await redis.call('ACL', 'SETUSER', 'looks', '+scan', '+dbsize')
    assert.equal((await all(reader, { scan: true })).length, 4)
    await reader.close()
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
  assert.deepEqual((await all(client)).map(({ name }) => name).sort(), [...names].sort())
})
