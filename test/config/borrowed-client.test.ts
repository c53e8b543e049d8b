import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { ConfigError, connect, EngineError } from 'holdfast'
import type { Redis, RedisOptions } from 'ioredis'
import { rejection } from '../suites/contract/lock/kind.js'
import type { Client } from '../support/engines.js'
import type { Broken } from '../support/server.js'
import { onServer } from '../support/server.js'

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
}

const manifest = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.resolve('holdfast')), 'utf8'),
) as Manifest

/** The ioredis that is depended on, and those that are there under another name to be tested with. */
const versions = [
  'ioredis',
  ...Object.entries(manifest.devDependencies)
    .filter(([, from]) => from.startsWith('npm:ioredis@'))
    .map(([name]) => name),
]

/** How many listeners of each event there are on a connection. */
const listenersOn = (connection: Redis): Record<string, number> =>
  Object.fromEntries(connection.eventNames().map((event) => [String(event), connection.listenerCount(event)]))

for (const version of versions) {
  void describe(`a connection of the caller's own, ${version}`, { concurrency: 3 }, () => {
    type Opener = (options?: RedisOptions, url?: string) => Redis

    /** Gives a way to make connections of this version, which are ended after the test. */
    const onBorrowed = (name: string, body: (broken: Broken, own: Opener) => Promise<void>): void =>
      onServer(name, async (broken) => {
        const module = (await import(version)) as { Redis: new (url: string, options: RedisOptions) => Redis }
        const connections: Redis[] = []
        try {
          await body(broken, (options = {}, url = broken.server.url) => {
            const connection = new module.Redis(url, options)
            connections.push(connection)
            return connection
          })
        } finally {
          for (const connection of connections) connection.disconnect()
        }
      })

    const closing = async (body: (open: (connection: object) => Promise<Client>) => Promise<void>): Promise<void> => {
      const clients: Client[] = []
      try {
        await body(async (connection) => {
          const client = await connect({ connection })
          clients.push(client)
          return client
        })
      } finally {
        await Promise.all(clients.map((client) => client.close()))
      }
    }

    onBorrowed('lock, wait, wake-up, renewal → as on a connection of ours', async ({ redis }, own) =>
      closing(async (open) => {
        const [one, other] = [await open(own()), await open(own())]
        let waited = 0
        for (let round = 0; round < 15; round += 1) {
          const hold = await one.lock('a').acquire()
          assert.equal(await other.lock('a').tryAcquire(), undefined)
          const waiting = other.lock('a').acquire()
          await sleep(60)
          const begun = performance.now()
          assert.equal(await hold.release(), true)
          const next = await waiting
          waited += performance.now() - begun
          assert.equal(await next.release(), true)
        }
        assert.ok(waited < 15 * 250, `${waited / 15} ms on average: the poll, not the message, woke it`)
        assert.equal(await redis.exists('a'), 0)
      }),
    )

    onBorrowed(
      'ours closed → the caller’s is open and usable, and no listener of ours is on it',
      async (broken, own) => {
        const connection = own()
        await connection.ping()
        const before = listenersOn(connection)
        const client = await connect({ connection })
        const other = await connect({ url: broken.server.url })
        const hold = await other.lock('a').acquire()
        const waiting = rejection(client.lock('a').acquire())
        await broken.until(async () => (await broken.redis.pubsub('CHANNELS', '*')).length > 0)
        await client.close()
        await waiting
        await hold.release()
        await other.close()
        assert.equal(connection.status, 'ready')
        assert.deepEqual(listenersOn(connection), before)
        assert.equal(await connection.set('theirs', 1), 'OK')
        assert.equal(await connection.del('theirs'), 1)
        await broken.until(async () => {
          const list = String(await broken.redis.client('LIST'))
            .trim()
            .split('\n')
          return list.length === 2 && (await broken.redis.dbsize()) === 0
        })
        assert.deepEqual(await broken.redis.pubsub('CHANNELS', '*'), [])
      },
    )

    onBorrowed(
      'opened and closed 20 times on one connection → no listener is left, no warning',
      async (_broken, own) => {
        const connection = own()
        await connection.ping()
        const before = listenersOn(connection)
        const warnings: string[] = []
        const warn = (warning: Error): void => void warnings.push(String(warning))
        process.on('warning', warn)
        const clients = await Promise.all(Array.from({ length: 4 }, () => connect({ connection })))
        for (let round = 0; round < 16; round += 1) {
          const client = await connect({ connection })
          await client.lock('a').using(() => undefined)
          await client.close()
        }
        await Promise.all(clients.map((client) => client.close()))
        await sleep(20)
        process.off('warning', warn)
        assert.deepEqual(listenersOn(connection), before)
        assert.deepEqual(warnings, [])
      },
    )

    onBorrowed('not connected yet (lazyConnect) → connected, and works', async (_broken, own) =>
      closing(async (open) => {
        const connection = own({ lazyConnect: true })
        assert.equal(connection.status, 'wait')
        const client = await open(connection)
        assert.equal(await client.lock('a').using(() => 'done'), 'done')
      }),
    )

    onBorrowed('still connecting → waited for, and works', async (_broken, own) =>
      closing(async (open) => {
        const client = await open(own())
        assert.equal(await client.lock('a').using(() => 'done'), 'done')
      }),
    )

    onBorrowed('the caller’s subscriber options, offline queue and database → taken as they are', async (broken, own) =>
      closing(async (open) => {
        const options = { db: 3, enableOfflineQueue: false, autoResubscribe: true, commandTimeout: 60_000 }
        const connection = own({ ...options, lazyConnect: true })
        const client = await open(connection)
        const hold = await client.lock('a').acquire()
        assert.equal(await broken.redis.exists('a'), 0)
        assert.equal(await connection.exists('a'), 1)
        const other = await open(connection)
        const waiting = other.lock('a').acquire()
        await sleep(50)
        assert.equal(await hold.release(), true)
        assert.equal(await (await waiting).release(), true)
      }),
    )

    onBorrowed('cut and connected again → goes on; what was in doubt is asked', async ({ proxy, redis }, own) =>
      closing(async (open) => {
        const connection = own({ retryStrategy: () => 50 }, proxy.url)
        connection.on('error', () => undefined)
        const client = await open(connection)
        client.on('error', () => undefined)
        let reconnects = 0
        client.on('reconnect', () => (reconnects += 1))
        const hold = await client.lock('a').acquire()
        const waiting = client.lock('a').acquire()
        proxy.cut()
        await sleep(500)
        assert.equal(reconnects, 1)
        assert.equal(await hold.release(), true)
        assert.equal(await (await waiting).release(), true)
        assert.equal(await redis.exists('a'), 0)
      }),
    )

    onBorrowed(
      'ended by the caller while a lock is held → OFFLINE in time, and close does not hang',
      async (_broken, own) =>
        closing(async () => {
          const connection = own()
          const client = await connect({ connection, commandTimeout: 300 })
          client.on('error', () => undefined)
          await client.lock('a').acquire({ lease: 1000 })
          connection.disconnect()
          await sleep(50)
          const begun = performance.now()
          const error = await rejection(client.lock('b').acquire())
          assert.ok(error instanceof EngineError && error.code === 'OFFLINE', String(error))
          await client.close()
          assert.ok(performance.now() - begun < 5000)
        }),
    )

    onBorrowed(
      'never connected → EngineError within connectTimeout, no listener of ours is left',
      async (_broken, own) => {
        const connection = own({ retryStrategy: () => 100 }, 'redis://127.0.0.1:1')
        connection.on('error', () => undefined)
        const before = listenersOn(connection)
        const begun = performance.now()
        const error = await rejection(connect({ connection, connectTimeout: 500 }))
        assert.ok(performance.now() - begun < 2500)
        assert.ok(error instanceof EngineError && error.code === 'OFFLINE', String(error))
        assert.match(error.message, /the connection passed in/)
        assert.deepEqual(listenersOn(connection), before)
        assert.notEqual(connection.status, 'end')
      },
    )

    onBorrowed('with a keyPrefix → ConfigError that says what to do instead, nothing sent', async (_broken, own) => {
      const connection = own({ keyPrefix: 'app:', lazyConnect: true })
      const error = await rejection(connect({ connection }))
      assert.ok(error instanceof ConfigError)
      assert.match(error.message, /keyPrefix.*mapName/s)
      assert.equal(connection.status, 'wait')
    })

    onBorrowed('mapName in place of a keyPrefix → keys and channels under it', async (broken, own) => {
      const client = await connect({ connection: own(), mapName: (name) => `app:${name}` })
      await client.lock('a').using(async () => {
        const keys = await broken.redis.keys('*')
        assert.ok(keys.includes('app:a') && keys.every((key) => key.startsWith('app:')), keys.join())
      })
      await client.close()
    })
  })
}

void describe('what is no connection', () => {
  for (const connection of [{}, { callBuffer: 1 }, 'redis://127.0.0.1', 5, () => undefined]) {
    test(`connection: ${typeof connection} ${JSON.stringify(connection)} → ConfigError`, async () => {
      const error = await rejection(connect({ connection: connection as object }))
      assert.ok(error instanceof ConfigError, String(error))
      assert.match(error.message, /connection must be an ioredis client .* a node-redis client .* or a GlideClient/)
    })
  }

  test('a url and a connection → ConfigError', async () => {
    const error = await rejection(connect({ connection: {}, url: 'memory:' }))
    assert.ok(error instanceof ConfigError)
    assert.match(error.message, /not both/)
  })
})
