import assert from 'node:assert/strict'
import { Redis } from 'ioredis'
import type { RedisServer } from './redis-server.js'
import { startRedis, startSentinel } from './redis-server.js'
import { until } from './until.js'

export interface Passwords {
  readonly server?: string
  readonly sentinel?: string
}

export interface Watched {
  /** `redis+sentinel://` with all sentinels. */
  readonly url: string
  /** The first was the master to begin with. */
  readonly servers: readonly RedisServer[]
  readonly sentinels: readonly RedisServer[]
  /** Where all sentinels say that the master is. */
  master(): Promise<RedisServer>
  /** Resolves when all sentinels have another master than this one. */
  movedFrom(master: RedisServer): Promise<void>
  failOver(): Promise<void>
  /** A connection to one of the servers, ended with the rest. */
  ask(server: RedisServer): Redis
  stop(): Promise<void>
}

/** What the redundancy does not say is not waited for: the sentinels need a second to believe that a master is down. */
const DOWN_AFTER = 1000

/** A master, its replicas, and three sentinels, two of which must agree. Rejects with code `NO_REDIS` as `startRedis` does. */
export const startWatched = async (
  replicas: number,
  { server, sentinel }: Passwords = {},
  more: readonly string[] = [],
): Promise<Watched> => {
  const servers: RedisServer[] = []
  const sentinels: RedisServer[] = []
  const connections: Redis[] = []
  const connect = ({ url }: RedisServer, password?: string): Redis => {
    const redis = new Redis(url, { retryStrategy: () => 50, ...(password !== undefined && { password }) })
    redis.on('error', () => undefined)
    connections.push(redis)
    return redis
  }
  const stop = async (): Promise<void> => {
    for (const redis of connections) redis.disconnect()
    await Promise.all([...sentinels, ...servers].map((one) => one.stop()))
  }
  try {
    const settings = [
      '--repl-diskless-sync-delay',
      '0',
      ...more,
      ...(server ? ['--requirepass', server, '--masterauth', server] : []),
    ]
    const first = await startRedis(settings)
    servers.push(first)
    for (let index = 0; index < replicas; index += 1) {
      servers.push(await startRedis([...settings, '--replicaof', '127.0.0.1', String(first.port)]))
    }
    for (let index = 0; index < 3; index += 1) {
      sentinels.push(
        await startSentinel([
          ...(sentinel ? [`requirepass ${sentinel}`, `sentinel sentinel-pass ${sentinel}`] : []),
          `sentinel monitor main 127.0.0.1 ${first.port} 2`,
          ...(server ? [`sentinel auth-pass main ${server}`] : []),
          `sentinel down-after-milliseconds main ${DOWN_AFTER}`,
          'sentinel failover-timeout main 6000',
        ]),
      )
    }
    const watchers = sentinels.map((one) => connect(one, sentinel))
    const seen = (watcher: Redis): Promise<Record<string, string>> =>
      watcher.call('SENTINEL', 'MASTER', 'main').then((reply) => {
        const words = reply as string[]
        return Object.fromEntries(words.flatMap((word, i) => (i % 2 === 0 ? [[word, words[i + 1] ?? '']] : [])))
      })
    const whole = (state: Record<string, string>): boolean =>
      state['flags'] === 'master' &&
      state['num-other-sentinels'] === '2' &&
      state['num-slaves'] === String(servers.length - 1)
    await until(async () => (await Promise.all(watchers.map(seen))).every(whole))
    const master = async (): Promise<RedisServer> => {
      let ports: (string | undefined)[] = []
      await until(async () => {
        ports = (await Promise.all(watchers.map(seen))).map((state) => state['port'])
        return new Set(ports).size === 1
      })
      return servers.find(({ port }) => String(port) === ports[0]) ?? assert.fail('not one of ours')
    }
    const movedFrom = (old: RedisServer): Promise<void> => until(async () => (await master()) !== old, 60_000)
    return {
      url: `redis+sentinel://${sentinels.map(({ port }) => `127.0.0.1:${port}`).join()}/main`,
      servers,
      sentinels,
      master,
      movedFrom,
      async failOver() {
        const old = await master()
        const [leader] = watchers as [Redis, ...Redis[]]
        await until(async () => {
          const { port, flags = '' } = await seen(leader)
          if (port !== String(old.port)) return true
          // Refused while no replica counts as good enough, and given up where that one does not become the master in time.
          const underWay = flags.includes('failover_in_progress')
          if (!underWay) await leader.call('SENTINEL', 'FAILOVER', 'main').catch(() => undefined)
          return false
        }, 60_000)
        await movedFrom(old)
      },
      ask: (one) => connect(one, server),
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}
