import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import { ConfigError, connect, EngineError } from 'holdfast'
import { Redis } from 'ioredis'
import * as nodeRedis5 from 'node-redis5'
import * as nodeRedis6 from 'node-redis6'
import { started } from '../support/engines.js'
import { rejection } from '../suites/contract/lock/kind.js'
import { startRedis } from '../support/redis-server.js'
import type { Broken } from '../support/server.js'
import { onServer } from '../support/server.js'
import type { TlsServer } from '../support/tls-server.js'
import { startTlsServer } from '../support/tls-server.js'

const refused = async (work: ReturnType<typeof connect>, text: RegExp, within = 3000): Promise<void> => {
  const begun = performance.now()
  work.then((client) => client.close()).catch(() => undefined)
  const error = await rejection(work)
  // What only another URL would mend is a mistake in the settings.
  assert.ok(
    text.source.includes('database') ? error instanceof ConfigError : error instanceof EngineError,
    String(error),
  )
  assert.match((error as Error).message, text)
  assert.ok(performance.now() - begun < within, `${performance.now() - begun} ms`)
}

interface NodeRedis {
  on(event: 'error', listener: () => void): unknown
  connect(): Promise<unknown>
  destroy(): void
}

const NODE_REDIS: Readonly<Record<string, (url: string) => NodeRedis>> = {
  5: (url) => nodeRedis5.createClient({ url }),
  6: (url) => nodeRedis6.createClient({ url }),
}

const databases = async ({ redis }: Broken): Promise<string> => redis.info('keyspace')

void describe('a connection that is not what was asked for', { concurrency: 3 }, () => {
  onServer('a database that the server has not → connect rejects and says so; nothing is written', async (broken) => {
    await refused(
      connect(`${broken.server.url}/99`),
      /^cannot connect to redis:\/\/[\d.:]+: database 99 does not exist: .*index[^()]*$/,
    )
    const retrying = connect({ url: `${broken.server.url}/99`, retry: { timeout: 60_000 } })
    await refused(retrying, /database 99 does not exist/)
    assert.doesNotMatch(await databases(broken), /db\d/)
  })

  for (const [version, createClient] of Object.entries(NODE_REDIS)) {
    for (const state of ['closed', 'connecting'] as const) {
      onServer(
        `a client of node-redis ${version}, ${state}, for a database that is not there → the same`,
        async (broken) => {
          const connection = createClient(`${broken.server.url}/99`)
          connection.on('error', () => undefined)
          broken.after(() => connection.destroy())
          if (state === 'connecting') connection.connect().catch(() => undefined)
          await refused(connect({ connection }), /its database does not exist: DB index is out of range/)
          assert.doesNotMatch(await databases(broken), /db\d/)
        },
      )
    }
  }

  onServer('a user who may not SELECT → connect rejects with NOPERM', async (broken) => {
    await broken.redis.call('ACL', 'SETUSER', 'bob', 'on', '>s3cret', '~*', '&*', '+@all', '-select')
    const url = broken.server.url.replace('//', '//bob:s3cret@')
    await refused(connect(`${url}/3`), /select/i)
    assert.doesNotMatch(await databases(broken), /db\d/)
    const client = await connect(url)
    await client.lock('a').using(() => undefined)
    await client.close()
  })

  onServer('a wrong password, a user who is not there → connect rejects with WRONGPASS', async (broken) => {
    await broken.redis.call('ACL', 'SETUSER', 'bob', 'on', '>s3cret', '~*', '&*', '+@all')
    for (const user of ['bob:wrong', 'eve:s3cret'])
      await refused(connect(broken.server.url.replace('//', `//${user}@`)), /WRONGPASS/)
  })

  onServer('a connection of ioredis whose SELECT was refused → connect rejects', async (broken) => {
    const connection = new Redis(broken.server.url, { db: 99 })
    connection.on('error', () => undefined)
    broken.after(() => connection.disconnect())
    await refused(connect({ connection }), /: database 99 does not exist: /)
  })

  onServer('a connection of ioredis, ready, in another database than it believes → connect rejects', async (broken) => {
    const connection = new Redis(broken.server.url, { db: 99 })
    connection.on('error', () => undefined)
    broken.after(() => connection.disconnect())
    await broken.until(() => connection.status === 'ready')
    await refused(connect({ connection }), /its database does not exist: .* in database 0, not in 99/)
    await connection.select(5)
    const client = await connect({ connection })
    await client.lock('a').using(() => undefined)
    await client.close()
  })

  for (const lent of [false, true]) {
    onServer(
      `a new server behind the address lacks the database → ${lent ? 'the lent connection is' : 'it is'} not used till it has it, nothing is written elsewhere`,
      async (broken) => {
        const small = await startRedis(['--databases', '1'])
        const watcher = new Redis(small.url)
        broken.after(() => (watcher.disconnect(), small.stop()))
        const connection = lent ? new Redis(`${broken.proxy.url}/3`) : undefined
        connection?.on('error', () => undefined)
        broken.after(() => connection?.disconnect())
        const options = { commandTimeout: 300, watchdog: 900 }
        const client = await connect(
          connection ? { connection, ...options } : { url: `${broken.proxy.url}/3`, ...options },
        )
        broken.after(() => client.close())
        const errors: string[] = []
        client.on('error', ({ message }) => void errors.push(message))
        const hold = await client.lock('a').acquire()
        broken.proxy.target = small.port
        broken.proxy.cut()
        await broken.until(() => errors.some((message) => message.includes('SELECT')))
        await broken.until(() => hold.state === 'lost')
        const error = await rejection(client.lock('b').acquire())
        assert.ok(error instanceof EngineError && error.code === 'OFFLINE', String(error))
        const seen = await watcher.info('commandstats')
        assert.doesNotMatch(seen, /cmdstat_(evalsha|eval|set|del):/)
        broken.proxy.target = broken.server.port
        broken.proxy.cut()
        await broken.until(
          async () =>
            (await client
              .lock('b')
              .tryAcquire()
              .catch(() => undefined)) !== undefined,
        )
        assert.match(await databases(broken), /db3:keys/)
        assert.doesNotMatch(await databases(broken), /db0:/)
      },
    )
  }
})

void describe('TLS on one side only', () => {
  const onTls = (name: string, body: (server: TlsServer) => Promise<void>): void => {
    test(name, { timeout: 60_000 }, async (t) => {
      let server: TlsServer | undefined
      const start = async (): Promise<void> => {
        server = await startTlsServer()
      }
      const skip = await started({ name, virtual: false, concurrency: 1, start, open: () => assert.fail() })
      if (skip !== undefined || server === undefined) {
        t.skip(skip ?? 'no server')
        return
      }
      t.after(() => server?.stop())
      await body(server)
    })
  }

  onTls('rediss: to a plain port → connect says soon that the server does not speak TLS there', async ({ server }) => {
    await refused(connect(`rediss://127.0.0.1:${server.port}`), /does not speak TLS/, 4000)
  })

  onTls('redis: to a TLS port → connect says soon that the server speaks TLS there', async ({ port }) => {
    await refused(connect(`redis://127.0.0.1:${port}`), /speaks TLS.*rediss:/, 4000)
  })

  test('rediss: to a host that says nothing → no answer, as before, and no connection is left', async () => {
    const sockets = new Set<unknown>()
    const host = createServer((socket) => {
      sockets.add(socket)
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket))
      socket.resume()
    }).listen(0, '127.0.0.1')
    await once(host, 'listening')
    const address = host.address()
    assert.ok(address !== null && typeof address === 'object')
    await refused(
      connect({ url: `rediss://127.0.0.1:${address.port}`, connectTimeout: 1500 }),
      /no answer within 1500 ms|ETIMEDOUT/,
    )
    while (sockets.size > 0) await new Promise((resolve) => setTimeout(resolve, 10))
    host.close()
  })
})
