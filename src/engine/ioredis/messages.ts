import { type Connection, type DriverEvents, NotSent, type SubscriptionKind } from '../driver.js'
import type { IoredisClient } from './client.js'
import { rethrow, withoutCommand } from './errors.js'
import { GUARDED, isOutOfStep } from './parser-guard.js'
import { errorOf } from '../../thrown.js'

/** How each kind of subscription is begun and ended. */
const WORDS = {
  plain: ['subscribe', 'unsubscribe'],
  sharded: ['ssubscribe', 'sunsubscribe'],
  pattern: ['psubscribe', 'punsubscribe'],
} as const

const KINDS = ['plain', 'sharded', 'pattern'] as const

/** The connection that brings messages, made when first needed. A cluster of ours keeps it itself. */
export class IoredisMessages {
  readonly #commands: IoredisClient
  readonly #cluster: boolean
  readonly #shared: boolean
  readonly #events: DriverEvents
  readonly #channels = { plain: new Set<string>(), sharded: new Set<string>(), pattern: new Set<string>() }
  #client: IoredisClient | undefined
  #opened: Promise<unknown> = Promise.resolve()
  /** Called when the connection is there again, or is closed for good. */
  #waiting: (() => void)[] = []
  /** Which connection of a cluster brings the messages that are not sharded. */
  #watched: IoredisClient | undefined
  /** Whether the connection for commands has been lost since this one was made: then this one may lead elsewhere. */
  #stale = false
  #closed = false

  /** `own`: the connection for commands is ours. */
  constructor(commands: IoredisClient, own: boolean, events: DriverEvents) {
    this.#commands = commands
    this.#cluster = commands.isCluster === true
    this.#shared = this.#cluster && own
    this.#events = events
  }

  async subscribe(name: string, kind: SubscriptionKind): Promise<void> {
    const names = this.#channels[kind]
    names.add(name)
    await this.#open()
    // What ioredis queued meanwhile would be sent later, whoever had given it up by then.
    while (this.#client !== undefined && this.#client.status !== 'ready' && names.has(name)) await this.#back()
    const client = this.#client
    if (client === undefined) throw new NotSent('closed')
    if (!names.has(name)) return
    await client[WORDS[kind][0]](name).catch(rethrow)
    this.#watchSubscriber()
  }

  async unsubscribe(name: string, kind: SubscriptionKind): Promise<void> {
    this.#channels[kind].delete(name)
    const client = this.#client
    if (client?.status !== 'ready') return
    await client[WORDS[kind][1]](name).catch(rethrow)
  }

  /** The connection for commands was lost. */
  lost(): void {
    this.#stale = true
  }

  /** It is there again, and may lead to another server: the one of before may live on, with nobody to tell of releases there. */
  found(): void {
    if (this.#stale && !this.#shared) this.reconnect()
    this.#stale = false
  }

  reconnect(): void {
    for (const { status, stream } of this.#connections) if (status === 'ready') stream?.destroy()
  }

  /** Leaves a server that is not this one. */
  goTo(host: string, port: number): void {
    const { status, stream } = this.#client ?? {}
    if (this.#cluster || status !== 'ready') return
    if (stream?.remoteAddress !== host || stream.remotePort !== port) stream?.destroy()
  }

  get #connections(): IoredisClient[] {
    if (this.#cluster) return this.#ofCluster()
    return this.#client === undefined ? [] : [this.#client]
  }

  #ofCluster(): IoredisClient[] {
    const { subscriber, shardedSubscribers } = this.#client ?? {}
    const sharded = [...(shardedSubscribers?.shardedSubscribers?.values() ?? [])]
    const instances = [subscriber?.getInstance(), ...sharded.map((one) => one.getInstance())]
    return instances.filter((one) => one !== undefined && one !== null)
  }

  /** Those on which something is to be answered. */
  owing(): Connection[] {
    return owingOf(this.#connections)
  }

  pulse(): Promise<unknown>[] {
    const connections = this.#cluster ? this.#ofCluster().filter(({ status }) => status === 'ready') : this.#connections
    return connections.map((client) => (client.status === 'ready' ? client.ping().catch(rethrow) : this.#back()))
  }

  close(): void {
    this.#closed = true
    this.#wake()
    // Whatever goes wrong on the way out is no longer of interest, and must not be thrown.
    this.#client?.on('error', () => undefined)
    this.#client?.disconnect()
    this.#client = undefined
  }

  #wake(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const wake of waiting) wake()
  }

  #back(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  #open(): Promise<unknown> {
    if (this.#client !== undefined || this.#closed) return this.#opened
    const client = this.#shared ? this.#commands : this.#subscriber()
    this.#client = client
    this.#hear(client)
    const again = (): void => {
      void this.#resubscribe(client)
      this.#wake()
    }
    // ioredis has begun to subscribe to all of them with the nodes that have the slots by now.
    const follow = (): unknown => client.on('subscribersReady', again)
    if (this.#shared) {
      follow()
      client.on('ready', again)
      return this.#opened
    }
    client.on('error', (thrown: unknown) => {
      const error = errorOf(thrown)
      if (isOutOfStep(error)) this.reconnect()
      if (!this.#closed) this.#events.error(withoutCommand(error))
    })
    let first = true
    client.on('ready', () => {
      this.#stale = false
      if (!first) again()
      first = false
    })
    return (this.#opened = client.connect().then(follow, (error: unknown) => {
      this.#client = undefined
      client.disconnect()
      throw new NotSent(withoutCommand(errorOf(error)).message)
    }))
  }

  #subscriber(): IoredisClient {
    const overrides = {
      lazyConnect: true,
      enableOfflineQueue: true,
      autoResubscribe: false,
      maxRetriesPerRequest: null,
      // Without it one node is asked for all of them, and refuses those of the others.
      shardedSubscribers: true,
      ...GUARDED,
    }
    if (this.#cluster) return this.#commands.duplicate(undefined, overrides)
    // Channels are of no database, and who may not SELECT may listen all the same.
    return this.#commands.duplicate({ ...overrides, db: 0 })
  }

  #hear(client: IoredisClient): void {
    const tell = (kind: SubscriptionKind, channel: Buffer, payload: Buffer, name = channel.toString()): void =>
      this.#events.message({ kind, name, channel: channel.toString(), payload })
    client.on('messageBuffer', (channel: Buffer, payload: Buffer) => {
      tell('plain', channel, payload)
    })
    client.on('smessageBuffer', (channel: Buffer, payload: Buffer) => {
      tell('sharded', channel, payload)
    })
    client.on('pmessageBuffer', (pattern: string, channel: Buffer, payload: Buffer) => {
      tell('pattern', channel, payload, pattern)
    })
  }

  /** When its connection ends, a cluster's subscriptions go to another node, and nobody says so. */
  #watchSubscriber(): void {
    const client = this.#client
    const subscriber = client?.subscriber?.getInstance()
    if (subscriber === undefined || subscriber === null || subscriber === this.#watched) return
    this.#watched = subscriber
    subscriber.on('end', () => {
      if (client === undefined || this.#closed || this.#watched !== subscriber) return
      void this.#resubscribe(client)
    })
  }

  async #resubscribe(client: IoredisClient): Promise<void> {
    const all: Promise<unknown>[] = []
    for (const kind of KINDS) {
      for (const name of this.#channels[kind]) {
        const subscribed = client[WORDS[kind][0]](name)
        all.push(subscribed.catch(() => this.#events.unheard(kind, name)))
      }
    }
    if (all.length === 0) return
    this.#watchSubscriber()
    // If the connection went again, its next 'ready' starts anew.
    await Promise.all(all)
    this.#events.gap()
  }
}

/** The sockets of those that wait for an answer, or for being let in. */
export const owingOf = (clients: readonly IoredisClient[]): Connection[] =>
  clients.flatMap(({ commandQueue, stream }) => ((commandQueue?.length ?? 0) > 0 && stream ? [stream] : []))
