import assert from 'node:assert/strict'
import { Redis } from 'ioredis'
import { slotOf } from '#src/keys.js'
import type { RedisServer } from './redis-server.js'
import { startRedis } from './redis-server.js'
import { until } from './until.js'

export interface ClusterNode {
  readonly port: number
  readonly redis: Redis
  readonly server: RedisServer
}

export interface RedisCluster {
  /** `redis+cluster://` with the first two of the nodes. */
  readonly url: string
  /** The masters to begin with. */
  readonly nodes: readonly ClusterNode[]
  /** Of each of those in turn, the one replica that it has, if it was to have one. */
  readonly replicas: readonly ClusterNode[]
  /** Who has the slot of this key, as all who live agree. */
  ownerOf(key: string): Promise<ClusterNode>
  /** Hands a slot over with all its keys, as redis-cli does. `between`: when either node knows, before anything is moved. */
  migrate(key: string, to: ClusterNode, between?: () => Promise<unknown>): Promise<void>
  /** For good. */
  kill(node: ClusterNode): Promise<void>
  /** Every node gives the same answer to who has which slots, and all slots are had by somebody who lives. */
  settled(): Promise<void>
  stop(): Promise<void>
}

const SLOTS = 16_384
const MASTERS = 3

const infoOf = async (redis: Redis): Promise<Record<string, string>> => {
  const lines = (await redis.cluster('INFO')).split('\r\n')
  return Object.fromEntries(lines.map((line) => line.split(':') as [string, string]))
}

type Range = [from: number, to: number, master: [host: string, port: number], ...unknown[]]

/** What one of them says of who has which slots. */
const slotsOf = async (redis: Redis): Promise<Range[]> => {
  const ranges = (await redis.cluster('SLOTS')) as unknown as Range[]
  return ranges.sort(([a], [b]) => a - b)
}

class Cluster implements RedisCluster {
  readonly nodes: ClusterNode[] = []
  readonly replicas: ClusterNode[] = []
  readonly #stopped = new Set<ClusterNode>()

  get url(): string {
    return `redis+cluster://${this.nodes
      .slice(0, 2)
      .map(({ port }) => `127.0.0.1:${port}`)
      .join()}`
  }

  get #all(): ClusterNode[] {
    return [...this.nodes, ...this.replicas]
  }

  async start(withReplicas: boolean, masters: number): Promise<void> {
    // How long one must be silent to count as gone; a replica, however far behind, then stands for it.
    const settings = withReplicas
      ? ['--cluster-node-timeout', '2000', '--cluster-replica-validity-factor', '0', '--repl-diskless-sync-delay', '0']
      : []
    for (let index = 0; index < masters; index += 1) {
      const { redis } = await this.#launch(this.nodes, settings)
      const [from, to] = [Math.ceil((index * SLOTS) / masters), Math.ceil(((index + 1) * SLOTS) / masters) - 1]
      await redis.call('CLUSTER', 'ADDSLOTSRANGE', from, to)
      await redis.call('CLUSTER', 'SET-CONFIG-EPOCH', index + 1)
    }
    if (withReplicas) for (let index = 0; index < masters; index += 1) await this.#launch(this.replicas, settings)
    const [first, ...others] = this.#all
    for (const { port, redis } of others) {
      const bus = (await redis.config('GET', 'cluster-port'))[1] ?? ''
      await first?.redis.call('CLUSTER', 'MEET', '127.0.0.1', port, bus)
    }
    await this.#together()
    for (const [index, { redis }] of this.replicas.entries()) {
      await redis.call('CLUSTER', 'REPLICATE', String(await this.nodes[index]?.redis.cluster('MYID')))
    }
    await this.settled()
    await until(async () =>
      (await Promise.all(this.replicas.map(({ redis }) => redis.info('replication')))).every((info) =>
        info.includes('master_link_status:up'),
      ),
    )
    // Who connects is told of the replicas by whichever node it asks.
    await until(async () =>
      (await Promise.all(this.#all.map(({ redis }) => slotsOf(redis))))
        .flat()
        .every(([, , , ...replicas]) => replicas.length === Number(withReplicas)),
    )
  }

  async #launch(to: ClusterNode[], settings: readonly string[]): Promise<ClusterNode> {
    // One that has never met another does not know its address, and a client would not learn it.
    const server = await startRedis(['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1', ...settings])
    const redis = new Redis(server.url, { retryStrategy: () => 50 })
    redis.on('error', () => undefined)
    const node = { port: server.port, redis, server }
    to.push(node)
    return node
  }

  #together(): Promise<void> {
    const count = String(this.#all.length)
    return until(async () =>
      (await Promise.all(this.#all.map(({ redis }) => infoOf(redis)))).every(
        (info) => info['cluster_state'] === 'ok' && info['cluster_known_nodes'] === count,
      ),
    )
  }

  async #living(): Promise<ClusterNode[]> {
    const alive = await Promise.all(
      this.#all.map(async (node) => {
        if (node.redis.status !== 'ready') return undefined
        return node.redis.ping().then(
          () => node,
          () => undefined,
        )
      }),
    )
    return alive.filter((node) => node !== undefined)
  }

  settled(): Promise<void> {
    return until(async () => {
      const living = await this.#living()
      const views = await Promise.all(living.map(({ redis }) => slotsOf(redis)))
      const masters = views.map((view) => JSON.stringify(view.map(([from, to, [, port]]) => [from, to, port])))
      const infos = await Promise.all(living.map(({ redis }) => infoOf(redis)))
      const owners = (views[0] ?? []).map(([, , [, port]]) => port)
      return (
        new Set(masters).size === 1 &&
        infos.every((info) => info['cluster_state'] === 'ok' && info['cluster_slots_ok'] === String(SLOTS)) &&
        owners.every((port) => living.some((node) => node.port === port)) &&
        living.length + this.#stopped.size === this.#all.length
      )
    }, 60_000)
  }

  async ownerOf(key: string): Promise<ClusterNode> {
    const slot = slotOf(key)
    const [asked] = await this.#living()
    const range = asked && (await slotsOf(asked.redis)).find(([from, to]) => from <= slot && slot <= to)
    return this.#all.find(({ port }) => port === range?.[2][1]) ?? assert.fail(`nobody has slot ${slot}`)
  }

  async migrate(key: string, to: ClusterNode, between?: () => Promise<unknown>): Promise<void> {
    const slot = slotOf(key)
    const from = await this.ownerOf(key)
    const [source, target] = await Promise.all([from, to].map(({ redis }) => redis.cluster('MYID')))
    await to.redis.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', String(source))
    await from.redis.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', String(target))
    await between?.()
    for (;;) {
      const keys = (await from.redis.call('CLUSTER', 'GETKEYSINSLOT', slot, 100)) as string[]
      if (keys.length === 0) break
      await from.redis.call('MIGRATE', '127.0.0.1', to.port, '', 0, 5000, 'KEYS', ...keys)
    }
    // The one that gets it first: if either fails in between, nobody has lost it.
    for (const { redis } of new Set([to, from, ...this.nodes])) {
      await redis.call('CLUSTER', 'SETSLOT', slot, 'NODE', String(target)).catch((error: unknown) => {
        // One that has become a replica hears of it from its master.
        if (!/replica|master/i.test(String(error))) throw error
      })
    }
    await this.settled()
  }

  async kill(node: ClusterNode): Promise<void> {
    this.#stopped.add(node)
    await node.server.stop()
  }

  async stop(): Promise<void> {
    for (const { redis } of this.#all) redis.disconnect()
    await Promise.all(this.#all.map(({ server }) => server.stop()))
  }
}

/** Three masters unless said, each with as many slots as the others, and a replica if wished. Rejects with code `NO_REDIS` as `startRedis` does. */
export const startCluster = async ({ replicas = false, masters = MASTERS } = {}): Promise<RedisCluster> => {
  const cluster = new Cluster()
  try {
    await cluster.start(replicas, masters)
    return cluster
  } catch (error) {
    await cluster.stop()
    throw error
  }
}
