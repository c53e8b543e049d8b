import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import assert from 'node:assert/strict'
import { connect, type ClientOptions, type MultiLock } from 'holdfast'
import { Redis } from 'ioredis'
import { type Client, redisEngine, started } from '../../support/engines.js'
import { type RedisServer, startRedis } from '../../support/redis-server.js'

/** One party: a client of each server. */
export interface Seat {
  readonly clients: readonly Client[]
  lock(name: string, order?: readonly number[]): MultiLock
}

export interface Ring {
  readonly servers: readonly RedisServer[]
  readonly name: string
  seat(options?: ClientOptions): Promise<Seat>
  kill(index: number): Promise<void>
  stop(index: number): void
  /** On from there. */
  go(index: number): void
  /** On how many of the servers that live it is held. */
  held(): Promise<number>
}

/** Inside a `describe`: each test has so many servers of its own, and nothing is left on those that live. */
export const ringOf = (count: number): ((title: string, body: (ring: Ring) => Promise<void>) => void) => {
  let reason: string | undefined
  before(async () => {
    reason = await started({ ...redisEngine, start: async () => (await startRedis()).stop() })
  })
  const ends: (() => Promise<unknown>)[] = []
  after(async () => {
    for (const end of ends) await end()
  })
  let names = 0
  return (title, body) => {
    void test(`${count} servers: ${title}`, { timeout: 90_000 }, async (t) => {
      if (reason !== undefined) {
        t.skip(reason)
        return
      }
      const servers = await Promise.all(Array.from({ length: count }, () => startRedis()))
      const stopped = new Set<number>()
      const dead = new Set<number>()
      const clients: Client[] = []
      const name = `ring${(names += 1)}`
      const living = (): RedisServer[] => servers.filter((_, index) => !dead.has(index) && !stopped.has(index))
      const ring: Ring = {
        servers,
        name,
        async seat(options = {}) {
          const own = await Promise.all(
            servers.map(({ url }) => connect({ url, presence: false, commandTimeout: 1500, ...options })),
          )
          for (const client of own) client.on('error', () => undefined)
          clients.push(...own)
          const all = servers.map((_, index) => index)
          return {
            clients: own,
            lock: (of, order = all) =>
              (own[0] as Client).redLock(...order.map((index) => (own[index] as Client).lock(of))),
          }
        },
        async kill(index) {
          dead.add(index)
          await (servers[index] as RedisServer).stop()
        },
        stop(index) {
          stopped.add(index)
          process.kill((servers[index] as RedisServer).pid, 'SIGSTOP')
        },
        go(index) {
          stopped.delete(index)
          process.kill((servers[index] as RedisServer).pid, 'SIGCONT')
        },
        async held() {
          const found = await Promise.all(living().map((server) => ask(server, ['EXISTS', name])))
          return found.filter((one) => one === 1).length
        },
      }
      try {
        await body(ring)
        await Promise.all(clients.map((client) => client.close()))
        for (const server of living()) {
          for (const end = performance.now() + 5000; performance.now() < end; await sleep(50))
            if (((await ask(server, ['DBSIZE'])) as number) === 0) break
          assert.deepEqual(await ask(server, ['KEYS', '*']), [], 'a key is left')
        }
      } finally {
        for (const index of stopped) process.kill((servers[index] as RedisServer).pid, 'SIGCONT')
        await Promise.all(servers.filter((_, index) => !dead.has(index)).map((server) => server.stop()))
        await Promise.all(clients.map((client) => client.close()))
      }
    })
  }
}

const ask = async (server: RedisServer, [name = '', ...args]: readonly string[]): Promise<unknown> => {
  const redis = new Redis(server.url)
  try {
    return await redis.call(name, ...args)
  } finally {
    redis.disconnect()
  }
}
