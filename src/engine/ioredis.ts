import { nextTick } from 'node:process'
import { Command } from 'ioredis'
import {
  type Connection,
  type Driver,
  type DriverEvents,
  type Nodes,
  NotSent,
  redirection,
  type SendOptions,
  type SubscriptionKind,
} from './engine.js'
import { rethrow, translated, withoutCommand } from './ioredis-errors.js'
import { commandIn, databaseIn, otherDatabase, otherUser, unknownUser } from './ioredis-checks.js'
import { isOutOfStep } from './ioredis-parser.js'
import { IoredisMessages, owingOf } from './ioredis-messages.js'
import { type ConnectionOptions, ownClient } from './own-client.js'
import { speaksTls, withoutTls } from './plaintext.js'
import { SentinelNews } from './sentinel-news.js'
import type { IoredisClient, Target } from './target.js'
import { slotOf } from '../keys.js'
import type { Arg, Reply } from '../lua/values.js'

/** How many commands one write takes. */
const TOGETHER = 16

/** Until a connection that is not what was asked for is made anew, ms. */
const UNFIT = 1000

/** A connection that was made here. */
interface Ours {
  readonly target: Target
  readonly options: ConnectionOptions
}

/** Commands without a key that belong where a key is: they follow a command, or one another. */
const KEYLESS: ReadonlySet<unknown> = new Set(['WAIT', 'PUBLISH'])

/** Either opened here, and closed here, or lent by the caller: then only the connection for messages is ours. */
export class IoredisDriver implements Driver {
  readonly address: string
  readonly cluster: boolean
  readonly lent: boolean
  readonly #commands: IoredisClient
  readonly #ours: Ours | undefined
  readonly #news: SentinelNews | undefined
  /** Who was said to be the master while another was being connected to. */
  #told: [host: string, port: number] | undefined
  /** Messages come on a connection of their own. */
  #messages: IoredisMessages | undefined
  /** Connections for one command each. */
  readonly #apart = new Set<IoredisClient>()
  readonly #handlers: [event: string, handler: (what: never) => void][] = []
  /** The connection that stands is what was asked for: its database, its user. */
  #certain = false
  #wasUp = false
  #joined = 0
  #closed = false

  constructor(client: IoredisClient, address: string, ours?: Ours) {
    this.#commands = client
    this.address = address
    this.#ours = ours
    this.lent = ours === undefined
    this.#news = ours?.target.topology === 'sentinel' ? new SentinelNews(ours.target, ours.options) : undefined
    this.cluster = client.isCluster === true
  }

  static open(target: Target, options: ConnectionOptions): IoredisDriver {
    return new IoredisDriver(ownClient(target, options), target.address, { target, options })
  }

  get isUp(): boolean {
    return this.#certain && this.#commands.status === 'ready' && !this.#closed
  }

  async open(events: DriverEvents): Promise<void> {
    this.#messages = new IoredisMessages(this.#commands, !this.lent, events)
    let last: Error | undefined
    let sentinel: Error | undefined
    let denied: Error | undefined
    // What one of them said is more than that none of them helped.
    this.#listenTo('sentinelError', (error: Error) => (sentinel = error))
    const strange = (error: Error): void => {
      if (isOutOfStep(error)) events.outOfStep(error)
    }
    this.#listenTo('node error', strange)
    this.#listenTo('error', (error: Error) => {
      strange(error)
      last = error.message.startsWith('All sentinels') ? (sentinel ?? error) : error
      // ioredis goes on in the database that it is in.
      if (commandIn(error) === 'select')
        denied = last = new Error(`${withoutCommand(error).message} (at its SELECT ${databaseIn(error)})`)
      if (this.#wasUp && !this.lent && !this.#closed) events.error(withoutCommand(error))
    })
    this.#listenTo('close', () => {
      const why = last === undefined ? '' : `: ${withoutCommand(last).message}`
      this.#certain = false
      denied = undefined
      this.#messages?.lost()
      events.down(new Error(`the connection was cut${why}`))
    })
    if (this.cluster) this.#watchMasters(events)
    const ready = new Promise<void>((resolve, reject) => {
      const stand = async (): Promise<void> => {
        const { stream } = this.#commands
        const unfit = denied ?? (await this.#doubts())
        if (this.#closed || this.#commands.stream !== stream || this.#commands.status !== 'ready') return
        if (unfit !== undefined) {
          last = unfit
          reject(unfit)
          this.#turnAway(unfit, events)
          return
        }
        last = undefined
        this.#stands(events)
        resolve()
      }
      this.#listenTo('ready', () => void stand())
      if (this.#commands.status === 'ready') void stand()
    })
    ready.catch(() => undefined)
    try {
      if (!this.lent || this.#commands.status === 'wait') await Promise.race([this.#dial(), never(ready)])
      await ready
    } catch (error) {
      throw withoutCommand(last ?? (error as Error))
    }
  }

  async explain({ message }: Error): Promise<string | undefined> {
    if (this.#ours === undefined || !/ECONNRESET|was cut|is closed/.test(message)) return undefined
    if (!(await speaksTls(this.#ours.target, this.#ours.options))) return undefined
    return "the server speaks TLS on this port: connect with 'rediss:'"
  }

  #dial(): Promise<unknown> {
    const connecting = this.#commands.connect()
    if (this.#ours === undefined) return connecting
    const { target, options } = this.#ours
    const plain = withoutTls(target, options)
    return plain === undefined
      ? connecting
      : Promise.race([connecting, plain.promise]).finally(() => {
          plain.end()
        })
  }

  /** Why the connection is not what was asked for, where that can be known only by asking. */
  #doubts(): Promise<Error | undefined> | undefined {
    if (this.cluster) return undefined
    if (this.#ours === undefined) return otherDatabase(this.#commands)
    const { username } = this.#ours.target
    if (username !== undefined) return otherUser(this.#commands, username)
    // The first connection is greeted anyway.
    return this.#wasUp ? unknownUser(this.#commands) : undefined
  }

  /** Nothing is sent on it. One of ours is made anew, after a while. */
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

  /** A failover and a slot that moves are seen by who has the slots, one node that restarts only by its connection. */
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

  /** Connects again where it is not there. A connection that is being made is looked at when it stands: cut short, it would end for good. */
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
    // What was asked before is answered still.
    for (const client of commands) if (client.status === 'ready') client.disconnect(true)
  }

  #listenTo(event: string, handler: (what: never) => void): void {
    this.#handlers.push([event, handler])
    this.#commands.on(event, handler)
  }

  send(argv: readonly Arg[], options: SendOptions = {}): Promise<Reply> {
    if (!this.isUp) return Promise.reject(new NotSent('not connected'))
    this.#join()
    const client = this.#commands
    if (this.cluster) {
      if (options.node !== undefined) return this.#sendTo(options.node, argv)
      const route = isKeyless(argv) ? options.route : undefined
      if (route !== undefined || options.redirected !== undefined) return this.#follow(argv, route, options)
    }
    // Its own pipelines take what callBuffer is given for the arguments alone.
    const pipelines = options.binary === true && client.options?.enableAutoPipelining === true
    // What options a caller's client has for its commands, only the client knows.
    if (this.lent && !pipelines) return call(client, argv, options)
    return client.sendCommand(commandOf(argv, options)) as Promise<Reply>
  }

  nodeOf(route: string): string | undefined {
    return this.#commands.slots?.[slotOf(route)]?.[0]
  }

  /** Commands of one turn of the event loop leave together, but not so many that the server stands idle meanwhile. */
  #join(): void {
    const { stream } = this.#commands
    if (this.lent || stream === undefined || stream === null) return
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
    return call(known, argv)
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
    for (const client of [...(this.lent ? [] : [this.#commands]), ...this.#apart]) {
      // Whatever goes wrong on the way out is nobody's concern any more, and must not be thrown.
      client.on('error', () => undefined)
      client.disconnect()
    }
    return Promise.resolve()
  }
}

/** Only its rejection counts. */
const never = (ready: Promise<void>): Promise<never> => ready.then(() => new Promise<never>(() => undefined))

/** A script without keys too. */
const isKeyless = ([name, , keys]: readonly Arg[]): boolean =>
  KEYLESS.has(name) || (keys === 0 && typeof name === 'string' && name.startsWith('EVAL'))

const call = (client: IoredisClient, argv: readonly Arg[], { binary }: SendOptions = {}): Promise<Reply> => {
  const [name, args] = wordsOf(argv)
  const reply = binary === true ? client.callBuffer(name, ...args) : client.call(name, ...args)
  return (reply as Promise<Reply>).catch(rethrow)
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
  const lowered = name === 'EVALSHA' ? 'evalsha' : name
  const command = new Command(lowered, args, { replyEncoding: binary === true ? null : 'utf8' })
  const { reject } = command
  command.reject = (error) => {
    reject(translated(error))
  }
  return command
}
