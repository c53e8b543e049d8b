import { Cluster, type Redis } from 'ioredis'
import { after, before, type TestContext } from 'node:test'
import { type RedisCluster, startCluster } from '../../../support/redis-cluster.js'
import { type Arena, excuse } from './arena.js'
import { startRedisson } from './redisson.js'

export interface ClusterArena extends Arena {
  readonly cluster: RedisCluster
}

type Counts = (string | number)[]

/** Looks at the whole cluster as at one server: keys at the node that has them, and listeners of both sorts wherever they are. */
const lookingAt = ({ nodes }: RedisCluster): Redis => {
  const client = new Cluster(nodes.map(({ port }) => ({ host: '127.0.0.1', port })))
  const pubsub = async (_what: 'NUMSUB', ...channels: string[]): Promise<Counts> => {
    const replies = await Promise.all(
      nodes.flatMap(({ redis }) => ['NUMSUB', 'SHARDNUMSUB'].map((what) => redis.call('PUBSUB', what, ...channels))),
    )
    return channels.flatMap((channel, index) => [
      channel,
      (replies as Counts[]).reduce((sum, reply) => sum + Number(reply[2 * index + 1] ?? 0), 0),
    ])
  }
  return Object.assign(client, { pubsub }) as unknown as Redis
}

/** As `arena`, on three masters. */
export const clusterArena = (version: string): ((t: TestContext) => ClusterArena | undefined) => {
  let made: ClusterArena | undefined
  let cluster: RedisCluster | undefined
  let reason: string | undefined

  before(async () => {
    try {
      cluster = await startCluster()
      const { url } = cluster
      const java = await startRedisson({ url, version })
      made = { cluster, url, java, redis: lookingAt(cluster) }
    } catch (error) {
      reason = excuse(error)
    }
  })

  after(async () => {
    await made?.java.kill()
    made?.redis.disconnect()
    await cluster?.stop()
  })

  return (t) => {
    if (reason !== undefined) t.skip(reason)
    return made
  }
}
