import assert from 'node:assert/strict'
import { Cluster } from 'ioredis'
import { startCluster } from './redis-cluster.js'
import { build, type Column, type Engine, type Word } from './worlds.js'

/** Questions that each node answers for itself; the answers are put together. */
const EVERYWHERE = ['KEYS', 'SCRIPT']
/** One key or channel for each call, whatever slots they have. */
const ONE_BY_ONE = ['DEL', 'EXISTS']

type Running = Awaited<ReturnType<typeof startCluster>>
type Reply = string | number | (string | number)[]

const added = (replies: readonly Reply[]): Reply => {
  if (replies.every((reply) => typeof reply === 'number')) return replies.reduce((sum, reply) => sum + reply, 0)
  return Array.isArray(replies[0]) ? replies.flat() : (replies[0] ?? 0)
}

/** Commands as to one server: where the key is, or everywhere; locks' channels are sharded, those of topics are not. */
class Whole {
  readonly #nodes: Running['nodes']
  readonly #cluster: Cluster
  readonly #heard = new Map<string, string[]>()

  constructor({ nodes }: Running) {
    this.#nodes = nodes
    const [first] = nodes
    this.#cluster = new Cluster([{ host: '127.0.0.1', port: first?.port ?? 0 }], { shardedSubscribers: true })
    this.#cluster.on('smessage', (channel: string, payload: string) => this.#heard.get(channel)?.push(payload))
  }

  async call(...[name, ...args]: Word[]): Promise<Reply> {
    const [word = '', target = ''] = args.map(String)
    if (name === 'PUBLISH') {
      await this.#send('PUBLISH', ...args)
      return this.#send('SPUBLISH', ...args)
    }
    if (name === 'PUBSUB' && word === 'CHANNELS') {
      const kinds = ['CHANNELS', 'SHARDCHANNELS'].map((kind) => this.#everywhere('PUBSUB', kind, target))
      return added((await Promise.all(kinds)).flat())
    }
    if (name === 'PUBSUB' && word === 'NUMSUB') return this.#subscribers(target, ['NUMSUB', 'SHARDNUMSUB'])
    if (name === 'PUBSUB' && word === 'SHARDNUMSUB') return this.#subscribers(target, [word])
    if (name === 'PUBSUB') return added(await this.#everywhere(name, ...args))
    if (EVERYWHERE.includes(String(name))) return added(await this.#everywhere(String(name), ...args))
    if (ONE_BY_ONE.includes(String(name))) {
      return added(await Promise.all(args.map((arg) => this.#send(String(name), arg))))
    }
    return this.#send(String(name), ...args)
  }

  async hear(channel: string): Promise<string[]> {
    const payloads: string[] = []
    this.#heard.set(channel, payloads)
    await this.#cluster.ssubscribe(channel)
    return payloads
  }

  async silence(channels: readonly string[]): Promise<void> {
    for (const channel of channels) await this.#cluster.sunsubscribe(channel)
  }

  end(): void {
    this.#cluster.disconnect()
  }

  #send(name: string, ...args: Word[]): Promise<Reply> {
    return this.#cluster.call(name, ...args) as Promise<Reply>
  }

  #everywhere(name: string, ...args: Word[]): Promise<Reply[]> {
    return Promise.all(this.#nodes.map(({ redis }) => redis.call(name, ...args) as Promise<Reply>))
  }

  async #subscribers(channel: string, kinds: readonly string[]): Promise<Reply> {
    const all = await Promise.all(kinds.map((kind) => this.#everywhere('PUBSUB', kind, channel)))
    return [channel, (all.flat() as [string, number][]).reduce((sum, [, count]) => sum + count, 0)]
  }
}

/**
 * Three nodes, whose keys all tests of the column share. To connect takes a processor some 20 ms, and many tests at once
 * would have answers wait for that longer than a short lease is.
 */
export const cluster = ({ name, lend, concurrency = 8 }: Column): Engine => {
  let running: Running | undefined
  let whole: Whole | undefined
  let count = 0
  return {
    name,
    virtual: false,
    concurrency,
    lacks: ['scripts over several slots'],
    async start() {
      running = await startCluster()
      whole = new Whole(running)
    },
    async stop() {
      whole?.end()
      await running?.stop()
    },
    open(defaults = {}) {
      assert.ok(running !== undefined && whole !== undefined)
      const { url } = running
      const spy = whole
      const listened: string[] = []
      const lent: { end(): unknown }[] = []
      const world = build(name, `c${(count += 1)}-${process.pid}`, {
        url,
        defaults,
        shared: true,
        ...(lend !== undefined && {
          async lend() {
            const one = await lend(url)
            lent.push(one)
            return one.connection
          },
        }),
        raw: (...argv) => spy.call(...argv),
        messages(channel) {
          listened.push(channel)
          return spy.hear(channel)
        },
        silence: () => spy.silence(listened),
        end() {
          for (const one of lent) one.end()
        },
      })
      return Promise.resolve(world)
    },
  }
}
