import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'holdfast'
import { Redis } from 'ioredis'
import type { Client, Options } from './engines.js'
import { started } from './engines.js'
import type { Proxy } from './proxy.js'
import { startProxy } from './proxy.js'
import type { RedisServer } from './redis-server.js'
import { startRedis } from './redis-server.js'

/** A server for one test alone, to be broken at will. */
export interface Broken {
  server: RedisServer
  readonly redis: Redis
  readonly proxy: Proxy
  /** Through the proxy. */
  open(options?: Partial<Options>): Promise<Client>
  restart(): Promise<void>
  until(condition: () => Promise<boolean> | boolean, limit?: number): Promise<void>
  /** When the test is over, however it ended. */
  after(work: () => unknown): void
}

export const onServer = (name: string, body: (broken: Broken) => Promise<void>, args: readonly string[] = []): void => {
  void test(name, { timeout: 120_000 }, async (t) => {
    let server: RedisServer | undefined
    const start = async (): Promise<void> => {
      server = await startRedis(args)
    }
    const skip = await started({ name, virtual: false, concurrency: 1, start, open: () => assert.fail() })
    if (skip !== undefined || server === undefined) {
      t.skip(skip ?? 'no server')
      return
    }
    const proxy = await startProxy(server.port)
    const redis = new Redis(server.url, { retryStrategy: () => 50, maxRetriesPerRequest: null })
    redis.on('error', () => undefined)
    const clients: Client[] = []
    const rest: (() => unknown)[] = []
    const broken: Broken = {
      server,
      redis,
      proxy,
      async open(options = {}) {
        const client = await connect({ url: proxy.url, ...options })
        clients.push(client)
        return client
      },
      async restart() {
        await broken.server.stop()
        broken.server = await startRedis([...args, '--port', String(broken.server.port)])
        await redis.ping()
      },
      async until(condition, limit = 10_000) {
        const end = performance.now() + limit
        while (!(await condition())) {
          assert.ok(performance.now() < end, `not so within ${limit} ms`)
          await sleep(10)
        }
      },
      after: (work) => void rest.push(work),
    }
    // A body that never ends has no `finally`: what it left would keep the whole file, long after its time-out.
    t.after(async () => {
      await Promise.all(rest.map((work) => work()))
      await Promise.all(clients.map((client) => client.close()))
      redis.disconnect()
      await proxy.close()
      await broken.server.stop()
    })
    await body(broken)
  })
}

const onceAsked = async ({ proxy }: Broken): Promise<void> =>
  new Promise((resolve) => {
    proxy.onRequest = (request) => {
      if (!/evalsha|eval|\r\nget\r\n/i.test(request)) return
      proxy.onRequest = () => undefined
      resolve()
    }
  })

/** The server does what it was asked, and its answer is lost with the connection. */
export const loseNextAnswer = (broken: Broken): Promise<void> => {
  broken.proxy.mute = true
  return onceAsked(broken).then(async () => {
    await sleep(50)
    broken.proxy.cut()
    broken.proxy.mute = false
  })
}
