import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { EngineErrorCode } from 'holdfast'
import { Redis } from 'ioredis'
import type { RedisServer } from './redis-server.js'
import { startRedis } from './redis-server.js'
import { until } from './until.js'

/** What the server's trouble does to a step of ours. */
export type Effect = 'refuses' | 'lets through'

/** A condition that a real server can be brought into and out of again. */
export interface Trouble {
  readonly name: string
  readonly code: EngineErrorCode
  /** The server's own words. */
  readonly text: RegExp
  readonly acquire: Effect
  /** What it does to a renewal and to a release. */
  readonly upkeep: Effect
  /** A call that waits already waits this out. */
  readonly passes: boolean
  readonly args?: readonly string[]
  /** Once, when the server has started. */
  readonly prepare?: (site: Site) => Promise<unknown>
  readonly begin: (site: Site) => Promise<unknown>
  readonly end: (site: Site) => Promise<unknown>
  readonly url?: (port: number) => string
}

/** A server that one trouble comes and goes on. */
export class Site {
  readonly trouble: Trouble
  readonly directory: string
  readonly port: number
  /** Not bound by the trouble's ACL rules, and connected also while the server loads. */
  readonly redis: Redis
  #server: RedisServer
  #inTrouble = false

  private constructor(trouble: Trouble, directory: string, server: RedisServer) {
    this.trouble = trouble
    this.directory = directory
    this.port = server.port
    this.#server = server
    this.redis = new Redis(server.url, {
      enableReadyCheck: false,
      maxRetriesPerRequest: null,
      retryStrategy: () => 50,
    })
    this.redis.on('error', () => undefined)
  }

  static async open(trouble: Trouble): Promise<Site> {
    const directory = await mkdtemp(join(tmpdir(), 'holdfast-trouble-'))
    try {
      const server = await startRedis(Site.#args(trouble, directory))
      const site = new Site(trouble, directory, server)
      await trouble.prepare?.(site)
      return site
    } catch (error) {
      await rm(directory, { recursive: true, force: true })
      throw error
    }
  }

  static #args({ args = [] }: Trouble, directory: string): string[] {
    return ['--dir', directory, ...args]
  }

  get url(): string {
    return this.trouble.url?.(this.port) ?? `redis://127.0.0.1:${this.port}`
  }

  async begin(): Promise<void> {
    this.#inTrouble = true
    await this.trouble.begin(this)
  }

  async end(): Promise<void> {
    if (!this.#inTrouble) return
    this.#inTrouble = false
    await this.trouble.end(this)
  }

  async restart(...args: string[]): Promise<void> {
    await this.#server.stop()
    const all = Site.#args(this.trouble, this.directory)
    this.#server = await startRedis([...all, '--port', String(this.port), ...args])
  }

  /** Neither labels of clients nor fencing tokens nor what the trouble itself needs. */
  async keys(): Promise<string[]> {
    const keys = await this.redis.keys('*')
    return keys.filter((key) => !/^(holdfast:client:|filler:|redisson_lock_token:)/.test(key)).sort()
  }

  async says(section: string, words: string): Promise<boolean> {
    return (await this.redis.info(section)).includes(words)
  }

  async close(): Promise<void> {
    this.redis.disconnect()
    await this.#server.stop()
    await rm(this.directory, { recursive: true, force: true })
  }
}

const asUser = (port: number): string => `redis://app:secret@127.0.0.1:${port}`

const makeUser = ({ redis }: Site): Promise<unknown> =>
  redis.call('ACL', 'SETUSER', 'app', 'on', '>secret', 'allkeys', 'allchannels', '+@all')

const answers = ({ redis }: Site): Promise<boolean> =>
  redis.ping().then(
    () => true,
    () => false,
  )

const clusterIs = async ({ redis }: Site, state: string): Promise<void> => {
  await until(async () => (await redis.cluster('INFO')).includes(`cluster_state:${state}`))
}

/** In the order of the acceptance list; NOPERM in both places where a server may say it. */
export const troubles: readonly Trouble[] = [
  {
    name: 'NOSCRIPT',
    code: 'NOSCRIPT',
    text: /NOSCRIPT/,
    acquire: 'lets through',
    upkeep: 'lets through',
    passes: true,
    begin: ({ redis }) => redis.script('FLUSH'),
    end: ({ redis }) => redis.script('FLUSH'),
  },
  {
    name: 'BUSY',
    code: 'BUSY',
    text: /BUSY Redis is busy running a script|BUSY Valkey is busy running a script/,
    acquire: 'refuses',
    upkeep: 'refuses',
    passes: true,
    args: ['--lua-time-limit', '50'],
    async begin(site) {
      const endless = site.redis.duplicate({ retryStrategy: () => null })
      endless
        .eval('while true do end', 0)
        .catch(() => undefined)
        .finally(() => {
          endless.disconnect()
        })
      await until(async () => !(await answers(site)))
    },
    async end(site) {
      await site.redis.script('KILL')
      await until(() => answers(site))
    },
  },
  {
    name: 'LOADING',
    code: 'LOADING',
    text: /LOADING .* is loading the dataset in memory/,
    acquire: 'refuses',
    upkeep: 'refuses',
    passes: true,
    args: ['--rdbcompression', 'no', '--loading-process-events-interval-bytes', '1024'],
    prepare: ({ redis }) =>
      Promise.all(Array.from({ length: 1000 }, (_, index) => redis.set(`filler:${index}`, 'x'.repeat(1500)))),
    async begin(site) {
      await site.redis.save()
      await site.restart('--key-load-delay', '20000')
      await until(() => site.says('persistence', '\nloading:1'))
    },
    async end(site) {
      await site.redis.config('SET', 'key-load-delay', '0')
      await until(() => site.says('persistence', '\nloading:0'))
    },
  },
  {
    name: 'READONLY',
    code: 'READONLY',
    text: /READONLY You can't write against a read only replica/,
    acquire: 'refuses',
    upkeep: 'refuses',
    passes: true,
    begin: ({ redis }) => redis.call('REPLICAOF', '127.0.0.1', '1'),
    end: ({ redis }) => redis.call('REPLICAOF', 'NO', 'ONE'),
  },
  {
    name: 'OOM',
    code: 'OOM',
    text: /OOM command not allowed when used memory > 'maxmemory'/,
    acquire: 'refuses',
    upkeep: 'lets through',
    passes: false,
    begin: ({ redis }) => redis.config('SET', 'maxmemory', '1'),
    end: ({ redis }) => redis.config('SET', 'maxmemory', '0'),
  },
  {
    name: 'NOPERM',
    code: 'NOPERM',
    text: /NOPERM .*has no permissions to run the 'eval/,
    acquire: 'refuses',
    upkeep: 'refuses',
    passes: false,
    url: asUser,
    prepare: makeUser,
    begin: ({ redis }) => redis.call('ACL', 'SETUSER', 'app', '-eval', '-evalsha'),
    end: ({ redis }) => redis.call('ACL', 'SETUSER', 'app', '+@all'),
  },
  {
    name: 'NOPERM within the script',
    code: 'NOPERM',
    text: /NOPERM|The user executing the script can't run this command/,
    acquire: 'refuses',
    upkeep: 'refuses',
    passes: false,
    url: asUser,
    prepare: makeUser,
    begin: ({ redis }) => redis.call('ACL', 'SETUSER', 'app', '-@write'),
    end: ({ redis }) => redis.call('ACL', 'SETUSER', 'app', '+@all'),
  },
  {
    name: 'MISCONF',
    code: 'MISCONF',
    text: /MISCONF .* is configured to save RDB snapshots/,
    acquire: 'refuses',
    upkeep: 'refuses',
    passes: false,
    async begin(site) {
      await rm(site.directory, { recursive: true, force: true })
      await site.redis.config('SET', 'save', '3600 1000000')
      await site.redis.bgsave().catch(() => undefined)
      await until(() => site.says('persistence', 'rdb_last_bgsave_status:err'))
    },
    end: ({ redis }) => redis.config('SET', 'save', ''),
  },
  {
    name: 'CLUSTERDOWN',
    code: 'CLUSTERDOWN',
    text: /CLUSTERDOWN The cluster is down/,
    acquire: 'refuses',
    upkeep: 'refuses',
    passes: true,
    args: ['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1'],
    url: (port) => `redis+cluster://127.0.0.1:${port}`,
    async prepare(site) {
      await site.redis.call('CLUSTER', 'ADDSLOTSRANGE', 0, 16_383)
      await clusterIs(site, 'ok')
    },
    async begin(site) {
      await site.redis.call('CLUSTER', 'DELSLOTS', 16_383)
      await clusterIs(site, 'fail')
    },
    async end(site) {
      await site.redis.call('CLUSTER', 'ADDSLOTS', 16_383)
      await clusterIs(site, 'ok')
    },
  },
]
