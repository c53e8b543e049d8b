import { nextTick } from 'node:process'
import { Command } from 'ioredis'
import {
  type Arg,
  type Driver,
  type DriverEvents,
  type Nodes,
  NoReply,
  NotSent,
  redirection,
  type Reply,
  type SendOptions,
  type SubscriptionKind,
} from './engine.js'
import { type ConnectionOptions, ownClient, reasonOf } from './own-client.js'
import { SentinelNews } from './sentinel-news.js'
import type { IoredisClient, Target } from './target.js'
import { slotOf } from '../keys.js'

/** How many commands one write takes. */
const TOGETHER = 16

/** How each kind of subscription is begun and ended. */
const WORDS = {
  plain: ['subscribe', 'unsubscribe'],
  sharded: ['ssubscribe', 'sunsubscribe'],
  pattern: ['psubscribe', 'punsubscribe'],
} as const

/** Commands without a key that belong where a key is: they follow a command, or one another. */
const KEYLESS: ReadonlySet<unknown> = new Set(['WAIT', 'PUBLISH'])

/** Either opened here, and closed here, or lent by the caller: then only its subscriber is ours. */
export class IoredisDriver implements Driver {
  readonly address: string
  readonly cluster: boolean
  readonly #commands: IoredisClient
  readonly #own: boolean
  /** After a reconnection the server may be another. */
  readonly #moves: boolean
  readonly #news: SentinelNews | undefined
  /** Who was said to be the master while another was being connected to. */
  #told: [host: string, port: number] | undefined
  /** Messages come on a connection of their own, made when first needed. Of a cluster of ours, ioredis keeps it itself. */
  #messages: IoredisClient | undefined
  #messagesReady: Promise<unknown> = Promise.resolve()
  readonly #channels = { plain: new Set<string>(), sharded: new Set<string>(), pattern: new Set<string>() }
  /** Connections for one command each. */
  readonly #apart = new Set<IoredisClient>()
  readonly #handlers: [event: string, handler: (error: Error) => void][] = []
  #events: DriverEvents | undefined
  /** Which connection of a cluster brings the messages that are not sharded. */
  #watched: IoredisClient | undefined
  #wasUp = false
  #joined = 0
  #closed = false

  /** `news`: of whom it connects to. */
  constructor(client: IoredisClient, address: string, own: boolean, news?: SentinelNews) {
    this.#commands = client
    this.address = address
    this.#news = news
    this.cluster = client.isCluster === true
    this.#own = own
    this.#moves = (client.options?.sentinels ?? []).length > 0 || client.options?.Connector !== undefined
  }

  static open(target: Target, options: ConnectionOptions): IoredisDriver {
    const news = target.topology === 'sentinel' ? new SentinelNews(target, options) : undefined
    return new IoredisDriver(ownClient(target, options), target.address, true, news)
  }

  get isUp(): boolean {
    return this.#commands.status === 'ready' && !this.#closed
  }

  async open(events: DriverEvents): Promise<void> {
    this.#events = events
    let last: Error | undefined
    let sentinel: Error | undefined
    // What one of them said is more than that none of them helped.
    this.#listenTo('sentinelError', (error: Error) => (sentinel = error))
    this.#listenTo('error', (error: Error) => {
      last = error.message.startsWith('All sentinels') ? (sentinel ?? error) : error
      if (this.#wasUp && this.#own && !this.#closed) events.error(withoutCommand(error))
    })
    this.#listenTo('close', () => {
      const why = last === undefined ? '' : `: ${withoutCommand(last).message}`
      events.down(new Error(`the connection was cut${why}`))
    })
    const ready = new Promise<void>((resolve) => {
      this.#listenTo('ready', () => {
        const again = this.#wasUp
        this.#wasUp = true
        last = undefined
        if (!again) this.#news?.listen((host, port) => this.#goTo(host, port))
        if (this.#told !== undefined) this.#goTo(...this.#told)
        // The server of before may live on, with nobody to tell of releases there.
        if (again && this.#moves && this.#messages?.status === 'ready') this.#messages.disconnect(true)
        events.up(again)
        resolve()
      })
    })
    if (this.#commands.status === 'ready') {
      this.#wasUp = true
      return
    }
    if (!this.#own && this.#commands.status !== 'wait') return ready
    try {
      await this.#commands.connect()
    } catch (error) {
      throw withoutCommand(last ?? (error as Error))
    }
  }

  /** Connects again where it is not there. A connection that is being made is looked at when it stands: cut short, it would end for good. */
  #goTo(host: string, port: number): void {
    this.#told = this.#commands.status === 'ready' ? undefined : [host, port]
    for (const client of [this.#commands, this.#messages]) {
      if (client?.status !== 'ready') continue
      const { remoteAddress, remotePort } = client.stream ?? {}
      if (remoteAddress !== host || remotePort !== port) client.disconnect(true)
    }
  }

  #listenTo(event: string, handler: (error: Error) => void): void {
    this.#handlers.push([event, handler])
    this.#commands.on(event, handler)
  }

  send(argv: readonly Arg[], options: SendOptions = {}): Promise<Reply> {
    if (!this.isUp) return Promise.reject(new NotSent('not connected'))
    this.#join()
    return this.#sent(argv, options).catch(rethrow)
  }

  #sent(argv: readonly Arg[], options: SendOptions): Promise<Reply> {
    const client = this.#commands
    if (this.cluster) {
      if (options.node !== undefined) return this.#sendTo(options.node, argv)
      const route = isKeyless(argv) ? options.route : undefined
      if (route !== undefined || options.redirected !== undefined) return this.#follow(argv, route, options)
    }
    // What options a caller's client has for its commands, only the client knows.
    if (this.#own) return client.sendCommand(commandOf(argv, options)) as Promise<Reply>
    const [name, args] = wordsOf(argv)
    const reply = options.binary === true ? client.callBuffer(name, ...args) : client.call(name, ...args)
    return reply as Promise<Reply>
  }

  nodeOf(route: string): string | undefined {
    return this.#commands.slots?.[slotOf(route)]?.[0]
  }

  /** Commands of one turn of the event loop leave together, but not so many that the server stands idle meanwhile. */
  #join(): void {
    const { stream } = this.#commands
    if (!this.#own || stream === undefined || stream === null) return
    if (this.#joined === 0) {
      nextTick(() => {
        if (this.#joined > 1) stream.uncork()
        this.#joined = 0
      })
    } else if (this.#joined === 1) stream.cork()
    else if (this.#joined % TOGETHER === 0) {
      stream.uncork()
      stream.cork()
    }
    this.#joined++
  }

  #sendTo(node: string, argv: readonly Arg[]): Promise<Reply> {
    const known = this.#commands.nodes?.('master').find(({ options }) => `${options?.host}:${options?.port}` === node)
    if (known === undefined) return Promise.reject(new NotSent('the node is not known'))
    const [name, args] = wordsOf(argv)
    return known.call(name, ...args) as Promise<Reply>
  }

  /** A command that has no key of its own goes where that of another goes. */
  #follow(argv: readonly Arg[], route: string | undefined, options: SendOptions): Promise<Reply> {
    const command = commandOf(argv, options)
    const slot = route === undefined ? undefined : { slot: slotOf(route) }
    const reply = this.#commands.sendCommand(command, undefined, slot) as Promise<Reply>
    // ioredis sends it on from there, and tells nobody.
    const reject = command.reject.bind(command)
    command.reject = (error) => {
      const to = redirection(error.message)
      if (to !== undefined) options.redirected?.(to)
      reject(error)
    }
    return reply
  }

  everywhere(argv: readonly Arg[], nodes: Nodes): Promise<Reply>[] {
    if (!this.isUp) return [Promise.reject(new NotSent('not connected'))]
    const all = this.#commands.nodes?.(nodes === 'all' ? 'all' : 'master') ?? [this.#commands]
    return all.map((node) => (nodes === 'apart' ? this.#sendApart(node, argv) : call(node, argv)))
  }

  async #sendApart(node: IoredisClient, argv: readonly Arg[]): Promise<Reply> {
    // While a script runs the server takes nothing but what ends it: no SELECT, no INFO.
    const bare = { lazyConnect: true, db: 0, enableReadyCheck: false, disableClientInfo: true, retryStrategy: null }
    const client = node.duplicate(bare)
    client.on('error', () => undefined)
    this.#apart.add(client)
    try {
      await client.connect()
      return await call(client, argv)
    } finally {
      this.#apart.delete(client)
      client.disconnect()
    }
  }

  async subscribe(name: string, kind: SubscriptionKind): Promise<void> {
    const names = this.#channels[kind]
    names.add(name)
    await this.#openMessages()
    const client = this.#messages
    if (client === undefined) throw new NotSent('closed')
    // It was unsubscribed while the connection was being made.
    if (!names.has(name)) return
    await client[WORDS[kind][0]](name).catch(rethrow)
    this.#watchSubscriber()
  }

  async unsubscribe(name: string, kind: SubscriptionKind): Promise<void> {
    this.#channels[kind].delete(name)
    const client = this.#messages
    if (client?.status !== 'ready') return
    await client[WORDS[kind][1]](name).catch(rethrow)
  }

  close(): Promise<void> {
    this.#closed = true
    this.#news?.close()
    for (const [event, handler] of this.#handlers) this.#commands.off(event, handler)
    const ours = new Set([this.#messages, this.#own ? this.#commands : undefined, ...this.#apart])
    for (const client of ours) {
      // Whatever goes wrong on the way out is nobody's concern any more, and must not be thrown.
      client?.on('error', () => undefined)
      client?.disconnect()
    }
    return Promise.resolve()
  }

  #openMessages(): Promise<unknown> {
    if (this.#messages !== undefined || this.#closed) return this.#messagesReady
    const shared = this.cluster && this.#own
    const client = shared ? this.#commands : this.#subscriber()
    this.#messages = client
    this.#hear(client)
    const again = (): void => void this.#resubscribe(client)
    // ioredis has begun to subscribe to all of them with the nodes that have the slots by now.
    const follow = (): unknown => client.on('subscribersReady', again)
    if (shared) {
      follow()
      client.on('ready', again)
      return this.#messagesReady
    }
    client.on('error', (error: Error) => {
      if (!this.#closed) this.#events?.error(withoutCommand(error))
    })
    let first = true
    client.on('ready', () => {
      if (!first) again()
      first = false
    })
    return (this.#messagesReady = client.connect().then(follow, (error: unknown) => {
      this.#messages = undefined
      client.disconnect()
      throw new NotSent(withoutCommand(error as Error).message)
    }))
  }

  #hear(client: IoredisClient): void {
    const tell = (kind: SubscriptionKind, channel: Buffer, payload: Buffer, name = channel.toString()): void =>
      this.#events?.message({ kind, name, channel: channel.toString(), payload })
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
    const client = this.#messages
    const subscriber = client?.subscriber?.getInstance()
    if (subscriber === undefined || subscriber === null || subscriber === this.#watched) return
    this.#watched = subscriber
    subscriber.on('end', () => {
      if (client === undefined || this.#closed || this.#watched !== subscriber) return
      void this.#resubscribe(client)
    })
  }

  #subscriber(): IoredisClient {
    const overrides = {
      lazyConnect: true,
      enableOfflineQueue: true,
      autoResubscribe: false,
      maxRetriesPerRequest: null,
      // Without it one node is asked for all of them, and refuses those of the others.
      shardedSubscribers: true,
    }
    return this.cluster ? this.#commands.duplicate(undefined, overrides) : this.#commands.duplicate(overrides)
  }

  async #resubscribe(client: IoredisClient): Promise<void> {
    const all: Promise<unknown>[] = []
    for (const kind of ['plain', 'sharded', 'pattern'] as const) {
      for (const name of this.#channels[kind]) {
        const subscribed = client[WORDS[kind][0]](name)
        all.push(subscribed.catch(() => this.#events?.unheard(kind, name)))
      }
    }
    if (all.length === 0) return
    this.#watchSubscriber()
    // If the connection went again, its next 'ready' starts anew.
    await Promise.all(all)
    this.#events?.gap()
  }
}

/** A script without keys too. */
const isKeyless = ([name, , keys]: readonly Arg[]): boolean =>
  KEYLESS.has(name) || (keys === 0 && typeof name === 'string' && name.startsWith('EVAL'))

const call = (client: IoredisClient, argv: readonly Arg[]): Promise<Reply> => {
  const [name, args] = wordsOf(argv)
  return (client.call(name, ...args) as Promise<Reply>).catch(rethrow)
}

/** ioredis takes bytes for such in a Buffer only. */
const wordsOf = ([name, ...args]: readonly Arg[]): [name: string, args: (string | number | Buffer)[]] => {
  for (let i = 0; i < args.length; i++) {
    const arg = args[i]
    if (arg instanceof Uint8Array) args[i] = Buffer.from(arg.buffer, arg.byteOffset, arg.length)
  }
  return [name as string, args as (string | number | Buffer)[]]
}

const commandOf = (argv: readonly Arg[], { binary }: SendOptions): Command => {
  const [name, args] = wordsOf(argv)
  // ioredis looks each command up several times, in lower case.
  return new Command(name === 'EVALSHA' ? 'evalsha' : name, args, { replyEncoding: binary === true ? null : 'utf8' })
}

/** ioredis hangs the command on its errors, and AUTH's arguments hold the password. */
const withoutCommand = (error: Error): Error => {
  const source = (error as { lastNodeError?: Error }).lastNodeError ?? error
  return new Error(reasonOf(source))
}

/** Where ioredis gave up asking on, the server's last answer is within words of its own. */
const GAVE_UP = /^Too many Cluster redirections\. Last error: ReplyError: (.*)$/s

/** Told apart for the link: never sent, sent and unanswered, or answered with an error. */
const rethrow = (error: Error): never => {
  if (error instanceof NotSent) throw error
  if (error.name === 'ReplyError') throw withoutCommand(error)
  const answer = GAVE_UP.exec(error.message)?.[1]
  if (answer !== undefined) throw new Error(answer)
  if (error.message.startsWith("Stream isn't writeable")) throw new NotSent(error.message)
  throw new NoReply(withoutCommand(error).message)
}
