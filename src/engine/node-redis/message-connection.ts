import { type Connection, type DriverEvents, NotSent, redirection, type SubscriptionKind } from '../driver.js'
import type { NodeRedisClient } from './client-type.js'
import { errorOf } from '../../thrown.js'

const WORDS = {
  plain: ['subscribe', 'unsubscribe'],
  sharded: ['sSubscribe', 'sUnsubscribe'],
  pattern: ['pSubscribe', 'pUnsubscribe'],
} as const

/** Where messages come from. */
export interface Sources {
  /** The node that publishes on this channel, as far as is known. */
  sourceOf(name: string, kind: SubscriptionKind): string
  /** A connection to it that the caller owns. */
  beside(source: string): Promise<NodeRedisClient>
  /** Finds out again which node publishes what: this one does not answer, or no longer has a channel. */
  relearn(source: string): Promise<void>
}

interface Channel {
  readonly name: string
  readonly kind: SubscriptionKind
  readonly listener: (payload: Uint8Array, channel: Uint8Array) => void
  source: string | undefined
  /** The latest attempt to subscribe there. */
  attaching: Promise<void> | undefined
}

/** A connection made by the driver. node-redis does not show its socket, so this counts answers instead of bytes. */
interface Open extends Connection {
  readonly client: NodeRedisClient
  bytesRead: number
  /** How many PINGs are unanswered. */
  asked: number
  /** The caller's connection was lost after this one was made, so this one may lead to another server. */
  stale: boolean
  /** Called when the connection is back. */
  back: (() => void)[]
  /** The server has not accepted the connection yet. */
  dialing: boolean
  /** No longer needed. */
  unwanted: boolean
}

/** If it is destroyed while it dials, node-redis goes on dialing and subscribes to all channels again. So it is ended after that. */
const end = (open: Open): void => {
  open.unwanted = true
  if (!open.dialing && open.client.isOpen) open.client.destroy()
}

/** The connections for messages: one for each node that publishes on a channel in use, beside the caller's own. The driver ends them. */
export class NodeRedisMessageConnections {
  readonly #sources: Sources
  readonly #events: DriverEvents
  readonly #channels = {
    plain: new Map<string, Channel>(),
    sharded: new Map<string, Channel>(),
    pattern: new Map<string, Channel>(),
  }
  readonly #opening = new Map<string, Promise<NodeRedisClient>>()
  readonly #open = new Map<string, Open>()
  /** Some channels have no connection. */
  #stray = false
  #closed = false

  constructor(sources: Sources, events: DriverEvents) {
    this.#sources = sources
    this.#events = events
  }

  async subscribe(name: string, kind: SubscriptionKind): Promise<void> {
    const listener: Channel['listener'] = (payload, channel) => {
      this.#events.message({ kind, name, channel: Buffer.from(channel).toString(), payload })
    }
    const channel: Channel = { name, kind, listener, source: undefined, attaching: undefined }
    this.#channels[kind].set(name, channel)
    const source = this.#sources.sourceOf(name, kind)
    try {
      await this.#attach(channel)
    } catch (error) {
      if (redirection(errorOf(error).message) === undefined) throw error
      await this.#sources.relearn(source)
      await this.#attach(channel)
    }
    if (this.#stray) await this.follow()
  }

  async unsubscribe(name: string, kind: SubscriptionKind): Promise<void> {
    const channel = this.#channels[kind].get(name)
    this.#channels[kind].delete(name)
    if (channel !== undefined) await this.#detach(channel)
  }

  /** Some channels may have moved to other nodes. */
  async follow(): Promise<void> {
    const strays = this.#all.filter(({ name, kind, source }) => source !== this.#sources.sourceOf(name, kind))
    this.#stray = false
    if (strays.length === 0) return
    const attached = await Promise.allSettled(
      strays.map((channel) => {
        void this.#detach(channel).catch(() => undefined)
        return this.#attach(channel)
      }),
    )
    this.#stray ||= attached.some(({ status }) => status === 'rejected')
    this.#endIdle()
    this.#events.gap()
  }

  close(): void {
    this.#closed = true
    for (const open of this.#open.values()) end(open)
    this.#open.clear()
  }

  /** The caller's connection was lost. */
  lost(): void {
    for (const open of this.#open.values()) open.stale = true
  }

  /** The caller's connection is back, perhaps to another server. */
  found(): void {
    for (const open of this.#open.values())
      if (open.stale) open.destroy(new Error('the connection may lead to another server now'))
  }

  /** The connections with an outstanding reply or login. */
  owing(): Connection[] {
    return [...this.#open.values()].filter(({ client, asked }) => asked > 0 || client.isReady !== true)
  }

  pulse(): Promise<unknown>[] {
    if (this.#stray) void this.follow().catch(() => undefined)
    return [...this.#open.values()].map((open) => {
      if (open.client.isReady !== true) return new Promise<void>((resolve) => open.back.push(resolve))
      open.asked++
      const answered = (): void => {
        open.asked--
        open.bytesRead++
      }
      return open.client.sendCommand(['PING']).finally(answered)
    })
  }

  /** Its channels continue on another connection. */
  #replace(source: string, open: Open): void {
    if (this.#closed || this.#open.get(source) !== open) return
    this.#ended(() => true, source)
    this.#forget(source)
    end(open)
    this.#relearn(source)
  }

  #relearn(source: string): void {
    void this.#sources
      .relearn(source)
      .then(() => this.follow())
      .catch(() => undefined)
  }

  get #all(): Channel[] {
    const { plain, sharded, pattern } = this.#channels
    return [...plain.values(), ...sharded.values(), ...pattern.values()]
  }

  #attach(channel: Channel): Promise<void> {
    const source = this.#sources.sourceOf(channel.name, channel.kind)
    const isLatest = (): boolean => channel.attaching === attaching
    const attaching: Promise<void> = this.#bring(channel, source, isLatest).catch((error: unknown) => {
      // The connection was replaced meanwhile, and the channel is attached to the new one.
      if (!isLatest()) return channel.attaching
      channel.source = undefined
      throw error
    })
    channel.source = source
    channel.attaching = attaching
    return attaching
  }

  async #bring({ name, kind, listener }: Channel, source: string, isLatest: () => boolean): Promise<void> {
    const client = await this.#at(source)
    // The channel was unsubscribed, or moved to another node, while the connection was being made.
    if (this.#channels[kind].get(name)?.listener === listener && isLatest())
      await client[WORDS[kind][0]](name, listener, true)
  }

  async #detach({ name, kind, listener, source = '' }: Channel): Promise<void> {
    await this.#open.get(source)?.client[WORDS[kind][1]](name, listener, true)
  }

  /** A node without channels may be gone for good. */
  #endIdle(): void {
    const used = new Set(this.#all.map(({ source }) => source))
    for (const [source, open] of this.#open) {
      if (used.has(source)) continue
      this.#forget(source)
      end(open)
    }
  }

  #forget(source: string): void {
    this.#open.delete(source)
    this.#opening.delete(source)
  }

  #at(source: string): Promise<NodeRedisClient> {
    let opening = this.#opening.get(source)
    if (opening === undefined) this.#opening.set(source, (opening = this.#connect(source)))
    return opening
  }

  /** Nothing would end a connection that is made after the close. */
  #mustBeOpen(): void {
    if (this.#closed) throw new NotSent('closed')
  }

  async #connect(source: string): Promise<NodeRedisClient> {
    let open: Open | undefined
    try {
      const beside = await this.#sources.beside(source)
      this.#mustBeOpen()
      const client = beside.duplicate?.({ clientSideCache: undefined })
      if (client === undefined) throw new NotSent('cannot open a second connection')
      const made: Open = {
        ...{ client, bytesRead: 0, asked: 0, stale: false, back: [], dialing: true, unwanted: false },
        destroy: () => this.#replace(source, made),
      }
      open = made
      this.#open.set(source, open)
      this.#watch(open, source)
      await client.connect()
      if (this.#closed && client.isOpen) client.destroy()
      return client
    } catch (error) {
      // There may be another one in its place.
      if (open === undefined || this.#open.get(source) === open) this.#forget(source)
      throw new NotSent(errorOf(error).message)
    }
  }

  /** node-redis subscribes again before it is ready again. Messages from before that are missed. */
  #watch(open: Open, source: string): void {
    const { client } = open
    const dialed = (): void => {
      open.dialing = false
      if (open.unwanted) end(open)
    }
    // By then the greeting is in node-redis's queue, and is rejected with the other commands.
    client.on('connect', () => {
      queueMicrotask(dialed)
    })
    client.on('error', dialed)
    client.on('reconnecting', () => {
      open.dialing = true
    })
    let first = true
    client.on('ready', () => {
      open.stale = false
      for (const back of open.back.splice(0)) back()
      if (!first) this.#events.gap()
      first = false
    })
    client.on('error', (error) => {
      if (!this.#closed) this.#events.error(errorOf(error))
    })
    const relearn = (): void => {
      if (!this.#closed && this.#open.get(source) === open) this.#relearn(source)
    }
    client.on('reconnecting', relearn)
    // Its subscriptions have ended: of one channel, or, after a failed attempt to renew them, of all.
    client.on('sharded-channel-moved', (name) => {
      this.#ended((channel) => channel.kind === 'sharded' && channel.name === String(name), source)
      relearn()
    })
    client.on('__MOVED', () => {
      this.#ended(() => true, source)
      relearn()
    })
  }

  #ended(which: (channel: Channel) => boolean, source: string): void {
    for (const channel of this.#all) if (channel.source === source && which(channel)) channel.source = undefined
  }
}
