import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { ConfigError, connect, EngineError } from 'holdfast'
import { kinds } from '../contract/kinds.js'
import { lockContract } from '../contract/lock.contract.js'
import { rejection, times } from '../contract/lock/kind.js'
import { redissonLines } from '../contract/semaphore/redisson.js'
import { waiting as semaphoreWaiting } from '../contract/semaphore/waiting.js'
import type { Client } from '../../support/engines.js'
import { lentEngine, redisEngine, scenarios, started } from '../../support/engines.js'
import { startCluster } from '../../support/redis-cluster.js'
import { startWatched } from '../../support/redis-sentinel.js'
import { onServer } from '../../support/server.js'
import { until } from '../../support/until.js'

/** What these tests use of either version. */
interface Connection {
  readonly isOpen: boolean
  connect(): Promise<unknown>
  destroy(): unknown
  on(event: string, listener: (what: unknown) => void): unknown
  listenerCount(event: string): number
  eventNames(): readonly (string | symbol)[]
}
interface Library {
  createClient(options: object): Connection & { sendCommand(argv: string[]): Promise<unknown> }
  createSentinel(options: object): Connection
  createCluster(options: object): Connection
}

const opened = async <C extends Connection>(connection: C): Promise<C> => {
  connection.on('error', () => undefined)
  await connection.connect()
  return connection
}

const listenersOn = (connection: Connection): Record<string, number> =>
  Object.fromEntries(connection.eventNames().map((event) => [String(event), connection.listenerCount(String(event))]))

/** Two clients on two connections: taken, waited for, woken, many at once, and nothing left. */
const useBoth = async (one: Client, other: Client, names: readonly string[]): Promise<void> => {
  let waited = 0
  for (const name of names) {
    for (const kind of ['lock', 'fairLock'] as const) {
      const hold = await one[kind](`${kind} ${name}`).acquire()
      assert.equal(await other[kind](`${kind} ${name}`).tryAcquire(), undefined)
      const waiting = other[kind](`${kind} ${name}`).acquire()
      await sleep(60)
      const begun = performance.now()
      assert.equal(await hold.release(), true)
      const next = await waiting
      waited += performance.now() - begun
      assert.equal(await next.release(), true)
    }
  }
  assert.ok(waited < 2 * names.length * 300, `${waited / 2 / names.length} ms on average: the poll woke it`)
  let inside = 0
  const calls = times(30, (i) =>
    (i % 2 === 0 ? one : other).lock('all').using(async () => {
      inside += 1
      assert.equal(inside, 1, 'two inside')
      await sleep(2)
      inside -= 1
    }),
  )
  await Promise.all(calls)
}

for (const version of ['node-redis5', 'node-redis6']) {
  // Before the tests begin: it takes its time.
  const library = (await import(version)) as Library

  const engine = lentEngine(version, async (url) => {
    const connection = await opened(library.createClient({ url }))
    return { connection, end: () => connection.destroy() }
  })
  for (const kind of kinds.filter(({ name }) => name === 'lock' || (name === 'fairLock' && version === 'node-redis6')))
    lockContract(kind, engine)
  void describe(`semaphore on ${version}`, { concurrency: 32 }, () => {
    const scenario = scenarios(engine)
    for (const part of [redissonLines, semaphoreWaiting]) part(scenario)
  })

  void describe(`a connection of the caller’s own, ${version}`, { concurrency: 2 }, () => {
    onServer(
      'closed → the caller’s is as it was: open, its listeners, its database',
      async ({ server, redis, until: so }) => {
        const connection = await opened(library.createClient({ url: server.url, database: 2 }))
        try {
          const before = listenersOn(connection)
          const [one, other] = [await connect({ connection }), await connect({ url: `${server.url}/2` })]
          const hold = await other.lock('a').acquire()
          assert.equal(await one.lock('a').tryAcquire(), undefined)
          const waiting = one.lock('a').acquire()
          await so(async () => (await redis.pubsub('CHANNELS', '*')).length > 0)
          await hold.release()
          await (await waiting).release()
          await Promise.all([one.close(), other.close()])
          assert.deepEqual(listenersOn(connection), before)
          assert.equal(await connection.sendCommand(['SET', 'theirs', '1']), 'OK')
          await redis.select(2)
          assert.deepEqual(await redis.keys('*'), ['theirs'])
          assert.deepEqual(await redis.pubsub('CHANNELS', '*'), [])
          await so(
            async () =>
              String(await redis.client('LIST'))
                .trim()
                .split('\n').length === 2,
          )
        } finally {
          connection.destroy()
        }
      },
    )

    onServer('cut and connected again → goes on; what was in doubt is asked', async ({ proxy, redis }) => {
      const connection = await opened(library.createClient({ url: proxy.url }))
      const client = await connect({ connection })
      client.on('error', () => undefined)
      try {
        let reconnects = 0
        client.on('reconnect', () => (reconnects += 1))
        const hold = await client.lock('a').acquire()
        const waiting = client.lock('a').acquire()
        proxy.cut()
        await until(() => reconnects === 1)
        assert.equal(await hold.release(), true)
        assert.equal(await (await waiting).release(), true)
        assert.equal(await redis.exists('a'), 0)
      } finally {
        await client.close()
        connection.destroy()
      }
    })

    onServer('with a keyPrefix → ConfigError that says what to do instead', async ({ server }) => {
      const connection = library.createClient({ url: server.url, keyPrefix: 'app:' })
      const error = await rejection(connect({ connection }))
      assert.ok(error instanceof ConfigError, String(error))
      assert.match(error.message, /keyPrefix.*mapName/s)
    })

    onServer('ended by the caller → OFFLINE in time, and close does not hang', async ({ server }) => {
      const connection = await opened(library.createClient({ url: server.url }))
      const client = await connect({ connection, commandTimeout: 300 })
      await client.lock('a').acquire({ lease: 500 })
      connection.destroy()
      const error = await rejection(client.lock('b').acquire())
      assert.ok(error instanceof EngineError && error.code === 'OFFLINE', String(error))
      await client.close()
    })

    onServer(
      'a script that does not end → stopped over a connection of its own',
      async ({ server }) => {
        const connection = await opened(library.createClient({ url: server.url }))
        const client = await connect({ connection })
        const endless = rejection(client.script('while true do end').run())
        await sleep(100)
        await client.scripts.kill()
        assert.match(String(await endless), /killed/i)
        await client.close()
        connection.destroy()
      },
      ['--busy-reply-threshold', '50'],
    )

    test('createCluster → each name on its node, messages too', { timeout: 60_000 }, async (t) => {
      let cluster: Awaited<ReturnType<typeof startCluster>> | undefined
      const skip = await started({ ...redisEngine, start: async () => void (cluster = await startCluster()) })
      if (cluster === undefined) return t.skip(skip ?? 'no server')
      const rootNodes = cluster.nodes.map(({ port }) => ({ url: `redis://127.0.0.1:${port}` }))
      const connections = [library.createCluster({ rootNodes }), library.createCluster({ rootNodes })]
      try {
        await Promise.all(connections.map(opened))
        const [one, other] = [
          await connect({ connection: connections[0]! }),
          await connect({ connection: connections[1]! }),
        ]
        await useBoth(one, other, ['a', 'b', 'c', 'x{tag}'])
        const sha = await one.scripts.load('return 1')
        assert.deepEqual(await other.scripts.exists(sha), [true])
        for (const { redis } of cluster.nodes) assert.deepEqual(await redis.script('EXISTS', sha), [1])
        await one.scripts.flush()
        for (const { redis } of cluster.nodes) assert.deepEqual(await redis.script('EXISTS', sha), [0])
        await Promise.all([one.close(), other.close()])
        for (const { redis } of cluster.nodes) assert.deepEqual(await redis.keys('*'), [])
        assert.ok(connections.every(({ isOpen }) => isOpen))
      } finally {
        for (const connection of connections) connection.destroy()
        await cluster.stop()
      }
    })

    test('createSentinel → the master; through a failover', { timeout: 120_000 }, async (t) => {
      let watched: Awaited<ReturnType<typeof startWatched>> | undefined
      const skip = await started({ ...redisEngine, start: async () => void (watched = await startWatched(1)) })
      if (watched === undefined) return t.skip(skip ?? 'no server')
      const sentinelRootNodes = watched.sentinels.map(({ port }) => ({ host: '127.0.0.1', port }))
      const make = (): Connection => library.createSentinel({ name: 'main', sentinelRootNodes })
      const connections = [make(), make()]
      try {
        await Promise.all(connections.map(opened))
        const [one, other] = [
          await connect({ connection: connections[0]! }),
          await connect({ connection: connections[1]! }),
        ]
        one.on('error', () => undefined)
        other.on('error', () => undefined)
        await useBoth(one, other, ['a', 'b', 'c'])
        const hold = await one.lock('kept').acquire()
        await watched.failOver()
        await until(() => hold.state === 'held')
        assert.equal(await hold.release(), true)
        await until(() =>
          other
            .lock('kept')
            .using(() => true)
            .catch(() => false),
        )
        await Promise.all([one.close(), other.close()])
      } finally {
        for (const connection of connections) await connection.destroy()
        await watched.stop()
      }
    })
  })
}
