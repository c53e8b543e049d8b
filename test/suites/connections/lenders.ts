import type { Cluster as Cluster6, Redis as Redis6 } from 'ioredis'
import type { Options } from '../../support/engines.js'
import type { RedisCluster } from '../../support/redis-cluster.js'
import type { Watched } from '../../support/redis-sentinel.js'

/** Where a client connects to, and how what was lent to it ends. */
export interface Lent {
  readonly place: Partial<Options>
  end(): unknown
}

/** A way to reach several servers: over a connection of our own, or one that the caller lends. */
export interface Lender {
  readonly name: string
  readonly lend: {
    cluster(cluster: RedisCluster): Promise<Lent>
    sentinel(watched: Watched): Promise<Lent>
  }
}

interface Ioredis {
  readonly Redis: typeof Redis6
  readonly Cluster: typeof Cluster6
}

/** What these tests use of either version of node-redis. */
interface NodeRedis {
  createCluster(options: object): Connection
  createSentinel(options: object): Connection
}
interface Connection {
  connect(): Promise<unknown>
  destroy(): unknown
  on(event: string, listener: (what: unknown) => void): unknown
}

const ofIoredis = async (name: string): Promise<Lender> => {
  const { Redis, Cluster } = (await import(name)) as Ioredis
  const lent = (connection: InstanceType<typeof Redis6> | InstanceType<typeof Cluster6>): Lent => {
    connection.on('error', () => undefined)
    return { place: { connection }, end: () => connection.disconnect() }
  }
  return {
    name: `a connection of ${name}`,
    lend: {
      cluster: ({ nodes }) =>
        Promise.resolve(lent(new Cluster(nodes.map(({ port }) => ({ host: '127.0.0.1', port }))))),
      sentinel: ({ sentinels }) =>
        Promise.resolve(
          lent(new Redis({ sentinels: sentinels.map(({ port }) => ({ host: '127.0.0.1', port })), name: 'main' })),
        ),
    },
  }
}

const ofNodeRedis = async (name: string): Promise<Lender> => {
  const { createCluster, createSentinel } = (await import(name)) as NodeRedis
  const lent = async (connection: Connection): Promise<Lent> => {
    connection.on('error', () => undefined)
    await connection.connect()
    return { place: { connection }, end: () => connection.destroy() }
  }
  return {
    name: `a connection of ${name}`,
    lend: {
      cluster: ({ nodes }) => lent(createCluster({ rootNodes: nodes.map(({ server }) => ({ url: server.url })) })),
      sentinel: ({ sentinels }) =>
        lent(
          createSentinel({
            name: 'main',
            sentinelRootNodes: sentinels.map(({ port }) => ({ host: '127.0.0.1', port })),
          }),
        ),
    },
  }
}

const ours: Lender = {
  name: 'by URL',
  lend: {
    cluster: ({ url }) => Promise.resolve({ place: { url }, end: () => undefined }),
    sentinel: ({ url }) => Promise.resolve({ place: { url }, end: () => undefined }),
  },
}

/** Before the tests begin: it takes its time. */
export const lenders: readonly Lender[] = [
  ours,
  await ofIoredis('ioredis'),
  await ofIoredis('ioredis5'),
  await ofNodeRedis('node-redis5'),
  await ofNodeRedis('node-redis6'),
]
