import { slotOf } from '../keys.js'
import {
  type Arg,
  type Driver,
  type DriverEvents,
  type Nodes,
  NoReply,
  NotSent,
  type Reply,
  type SendOptions,
  type SubscriptionKind,
} from './engine.js'
import type { NodeRedisClient, NodeRedisNode } from './target.js'

type Word = string | Buffer
type Listener = (payload: Uint8Array, channel: Uint8Array) => void

const WORDS = {
  plain: ['subscribe', 'unsubscribe'],
  sharded: ['sSubscribe', 'sUnsubscribe'],
  pattern: ['pSubscribe', 'pUnsubscribe'],
} as const

/** What bulk strings, statuses and verbatim strings become; by the first byte of their kind. */
const BYTES = { typeMapping: { 36: Buffer, 43: Buffer, 61: Buffer } }
const TEXT = { typeMapping: {} }

/** While a script runs the server takes nothing but what ends it: no SELECT, no CLIENT. */
const BARE = {
  ...{ url: undefined, name: undefined, database: 0, disableClientInfo: true },
  ...{ clientSideCache: undefined, emitInvalidate: false, maintNotifications: 'disabled' },
  socket: { reconnectStrategy: false },
}

/** A connection of node-redis that the caller owns, of one server, by sentinels or of a cluster: only its subscriber is ours. */
export class NodeRedisDriver implements Driver {
  readonly address = 'the connection passed in'
  readonly cluster: boolean
  readonly #client: NodeRedisClient
  readonly #sentinel: boolean
  readonly #handlers: [event: string, handler: (what: unknown) => void][] = []
  readonly #listeners = {
    plain: new Map<string, Listener>(),
    sharded: new Map<string, Listener>(),
    pattern: new Map<string, Listener>(),
  }
  /** Connections made for one command. */
  readonly #apart = new Set<NodeRedisClient>()
  #messages: Promise<NodeRedisClient> | undefined
  #subscriber: NodeRedisClient | undefined
  #events: DriverEvents | undefined
  #closed = false

  constructor(client: NodeRedisClient) {
    this.#client = client
    this.cluster = client.slots !== undefined
    this.#sentinel = client.getSentinelNode !== undefined
  }

  get isUp(): boolean {
    // A cluster of version 5 does not say more.
    return (this.#client.isReady ?? this.#client.isOpen) && !this.#closed
  }

  async open(events: DriverEvents): Promise<void> {
    this.#events = events
    const client = this.#client
    let wasUp = this.isUp
    // Without a listener node-redis throws them; they are told to the owner's, and come to us with the commands.
    this.#listenTo('error', () => undefined)
    const cut = (): void => {
      events.down(new Error('the connection was cut'))
    }
    const ready = new Promise<void>((resolve) => {
      this.#listenTo(this.cluster ? 'connect' : 'ready', () => {
        const again = wasUp
        wasUp = true
        events.up(again)
        resolve()
      })
    })
    if (!this.cluster) this.#listenTo('reconnecting', cut)
    this.#listenTo('topology-change', (change) => {
      if ((change as { type?: unknown } | undefined)?.type !== 'MASTER_CHANGE') return
      cut()
      events.up(true)
      events.gap()
    })
    if (this.isUp) return
    if (!client.isOpen) await client.connect()
    else await ready
    wasUp = true
  }

  #listenTo(event: string, handler: (what: unknown) => void): void {
    this.#handlers.push([event, handler])
    this.#client.on(event, handler)
  }

  async send(argv: readonly Arg[], options: SendOptions = {}): Promise<Reply> {
    if (!this.isUp) throw new NotSent('not connected')
    const words = argv.map(wordOf)
    const how = options.binary === true ? BYTES : TEXT
    try {
      if (this.#sentinel) return await this.#client.sendCommand(false, words, how)
      if (!this.cluster) return await this.#client.sendCommand(words, how)
      return await this.#sendToNode(options.route ?? '', words, how)
    } catch (error) {
      throw translated(error as Error)
    }
  }

  /** Straight to the node, so that what is meant for one leaves in its order; the cluster itself knows the way round. */
  async #sendToNode(route: string, words: Word[], how: object): Promise<Reply> {
    const node = this.#nodeOf(route)
    if (node === undefined || this.#client.nodeClient === undefined) throw new NotSent('the node is not known')
    const client = await this.#client.nodeClient(node)
    try {
      return await client.sendCommand(words, how)
    } catch (error) {
      // It was not done there.
      if (route === '' || !/^(MOVED|ASK) /.test((error as Error).message)) throw error
      return this.#client.sendCommand(route, false, words, how)
    }
  }

  #nodeOf(route: string): NodeRedisNode | undefined {
    return route === '' ? this.#client.masters?.[0] : this.#client.slots?.[slotOf(route)]?.master
  }

  nodeOf(route: string): string | undefined {
    return this.#nodeOf(route)?.address
  }

  everywhere(argv: readonly Arg[], nodes: Nodes): Promise<Reply>[] {
    if (!this.isUp) return [Promise.reject(new NotSent('not connected'))]
    if (!this.cluster) return [nodes === 'apart' ? this.#sendApart(this.#client, argv) : this.send(argv)]
    const { masters = [], replicas = [] } = this.#client
    return (nodes === 'all' ? [...masters, ...replicas] : masters).map(async (node) => {
      const client = await this.#client.nodeClient?.(node)
      if (client === undefined) throw new NotSent('the node is not known')
      return nodes === 'apart'
        ? this.#sendApart(client, argv)
        : client.sendCommand(argv.map(wordOf), TEXT).catch(refuse)
    })
  }

  async #sendApart(beside: NodeRedisClient, argv: readonly Arg[]): Promise<Reply> {
    // By sentinels there are no more connections than its pool has.
    if (this.#sentinel || beside.duplicate === undefined) return this.send(argv)
    const { socket } = beside.options ?? {}
    const client = beside.duplicate({ ...BARE, socket: { ...socket, ...BARE.socket } })
    client.on('error', () => undefined)
    this.#apart.add(client)
    try {
      await client.connect()
      return await client.sendCommand(argv.map(wordOf), TEXT)
    } catch (error) {
      return refuse(error as Error)
    } finally {
      if (this.#apart.delete(client) && client.isOpen) client.destroy()
    }
  }

  async subscribe(name: string, kind: SubscriptionKind): Promise<void> {
    const listener: Listener = (payload, channel) => {
      this.#events?.message({ kind, name, channel: Buffer.from(channel).toString(), payload })
    }
    const listeners = this.#listeners[kind]
    listeners.set(name, listener)
    try {
      const client = await (this.#messages ??= this.#openMessages())
      // It was unsubscribed while the connection was being made.
      if (listeners.get(name) === listener) await client[WORDS[kind][0]](name, listener, true)
    } catch (error) {
      throw translated(error as Error)
    }
  }

  async unsubscribe(name: string, kind: SubscriptionKind): Promise<void> {
    const listener = this.#listeners[kind].get(name)
    const client = this.#subscriber
    this.#listeners[kind].delete(name)
    if (listener === undefined || client === undefined) return
    try {
      await client[WORDS[kind][1]](name, listener, true)
    } catch (error) {
      throw translated(error as Error)
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const [event, handler] of this.#handlers) this.#client.off(event, handler)
    for (const client of this.#apart) if (this.#apart.delete(client) && client.isOpen) client.destroy()
    if (this.#subscriber !== this.#client) await this.#subscriber?.destroy()
  }

  /** It subscribes again by itself. */
  async #openMessages(): Promise<NodeRedisClient> {
    const client = this.#client.duplicate?.() ?? this.#client
    this.#subscriber = client
    if (client === this.#client) return client
    client.on('error', (error: unknown) => {
      if (!this.#closed) this.#events?.error(error instanceof Error ? error : new Error(String(error)))
    })
    const gap = (): void => this.#events?.gap()
    let first = true
    client.on('ready', () => {
      if (!first) gap()
      first = false
    })
    for (const event of ['node-reconnecting', 'topology-change', 'sharded-channel-moved']) client.on(event, gap)
    try {
      await client.connect()
      return client
    } catch (error) {
      this.#messages = undefined
      throw new NotSent((error as Error).message)
    }
  }
}

const wordOf = (word: Arg): Word => {
  if (typeof word === 'string') return word
  return typeof word === 'number' ? String(word) : Buffer.from(word.buffer, word.byteOffset, word.byteLength)
}

const refuse = (error: Error): never => {
  throw translated(error)
}

/** Told apart for the link by their texts, since the classes are those of the caller's copy. */
const translated = (error: Error): Error => {
  if (error instanceof NotSent) return error
  // What a server says begins with a word in capitals, what node-redis and the system say does not.
  if (/^[A-Z]{2,} /.test(error.message)) return new Error(error.message)
  if (/^The client is (closed|offline)/.test(error.message)) return new NotSent(error.message)
  return new NoReply(error.message)
}
