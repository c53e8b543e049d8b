import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'holdfast'
import { Redis } from 'ioredis'
import { createClient as createClient5 } from 'node-redis5'
import { createClient as createClient6 } from 'node-redis6'
import type { Options } from '../../support/engines.js'
import { onServer } from '../../support/server.js'
import { watch } from '../contract/lock/kind.js'

const SILENCE = 1500

interface Lent {
  readonly connection: NonNullable<Options['connection']>
  end(): unknown
}

/** What this test uses of either version. */
interface NodeRedis {
  readonly isReady: boolean
  connect(): Promise<unknown>
  destroy(): void
  ping(): Promise<unknown>
  on(event: string, listener: () => void): unknown
}

const ofNodeRedis =
  (create: (options: object) => unknown) =>
  async (url: string): Promise<Lent> => {
    const client = create({ url }) as NodeRedis
    client.on('error', () => undefined)
    await client.connect()
    const pinging = setInterval(() => {
      if (!client.isReady) return
      const late = setTimeout(() => {
        client.destroy()
        client.connect().catch(() => undefined)
      }, SILENCE)
      client.ping().then(
        () => {
          clearTimeout(late)
        },
        () => undefined,
      )
    }, 2 * SILENCE)
    const end = (): void => {
      clearInterval(pinging)
      client.destroy()
    }
    return { connection: client as unknown as Lent['connection'], end }
  }

/** Each finds out by itself that its server is silent, as docs/connections.md advises. */
const CONNECTIONS: Readonly<Record<string, (url: string) => Promise<Lent>>> = {
  ioredis(url) {
    const connection = new Redis(url, { socketTimeout: SILENCE })
    connection.on('error', () => undefined)
    return Promise.resolve({ connection, end: () => connection.disconnect() })
  },
  'node-redis 5': ofNodeRedis((options) => createClient5(options)),
  'node-redis 6': ofNodeRedis((options) => createClient6(options)),
}

void describe(
  'a connection of the caller’s own that is open and dead, and found out by its owner',
  { concurrency: 3 },
  () => {
    for (const [name, lend] of Object.entries(CONNECTIONS)) {
      onServer(`${name} → a waiter, a hold and a topic go on`, async ({ proxy, redis, until, after }) => {
        const { connection, end } = await lend(proxy.url)
        const client = await connect({ connection, commandTimeout: 1000, watchdog: 12_000, presence: false })
        client.on('error', () => undefined)
        after(async () => {
          await client.close()
          end()
        })
        let gaps = 0
        const topic = await client.topic('t').subscribe(() => undefined)
        topic.on('gap', () => (gaps += 1))
        const hold = await client.lock('a').acquire()
        await redis.hset('b', 'foreign:1', 1)
        await redis.pexpire('b', 60_000)
        const waiting = watch(client.lock('b').acquire())
        await sleep(200)
        const begun = performance.now()
        proxy.stall('everything')
        await redis.del('b')
        const next = await waiting.promise
        const took = performance.now() - begun
        assert.ok(took < 3 * SILENCE + 3000, `${took} ms`)
        assert.ok(!hold.lost)
        await until(() => gaps > 0)
        await until(async () => (await redis.publish('t', '"again"')) === 1)
        assert.deepEqual(await Promise.all([hold.release(), next.release()]), [true, true])
      })
    }
  },
)
