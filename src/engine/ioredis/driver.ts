import { slotOf } from '../../keys.js'
import type { Arg, Reply } from '../../lua/values.js'
import {
  type Connection,
  type Driver,
  type DriverEvents,
  type Nodes,
  NotSent,
  type SendOptions,
  type SubscriptionKind,
} from '../driver.js'
import type { Endpoint } from '../endpoint.js'
import type { IoredisClient } from './client-type.js'
import { call, commandOf, follow, isKeyless, type Through } from './commands.js'
import { otherDatabase, otherUser, unknownUser } from './login-checks.js'
import { refusedSelect, withoutCommand } from './translate-errors.js'
import { IoredisMessageConnection, owingOf } from './message-connection.js'
import { type ConnectionOptions, ownClient } from './own-client.js'
import { isOutOfStep } from './parser-guard.js'
import { SentinelNews } from './sentinel-news.js'
import { SeparateConnections } from './separate-connections.js'
import { speaksTls, withoutTls } from './tls-mismatch.js'
import { WriteBatches } from './write-batches.js'
import { errorOf } from '../../thrown.js'

/** How long an unsuitable connection is kept before it is replaced, ms. */
const UNFIT = 1000

/** A connection that the driver made. */
interface Ours {
  readonly endpoint: Endpoint
  readonly options: ConnectionOptions
}

/** Uses a client that it opens and closes itself, or one that the caller lends. Of a lent one, it owns only the connection for messages. */
export class IoredisDriver implements Driver {
  readonly address: string
  readonly cluster: boolean
  readonly lent: boolean
  readonly #commands: IoredisClient
  readonly #ours: Ours | undefined
  readonly #news: SentinelNews | undefined
  /** The master that the sentinels named while the client was connecting to another server. */
  #told: [host: string, port: number] | undefined
  /** Messages come on a connection of their own. */
  #messages: IoredisMessageConnection | undefined
  readonly #separate = new SeparateConnections()
  readonly #through: Through
  #batches: WriteBatches | undefined
  readonly #handlers: [event: string, handler: (what: never) => void][] = []
  /** The connection is up with the requested database and user. */
  #certain = false
  #wasUp = false
  /** The last error since the connection was up. */
  #lastError: Error | undefined
  /** Why the server refused its SELECT. ioredis continues in the database that it is in. */
  #denied: Error | undefined
  #closed = false

  constructor(client: IoredisClient, address: string, ours?: Ours) {
    this.#commands = client
    this.address = address
    this.#ours = ours
    this.lent = ours === undefined
    this.#news = ours?.endpoint.topology === 'sentinel' ? new SentinelNews(ours.endpoint, ours.options) : undefined
    this.cluster = client.isCluster === true
    this.#through = this.lent ? 'lent' : this.cluster ? 'cluster' : 'one server'
  }

  static open(endpoint: Endpoint, options: ConnectionOptions): IoredisDriver {
    return new IoredisDriver(ownClient(endpoint, options), endpoint.address, { endpoint, options })
  }

  get isUp(): boolean {
    return this.#certain && this.#commands.status === 'ready' && !this.#closed
  }

  async open(events: DriverEvents): Promise<void> {
    this.#messages = new IoredisMessageConnection(this.#commands, this.#ours?.options.clock, events)
    this.#watchErrors(events)
    if (this.cluster) this.#watchMasters(events)
    const ready = this.#whenReady(events)
    ready.catch(() => undefined)
    try {
      if (!this.lent || this.#commands.status === 'wait') await Promise.race([this.#dial(), never(ready)])
      await ready
    } catch (error) {
      throw withoutCommand(this.#lastError ?? errorOf(error))
    }
  }

  #watchErrors(events: DriverEvents): void {
    let sentinel: Error | undefined
    // The error of one sentinel says more than "all of them failed".
    this.#listenTo('sentinelError', (error: unknown) => (sentinel = errorOf(error)))
    const strange = (thrown: unknown): void => {
      const error = errorOf(thrown)
      if (isOutOfStep(error)) events.outOfStep(error)
    }
    this.#listenTo('node error', strange)
    this.#listenTo('error', (thrown: unknown) => {
      const error = errorOf(thrown)
      strange(error)
      const denied = refusedSelect(error)
      this.#denied = denied ?? this.#denied
      this.#lastError = denied ?? (error.message.startsWith('All sentinels') ? (sentinel ?? error) : error)
      if (this.#wasUp && !this.lent && !this.#closed) events.error(withoutCommand(error))
    })
    this.#listenTo('close', () => {
      const last = this.#lastError
      const why = last === undefined ? '' : `: ${withoutCommand(last).message}`
      this.#certain = false
      this.#denied = undefined
      this.#messages?.lost()
      events.down(new Error(`the connection was cut${why}`))
    })
  }

  /** Resolves when the connection is up for the first time, with the requested database and user. */
  #whenReady(events: DriverEvents): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      const stand = async (): Promise<void> => {
        const { stream } = this.#commands
        const unfit = this.#denied ?? (await this.#doubts())
        if (this.#closed || this.#commands.stream !== stream || this.#commands.status !== 'ready') return
        this.#lastError = unfit
        if (unfit !== undefined) {
          reject(unfit)
          this.#turnAway(unfit, events)
          return
        }
        this.#stands(events)
        resolve()
      }
      this.#listenTo('ready', () => void stand())
      if (this.#commands.status === 'ready') void stand()
    })
  }

  async explain({ message }: Error): Promise<string | undefined> {
    if (this.#ours === undefined || !/ECONNRESET|was cut|is closed/.test(message)) return undefined
    if (!(await speaksTls(this.#ours.endpoint, this.#ours.options))) return undefined
    return "the server speaks TLS on this port: connect with 'rediss:'"
  }

  #dial(): Promise<unknown> {
    const connecting = this.#commands.connect()
    if (this.#ours === undefined) return connecting
    const { endpoint, options } = this.#ours
    const plain = withoutTls(endpoint, options)
    return plain === undefined
      ? connecting
      : Promise.race([connecting, plain.promise]).finally(() => {
          plain.end()
        })
  }

  /** Checks what only the server can tell: whether the connection has the requested database and user. */
  #doubts(): Promise<Error | undefined> | undefined {
    if (this.cluster) return undefined
    if (this.#ours === undefined) return otherDatabase(this.#commands)
    const { username } = this.#ours.endpoint
    if (username !== undefined) return otherUser(this.#commands, username)
    // The first connection gets a PING anyway.
    return this.#wasUp ? unknownUser(this.#commands) : undefined
  }

  /** Nothing is sent on this connection. If it is holdfast's own, it is replaced after a while. */
  #turnAway(unfit: Error, events: DriverEvents): void {
    if (!this.#wasUp) return
    events.error(unfit)
    const { clock } = this.#ours?.options ?? {}
    const { stream } = this.#commands
    clock?.setTimer(() => stream?.destroy(), UNFIT * (0.75 + 0.5 * clock.random()), { background: true })
  }

  #stands(events: DriverEvents): void {
    const again = this.#wasUp
    this.#certain = true
    this.#wasUp = true
    if (!again) this.#news?.listen((host, port) => this.#goTo(host, port))
    if (this.#told !== undefined) this.#goTo(...this.#told)
    this.#messages?.found()
    events.up(again)
  }

  /** The slot table shows failovers and moved slots. If a single node restarts, only its connection shows it. */
  #watchMasters(events: DriverEvents): void {
    const mastersOf = (): (string | undefined)[] => Array.from(this.#commands.slots ?? [], (nodes) => nodes?.[0])
    let known = mastersOf()
    this.#listenTo('refresh', () => {
      const before = known
      known = mastersOf()
      if (before.length > 0 && known.some((master, slot) => master !== before[slot])) events.moved()
    })
    this.#listenTo('-node', (node: IoredisClient) => {
      if (node.options?.readOnly !== true) events.moved()
    })
  }

  /**
   * Reconnects if it is connected to another server. A connection under way is checked when it is up: if it were cut now, ioredis would end
   * it for good.
   */
  #goTo(host: string, port: number): void {
    const { status, stream } = this.#commands
    this.#told = status === 'ready' ? undefined : [host, port]
    if (status === 'ready' && (stream?.remoteAddress !== host || stream.remotePort !== port)) stream?.destroy()
    this.#messages?.goTo(host, port)
  }

  owing(): Connection[] {
    const commands = this.cluster ? (this.#commands.nodes?.('all') ?? []) : [this.#commands]
    return [...(this.lent ? [] : owingOf(commands)), ...(this.#messages?.owing() ?? [])]
  }

  pulse(): Promise<unknown>[] {
    return this.#messages?.pulse() ?? []
  }

  reconnect(): void {
    this.#messages?.reconnect()
    if (this.lent) return
    this.#certain = this.cluster
    const commands = this.cluster ? (this.#commands.nodes?.('all') ?? []) : [this.#commands]
    // Commands sent before are still answered.
    for (const client of commands) if (client.status === 'ready') client.disconnect(true)
  }

  #listenTo(event: string, handler: (what: never) => void): void {
    this.#handlers.push([event, handler])
    this.#commands.on(event, handler)
  }

  send(argv: readonly Arg[], options: SendOptions = {}): Promise<Reply> {
    if (!this.isUp) return Promise.reject(new NotSent('not connected'))
    const client = this.#commands
    const { stream } = client
    if (!this.lent && stream !== undefined && stream !== null)
      (this.#batches = WriteBatches.of(stream, this.#batches)).join()
    if (this.cluster) {
      if (options.node !== undefined) return this.#sendTo(options.node, argv)
      // An empty one: any node will do.
      const route = options.route !== '' && isKeyless(argv) ? options.route : undefined
      if (route !== undefined || options.redirected !== undefined)
        return follow(client, commandOf(argv, options, this.#through), route, options)
    }
    // With auto-pipelining, ioredis takes everything that `callBuffer` is given for arguments, even the name.
    const pipelines = options.binary === true && client.options?.enableAutoPipelining === true
    if (this.lent && !pipelines) return call(client, argv, options)
    return client.sendCommand(commandOf(argv, options, this.#through)) as Promise<Reply>
  }

  nodeOf(route: string): string | undefined {
    return this.#commands.slots?.[slotOf(route)]?.[0]
  }

  #sendTo(node: string, argv: readonly Arg[]): Promise<Reply> {
    const known = this.#commands.nodes?.('master').find(({ options }) => `${options?.host}:${options?.port}` === node)
    if (known === undefined) return Promise.reject(new NotSent('the node is not known'))
    return call(known, argv)
  }

  masters(): readonly string[] {
    const connected = (this.#commands.nodes?.('master') ?? []).map(({ options }) => `${options?.host}:${options?.port}`)
    // A master that is away is no longer among the connections, but still has its slots.
    const owners = new Set((this.#commands.slots ?? []).flatMap((nodes) => nodes?.[0] ?? []))
    return [...new Set([...connected, ...owners])]
  }

  everywhere(argv: readonly Arg[], nodes: Nodes): Promise<Reply>[] {
    if (!this.isUp) return [Promise.reject(new NotSent('not connected'))]
    const all = this.#commands.nodes?.(nodes === 'all' ? 'all' : 'master') ?? [this.#commands]
    return all.map((node) => (nodes === 'apart' ? this.#separate.send(node, argv) : call(node, argv)))
  }

  subscribe(name: string, kind: SubscriptionKind): Promise<void> {
    return this.#messages?.subscribe(name, kind) ?? Promise.reject(new NotSent('not connected'))
  }

  async unsubscribe(name: string, kind: SubscriptionKind): Promise<void> {
    await this.#messages?.unsubscribe(name, kind)
  }

  close(): Promise<void> {
    this.#closed = true
    this.#news?.close()
    for (const [event, handler] of this.#handlers) this.#commands.off(event, handler)
    this.#messages?.close()
    this.#separate.close()
    if (this.lent) return Promise.resolve()
    // Errors during the close no longer matter, and must not be thrown.
    this.#commands.on('error', () => undefined)
    this.#commands.disconnect()
    return Promise.resolve()
  }
}

/** Only its rejection counts. */
const never = (ready: Promise<void>): Promise<never> => ready.then(() => new Promise<never>(() => undefined))
