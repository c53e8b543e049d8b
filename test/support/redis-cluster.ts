import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import type { RedisServer } from './redis-server.js'
import { freePort, startRedis } from './redis-server.js'

export interface RedisCluster {
  /** `redis+cluster://` with the first two of the nodes. */
  readonly url: string
  readonly nodes: readonly { readonly port: number; readonly redis: Redis }[]
  stop(): Promise<void>
}

const SLOTS = 16_384
const NODES = 3

const isWhole = async (redis: Redis): Promise<boolean> => {
  const info = await redis.cluster('INFO')
  return info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${NODES}`)
}

/** Three masters without replicas, each with a third of the slots. Rejects with code `NO_REDIS` as `startRedis` does. */
export const startCluster = async (): Promise<RedisCluster> => {
  const servers: RedisServer[] = []
  const nodes: { port: number; bus: number; redis: Redis }[] = []
  const stop = async (): Promise<void> => {
    for (const { redis } of nodes) redis.disconnect()
    await Promise.all(servers.map((server) => server.stop()))
  }
  try {
    for (let index = 0; index < NODES; index += 1) {
      // Without a port of its own for the bus a node takes its port plus 10,000, which may be none.
      const bus = await freePort()
      const server = await startRedis(['--cluster-enabled', 'yes', '--cluster-port', String(bus)])
      servers.push(server)
      const redis = new Redis(server.url)
      redis.on('error', () => undefined)
      nodes.push({ port: server.port, bus, redis })
      const from = Math.ceil((index * SLOTS) / NODES)
      const to = Math.ceil(((index + 1) * SLOTS) / NODES) - 1
      await redis.call('CLUSTER', 'ADDSLOTSRANGE', from, to)
      await redis.call('CLUSTER', 'SET-CONFIG-EPOCH', index + 1)
    }
    const [first, ...others] = nodes
    for (const { port, bus } of others) await first?.redis.call('CLUSTER', 'MEET', '127.0.0.1', port, bus)
    const end = Date.now() + 30_000
    while (!(await Promise.all(nodes.map(({ redis }) => isWhole(redis)))).every(Boolean)) {
      if (Date.now() > end) throw new Error('the cluster did not come together')
      await sleep(50)
    }
  } catch (error) {
    await stop()
    throw error
  }
  const hosts = nodes.slice(0, 2).map(({ port }) => `127.0.0.1:${port}`)
  return { url: `redis+cluster://${hosts.join()}`, nodes, stop }
}
