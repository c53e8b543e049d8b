import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, connect, type EngineError } from 'holdfast'
import { Redis } from 'ioredis'
import { textOf } from '#src/thrown.js'
import { admit, READER_LINE } from '../../support/acl.js'
import { startCluster } from '../../support/redis-cluster.js'
import { onServer } from '../../support/server.js'
import { until } from '../../support/until.js'
import { watched } from '../../support/watched.js'
import { lenders } from '../../suites/connections/lenders.js'

onServer(
  'the user of SECURITY.md who only looks → sees what happens, and writes nothing; a right taken away → an error that says so',
  async ({ server, redis, open }) => {
    const writer = await open({ label: 'writer' })
    const user = await admit(redis, READER_LINE, 'secret-of-a-test')
    const reader = await open({ url: `redis://${user}@127.0.0.1:${server.port}`, presence: false })
    const errors: unknown[] = []
    reader.on('error', (error) => void errors.push(error))
    const hold = await writer.fairLock('f').acquire()
    await sleep(2500)
    const [one, all] = [watched(reader, 'f'), watched(reader, { pattern: '*' })]
    await until(() => one.events.length === 1 && all.events.length === 1)
    const keys = (await redis.keys('*')).sort()
    await sleep(1000)
    assert.deepEqual((await redis.keys('*')).sort(), keys)
    await hold.release()
    await until(() => one.events.length === 2 && all.events.length === 2)
    assert.deepEqual(one.lines(), ['granted f', 'released f'])
    assert.deepEqual(all.lines(), ['granted f', 'released f'])
    assert.equal(one.events[1]?.label, 'writer')
    const clients = String(await redis.call('CLIENT', 'LIST')).split('\n')
    assert.deepEqual(
      clients.filter((line) => line.includes('user=holdfast-reader') && !line.includes('psub=0')),
      [],
      'it may not subscribe',
    )
    await redis.call('ACL', 'SETUSER', 'holdfast-reader', '-evalsha', '-eval')
    for (const { ended } of [one, all]) assert.equal(((await ended) as EngineError).code, 'NOPERM')
    assert.deepEqual(errors, [])
    await redis.call('ACL', 'SETUSER', 'holdfast-reader', '+evalsha', '+eval', 'resetkeys', '~holdfast:client:*')
    assert.equal(((await watched(reader, 'f').ended) as EngineError).code, 'NOPERM', 'it would look free')
  },
)

onServer('it may read only one lock → of the others, it shows nothing', async ({ server, redis, open }) => {
  const writer = await open()
  const user = await admit(redis, READER_LINE, 'secret-of-a-test')
  await redis.call(
    'ACL',
    'SETUSER',
    'holdfast-reader',
    'resetkeys',
    '~holdfast:client:*',
    '~mine',
    '~*{mine}',
    '~{mine}:*',
  )
  const reader = await open({ url: `redis://${user}@127.0.0.1:${server.port}`, presence: false })
  const holds = [await writer.lock('mine').acquire(), await writer.lock('theirs').acquire()]
  await sleep(2500)
  const all = watched(reader, { pattern: '*' })
  await until(() => all.events.length === 1)
  for (const hold of holds) await hold.release()
  await until(() => all.events.length === 2)
  await sleep(1500)
  await all.stop()
  assert.deepEqual(all.lines(), ['granted mine', 'released mine'])
})

onServer('the server is away → it goes on, and tells what has changed, as merged', async (broken) => {
  const { open, redis, restart } = broken
  const [holder, other] = [await open({ label: 'holder' }), await open({ label: 'other' })]
  const watcher = await open()
  for (const client of [holder, other, watcher]) client.on('error', () => undefined)
  await holder.lock('a').acquire({ lease: 60_000 })
  const watch = watched(watcher, 'a')
  await until(() => watch.events.length === 1)
  await restart()
  const owner = '00000000-0000-4000-8000-000000000000:55'
  await redis.hset('a', owner, 1)
  await redis.pexpire('a', 60_000)
  await until(() => watch.events.length >= 3)
  await watch.stop()
  const [, ended, granted] = watch.events
  // The server has forgotten everything: the hold, and what its client had published about it.
  assert.ok(ended?.type === 'deleted' || (ended?.type === 'released' && !ended.certain), JSON.stringify(ended))
  assert.deepEqual([granted?.type, granted?.owner, granted?.client], ['granted', owner, owner.slice(0, 36)])
  assert.deepEqual([ended.merged, granted?.merged, watch.events[0]?.merged], [true, true, undefined])
})

onServer(
  'a server that runs no scripts → the loop ends with what it says',
  async ({ open }) => {
    const client = await open()
    await assert.rejects(client.watch('a').next(), { name: 'EngineError', message: /unknown command/i })
  },
  ['--rename-command', 'EVALSHA', 'NO_EVALSHA'],
)

onServer(
  'another script blocks the server → it is reported once, and the loop goes on',
  async ({ open, redis, server }) => {
    const client = await open()
    const troubles: string[] = []
    client.on('error', (error) => troubles.push(textOf(error)))
    const watch = watched(client, 'a')
    await redis.hset('a', '00000000-0000-4000-8000-000000000000:55', 1)
    await until(() => watch.events.length === 1)
    await redis.config('SET', 'busy-reply-threshold', 50)
    const blocking = new Redis(server.url)
    const ended = blocking.eval('while true do end', 0).catch(() => undefined)
    await until(() => troubles.length > 0)
    await sleep(1000)
    await redis.script('KILL')
    await ended
    blocking.disconnect()
    await redis.del('a')
    await until(() => watch.events.length === 2)
    await watch.stop()
    assert.deepEqual(
      troubles.map((text) => text.includes('BUSY')),
      [true],
    )
  },
)

onServer(
  'a loop that takes no events → a bounded number waits, and it is told that more may have happened',
  async (broken) => {
    const { open, redis } = broken
    const [reader] = [await open()]
    const owner = (i: number): string => `00000000-0000-4000-8000-000000000000:${100_000_000 + i}`
    const some = redis.pipeline()
    some.hset('book', 'mode', 'read')
    for (let i = 0; i < 3000; i++) {
      some.rpush('holdfast_rwlock_queue:{book}', owner(i))
      some.zadd('holdfast_rwlock_timeout:{book}', Date.now() + 600_000, owner(i))
    }
    for (let i = 0; i < 3000; i++) some.rpush('redisson_lock_queue:{other}', owner(i))
    await some.exec()
    await redis.del('book')
    const events = reader.watch('book')
    await events.next()
    await sleep(500)
    const before = Number(/cmdstat_time:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1] ?? 0)
    await redis.del('holdfast_rwlock_queue:{book}', 'holdfast_rwlock_timeout:{book}')
    await sleep(2000)
    const looks = Number(/cmdstat_time:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1] ?? 0) - before
    assert.ok(looks <= 2, `${looks} looks for a loop that is full`)
    let told = 1
    let merged = false
    for await (const event of events) {
      told++
      merged ||= event.merged === true
      if (event.type === 'gave up' && told === 6000) break
    }
    assert.equal(told, 6000)
    assert.ok(merged)
  },
)

onServer(
  '1,000 locks → all of them at first, then each change, and no other command is delayed',
  async ({ open, redis }) => {
    const clients = await Promise.all(
      Array.from({ length: 10 }, async (_, i) => open({ label: `worker ${i}`, commandTimeout: 60_000 })),
    )
    const name = (i: number): string => `lock:${String(i).padStart(4, '0')}`
    const holds = await Promise.all(
      Array.from({ length: 1000 }, (_, i) => (clients[i % 10] as Client).lock(name(i)).acquire()),
    )
    await sleep(2500)
    const watch = watched(await open(), { pattern: 'lock:*' })
    await until(() => watch.events.length === 1000)
    assert.equal(new Set(watch.events.map((event) => event.name)).size, 1000)
    assert.ok(
      watch.events.every(({ type, initial, label }) => type === 'granted' && initial === true && label !== undefined),
    )
    await redis.config('RESETSTAT')
    await holds[7]?.release()
    await holds[777]?.release()
    await until(() => watch.events.length === 1002)
    assert.deepEqual(watch.lines().slice(1000).sort(), [`released ${name(7)}`, `released ${name(777)}`].sort())
    const [, each] = /cmdstat_evalsha:.*usec_per_call=([\d.]+)/.exec(await redis.info('commandstats')) ?? []
    assert.ok(Number(each) < 1000, `${each} us for each of its scripts`)
    await watch.stop()
  },
)

onServer('the loop ends → no subscription and no connection of it is left', async ({ open, redis }) => {
  const client = await open()
  const patterns = async (): Promise<number> => Number(await redis.call('PUBSUB', 'NUMPAT'))
  for (let i = 0; i < 3; i++) {
    const watch = watched(client, 'a')
    await until(async () => (await patterns()) === 4)
    await watch.stop()
    await until(async () => (await patterns()) === 0)
    assert.equal(await watch.ended, undefined)
  }
})

test(
  'on a cluster → locks of all slots, by name and by pattern, by each client library',
  { timeout: 120_000 },
  async (t) => {
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
    const names = Array.from({ length: 20 }, (_, i) => `lock:${String(i).padStart(2, '0')}`)
    for (const { name, lend } of lenders) {
      const { place, end } = await lend.cluster(cluster)
      const reader = await connect({ ...place, presence: false })
      try {
        const holds = await Promise.all(names.map((lock) => client.lock(lock).acquire()))
        await sleep(2500)
        const [all, one] = [watched(reader, { pattern: '*' }), watched(reader, 'lock:03')]
        await until(() => all.events.length === 20 && one.events.length === 1)
        for (const hold of holds) await hold.release()
        await until(() => all.events.length === 40 && one.events.length === 2)
        const of = (type: string): string[] =>
          all.events.filter((event) => event.type === type).map((event) => event.name)
        assert.deepEqual([of('granted').sort(), of('released').sort()], [names, names], name)
        assert.deepEqual(one.lines(), ['granted lock:03', 'released lock:03'])
        await Promise.all([all.stop(), one.stop()])
      } finally {
        await reader.close()
        await end()
      }
    }
  },
)
