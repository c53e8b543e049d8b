import type { Clock } from '../../base/clock.js'
import { type Connection, type DriverEvents, NotSent, type SubscriptionKind } from '../driver.js'
import type { IoredisClient } from './client-type.js'
import { rethrow, withoutCommand } from './translate-errors.js'
import { GUARDED, isOutOfStep } from './parser-guard.js'
import { paused } from './reconnect-pauses.js'
import { errorOf } from '../../thrown.js'

/** The methods that begin and end each kind of subscription. */
const WORDS = {
  plain: ['subscribe', 'unsubscribe'],
  sharded: ['ssubscribe', 'sunsubscribe'],
  pattern: ['psubscribe', 'punsubscribe'],
} as const

const KINDS = ['plain', 'sharded', 'pattern'] as const

/** The connection for messages, made when it is first needed. A cluster client of holdfast's own manages it itself. */
export class IoredisMessageConnection {
  readonly #commands: IoredisClient
  readonly #cluster: boolean
  readonly #shared: boolean
  readonly #clock: Clock | undefined
  readonly #events: DriverEvents
  readonly #channels = { plain: new Set<string>(), sharded: new Set<string>(), pattern: new Set<string>() }
  #client: IoredisClient | undefined
  #opened: Promise<unknown> = Promise.resolve()
  /** Called when the connection is back, or is closed for good. */
  #waiting: (() => void)[] = []
  /** The cluster connection that receives the messages of plain channels and patterns. */
  #watched: IoredisClient | undefined
  /** The connection for commands was lost after this one was made, so this one may lead to another server. */
  #stale = false
  #closed = false

  /** `clock`: given if the connection for commands is holdfast's. */
  constructor(commands: IoredisClient, clock: Clock | undefined, events: DriverEvents) {
    this.#commands = commands
    this.#cluster = commands.isCluster === true
    this.#shared = this.#cluster && clock !== undefined
    this.#clock = clock
    this.#events = events
  }

  async subscribe(name: string, kind: SubscriptionKind): Promise<void> {
    const names = this.#channels[kind]
    names.add(name)
    await this.#open()
    // ioredis would queue the command and send it later, even after its caller has given up.
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

  /**
   * The connection for commands is back, and may lead to another server. The former server may still run, but no
   * client publishes its releases there.
   */
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

  /** The connections on which a reply is outstanding. */
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
    // Errors during the close no longer matter, and must not be thrown.
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
    // When this event comes, ioredis has begun to connect subscribers to the nodes that have the slots now.
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
      // Without it, ioredis asks one node for all channels, and that node refuses those of the others.
      shardedSubscribers: true,
      ...GUARDED,
    }
    if (this.#cluster) return this.#commands.duplicate(undefined, overrides)
    // Channels belong to no database, and a user without permission to SELECT may still subscribe.
    const client = this.#commands.duplicate({ ...overrides, db: 0 })
    return this.#clock === undefined ? client : paused(client, this.#clock)
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

  /** When its connection ends, ioredis moves a cluster's subscriptions to another node without an event. */
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
    // If the connection was lost again, its next 'ready' starts over.
    await Promise.all(all)
    this.#events.gap()
  }
}

/** The sockets with an outstanding reply or login. */
export const owingOf = (clients: readonly IoredisClient[]): Connection[] =>
  clients.flatMap(({ commandQueue, stream }) => ((commandQueue?.length ?? 0) > 0 && stream ? [stream] : []))
