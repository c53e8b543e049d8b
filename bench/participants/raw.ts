import { randomUUID } from 'node:crypto'
import { Cluster, Redis } from 'ioredis'
import { lockAcquire, lockRelease } from '#src/lua/scripts.gen.js'
import { bareLock } from './bare-lock.js'
import { versionOf } from '../base/paths.js'
import type { Participant } from './participant.js'

type Bare = Redis | Cluster

interface Settings {
  readonly protocol?: 3
  readonly enableAutoPipelining?: true
}

/** Of a cluster, the scripts are on each master. */
const connected = async (url: string, options: Settings): Promise<Bare> => {
  if (!url.startsWith(CLUSTER)) return new Redis(url, options)
  const nodes = url.slice(CLUSTER.length).split(',')
  const client = new Cluster(
    nodes.map((node) => `redis://${node}`),
    { enableAutoPipelining: options.enableAutoPipelining ?? false },
  )
  await client.ping()
  return client
}
const CLUSTER = 'redis+cluster://'

/** The floor: the scripts that ship, through the bare Redis client, with no library between. */
const rawWith = (name: string, options: Settings): Participant => ({
  name,
  family: 'raw',
  file: 'bench/participants/raw.ts',
  setup: `ioredis, ${Object.keys(options).join(', ') || 'default options'}; evalsha of our own scripts`,
  kinds: ['lock'],
  waits: false,
  memory: false,
  renews: false,
  keyOf: (name) => name,
  direct: [],
  version: () => versionOf('node_modules/ioredis'),
  async open(url, lease = 30_000) {
    const client = await connected(url, options)
    const masters = client instanceof Cluster ? client.nodes('master') : [client]
    for (const master of masters) for (const { text } of [lockAcquire, lockRelease]) await master.script('LOAD', text)
    const id = randomUUID()
    let owners = 0
    const acquire = async ({ take, give }: ReturnType<typeof bareLock>) => {
      const owner = `${id}:${(owners += 1)}`
      const taking = take(owner, lease)
      if ((await client.evalsha(lockAcquire.sha, taking.keys.length, ...taking.keys, ...taking.args)) !== 'held')
        throw new Error('taken')
      const giving = give(owner)
      return {
        release: () => client.evalsha(lockRelease.sha, giving.keys.length, ...giving.keys, ...giving.args),
      }
    }
    return {
      lock: (_kind, key) => {
        const lock = bareLock(key)
        return { acquire: () => acquire(lock) }
      },
      troubles: () => 0,
      intact: () => true,
      close: () => client.disconnect(),
    }
  },
})

export const raw = rawWith('raw', {})
export const rawPipelined = rawWith('raw, auto-pipelining', { enableAutoPipelining: true })

/** Only in Y. */
export const rawResp3: readonly Participant[] = [
  rawWith('raw, RESP3', { protocol: 3 }),
  rawWith('raw, auto-pipelining, RESP3', { protocol: 3, enableAutoPipelining: true }),
]
