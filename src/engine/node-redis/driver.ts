import { slotOf } from '../../keys.js'
import type { Arg, Reply } from '../../lua/values.js'
import { missingDatabase } from '../why-connect-failed.js'
import {
  type Connection,
  type Driver,
  type DriverEvents,
  type Nodes,
  NotSent,
  redirection,
  type SendOptions,
  type SubscriptionKind,
} from '../driver.js'
import type { NodeRedisClient, NodeRedisNode } from './client-type.js'
import { refuse, translated } from './translate-errors.js'
import { NodeRedisMessageConnections } from './message-connection.js'
import { OverdueNodes } from './overdue-nodes.js'
import { errorOf } from '../../thrown.js'

type Word = string | Buffer

/** Bulk strings, statuses and verbatim strings become Buffers; by the first byte of their type. */
const BYTES = { typeMapping: { 36: Buffer, 43: Buffer, 61: Buffer } }
const TEXT = { typeMapping: {} }

/** While a script runs, the server accepts only commands that end it: no SELECT, no CLIENT. */
const BARE = {
  ...{ url: undefined, name: undefined, database: 0, disableClientInfo: true },
  ...{ clientSideCache: undefined, emitInvalidate: false, maintNotifications: 'disabled' },
  socket: { reconnectStrategy: false },
}

/** The caller's node-redis client, for one server, sentinels or a cluster. The driver owns only the connections for messages. */
export class NodeRedisDriver implements Driver {
  readonly address = 'the connection passed in'
  readonly cluster: boolean
  readonly lent = true
  readonly #client: NodeRedisClient
  readonly #sentinel: boolean
  readonly #handlers: [event: string, handler: (what: unknown) => void][] = []
  /** Connections made for one command. */
  readonly #apart = new Set<NodeRedisClient>()
  /** With a cluster. The connections are the caller's, so a silent node is not reconnected, but its slots may be elsewhere by now. */
  readonly #overdue = new OverdueNodes((address) => void this.#movedFrom(address).catch(() => undefined))
  #events: DriverEvents | undefined
  #messages: NodeRedisMessageConnections | undefined
  /** With sentinels: how many masters there have been. A message connection to a former master is of no use. */
  #masters = 1
  /** With sentinels: resolves when the last command has left. */
  #left: Promise<unknown> = Promise.resolve()
  #closed = false

  constructor(client: NodeRedisClient) {
    this.#client = client
    this.cluster = client.slots !== undefined
    this.#sentinel = client.getSentinelNode !== undefined
  }

  get isUp(): boolean {
    // A cluster client of version 5 reveals no more.
    return (this.#client.isReady ?? this.#client.isOpen) && !this.#closed
  }

  async open(events: DriverEvents): Promise<void> {
    const client = this.#client
    const messages = new NodeRedisMessageConnections(this.#sources(), events)
    this.#messages = messages
    this.#events = events
    let wasUp = this.isUp
    // Without a listener, node-redis throws its errors. The owner's listeners get them, and holdfast sees them in its commands.
    // node-redis would retry a database that does not exist for ever.
    const missing = new Promise<never>((_resolve, reject) => {
      this.#listenTo('error', (error) => {
        const { message } = errorOf(error)
        if (!wasUp && missingDatabase(message) !== undefined) reject(new Error(message))
      })
    })
    missing.catch(() => undefined)
    const cut = (): void => {
      messages.lost()
      events.down(new Error('the connection was cut'))
    }
    const ready = new Promise<void>((resolve) => {
      this.#listenTo(this.cluster ? 'connect' : 'ready', () => {
        const again = wasUp
        wasUp = true
        // With a cluster or sentinels, it is known which node publishes what.
        if (!this.cluster && !this.#sentinel) messages.found()
        events.up(again)
        resolve()
      })
    })
    if (!this.cluster) this.#listenTo('reconnecting', cut)
    this.#watchMasters(messages, events, cut)
    if (this.isUp) return
    await Promise.race([client.isOpen ? ready : client.connect(), missing])
    wasUp = true
  }

  #watchMasters(messages: NodeRedisMessageConnections, events: DriverEvents, cut: () => void): void {
    this.#listenTo('topology-change', (change) => {
      if ((change as { type?: unknown } | undefined)?.type !== 'MASTER_CHANGE') return
      this.#masters++
      cut()
      // Version 6 reports by itself when it is ready for the new master.
      if (this.isUp) events.up(true)
      void messages.follow()
    })
    // Version 5 does not look up the slots of a node that is gone.
    this.#listenTo('node-reconnecting', (node) => {
      const { host, port } = node as { host?: string; port?: number }
      events.moved()
      void this.#relearn(`${host}:${port}`).catch(() => undefined)
    })
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
      if (this.#sentinel) return await this.#sendInOrder(words, how)
      if (!this.cluster) return await this.#client.sendCommand(words, how)
      return await this.#sendToNode(words, how, options)
    } catch (error) {
      throw translated(error)
    }
  }

  /**
   * A command sent while none is under way waits for a connection of the pool, and a slightly later one would overtake it. So each
   * command waits until the one before has left.
   */
  #sendInOrder(words: Word[], how: object): Promise<Reply> {
    const before = this.#left
    return new Promise<Reply>((resolve, reject) => {
      this.#left = new Promise<void>((left) => {
        let failure: Error | undefined
        const send = (): Promise<Reply> =>
          this.#beside(async (master) => {
            left()
            if (this.#closed) throw new NotSent('closed')
            // The pool asks to send it again. Only a command that the server refused surely did not run.
            if (failure !== undefined && !failure.message.startsWith('READONLY')) throw failure
            return master.sendCommand(words, how).catch((error: unknown) => {
              throw (failure = errorOf(error))
            })
          })
        const failed = (error: unknown): void => {
          left()
          reject(error)
        }
        void before.then(() => send().then(resolve, failed))
      })
    })
  }

  /** With sentinels: runs `use` with the caller's connection to the master. */
  #beside<T>(use: (master: NodeRedisClient) => Promise<T>): Promise<T> {
    const execute = this.#client._execute?.bind(this.#client)
    return execute === undefined ? Promise.reject(new NotSent('no connection to the master')) : execute(false, use)
  }

  /** Sends straight to the node, so that commands for one node leave in order. The cluster client itself follows redirections. */
  async #sendToNode(words: Word[], how: object, { route = '', node, redirected }: SendOptions): Promise<Reply> {
    const place =
      node === undefined ? this.#nodeOf(route) : this.#client.masters?.find(({ address }) => address === node)
    try {
      return await this.#overdue.ask(place?.address ?? '', async () =>
        (await this.#clientOf(place)).sendCommand(words, how),
      )
    } catch (error) {
      // The command did not run there.
      const to = redirection(errorOf(error).message)
      if (to === undefined || node !== undefined) throw error
      redirected?.(to)
      this.#events?.moved()
      const reply = await this.#client.sendCommand(route, false, words, how)
      void this.#messages?.follow()
      return reply
    }
  }

  #clientOf(node: NodeRedisNode | undefined): Promise<NodeRedisClient> {
    if (node === undefined || this.#client.nodeClient === undefined)
      return Promise.reject(new NotSent('the node is not known'))
    return this.#client.nodeClient(node)
  }

  #nodeOf(route: string): NodeRedisNode | undefined {
    return this.#client.slots?.[slotOf(route)]?.master
  }

  nodeOf(route: string): string | undefined {
    return this.#nodeOf(route)?.address
  }

  masters(): readonly string[] {
    return (this.#client.masters ?? []).map(({ address }) => address)
  }

  everywhere(argv: readonly Arg[], nodes: Nodes): Promise<Reply>[] {
    if (!this.isUp) return [Promise.reject(new NotSent('not connected'))]
    if (!this.cluster) return [nodes === 'apart' ? this.#sendApart(argv) : this.send(argv)]
    const { masters = [], replicas = [] } = this.#client
    return (nodes === 'all' ? [...masters, ...replicas] : masters).map(async (node) =>
      nodes === 'apart'
        ? this.#sendApart(argv, node)
        : this.#clientOf(node).then((client) => client.sendCommand(argv.map(wordOf), TEXT).catch(refuse)),
    )
  }

  async #sendApart(argv: readonly Arg[], node?: NodeRedisNode): Promise<Reply> {
    const beside = node === undefined ? await this.#anyOf() : await this.#clientOf(node)
    const { socket } = beside.options ?? {}
    const client = beside.duplicate?.({ ...BARE, socket: { ...socket, ...BARE.socket } })
    if (client === undefined) throw new NotSent('cannot open a second connection')
    client.on('error', () => undefined)
    this.#apart.add(client)
    try {
      await client.connect()
      return await client.sendCommand(argv.map(wordOf), TEXT)
    } catch (error) {
      return refuse(error)
    } finally {
      if (this.#apart.delete(client) && client.isOpen) client.destroy()
    }
  }

  /** The only connection, or the one to the master. */
  #anyOf(): Promise<NodeRedisClient> {
    return this.#sentinel ? this.#beside((master) => Promise.resolve(master)) : Promise.resolve(this.#client)
  }

  subscribe(name: string, kind: SubscriptionKind): Promise<void> {
    return this.#messages?.subscribe(name, kind).catch(refuse) ?? Promise.reject(new NotSent('not connected'))
  }

  async unsubscribe(name: string, kind: SubscriptionKind): Promise<void> {
    await this.#messages?.unsubscribe(name, kind).catch(refuse)
  }

  owing(): Connection[] {
    return [...this.#overdue.owing(), ...(this.#messages?.owing() ?? [])]
  }

  pulse(): Promise<unknown>[] {
    return this.#messages?.pulse().map((pong) => pong.catch(refuse)) ?? []
  }

  close(): Promise<void> {
    this.#closed = true
    for (const [event, handler] of this.#handlers) this.#client.off(event, handler)
    for (const client of this.#apart) if (this.#apart.delete(client) && client.isOpen) client.destroy()
    this.#messages?.close()
    return Promise.resolve()
  }

  #sources(): ConstructorParameters<typeof NodeRedisMessageConnections>[0] {
    const nodeNamed = (source: string): NodeRedisNode | undefined =>
      this.#client.masters?.find(({ address }) => address === source)
    return {
      sourceOf: (name, kind) =>
        this.cluster ? (this.nodeOf(kind === 'sharded' ? name : '') ?? '') : String(this.#masters),
      beside: (source) => (this.cluster ? this.#clientOf(nodeNamed(source)) : this.#anyOf()),
      relearn: (source) => this.#relearn(source),
    }
  }

  async #movedFrom(silent: string): Promise<void> {
    await this.#relearn(silent)
    if (this.#client.masters?.some(({ address }) => address === silent) === true) return
    this.#events?.moved()
    await this.#messages?.follow()
  }

  /** Asks another node than this one, which may be gone. */
  async #relearn(gone: string): Promise<void> {
    const { masters = [], _slots: table } = this.#client
    const live = masters.find(({ address, client }) => address !== gone && client?.isReady === true)?.client
    if (live !== undefined) await table?.rediscover(live)
  }
}

const wordOf = (word: Arg): Word => {
  if (typeof word === 'string') return word
  return typeof word === 'number' ? String(word) : Buffer.from(word.buffer, word.byteOffset, word.byteLength)
}
