import { nextTick } from 'node:process'
import { type Cluster, Command } from 'ioredis'
import { type Arg, type Driver, type DriverEvents, NoReply, NotSent, type Reply, type SendOptions } from './engine.js'
import { type ConnectionOptions, ownClient } from './own-client.js'
import type { IoredisClient, Target } from './target.js'
import { slotOf } from '../keys.js'

/** How many commands one write takes. */
const TOGETHER = 16

/** Either opened here, and closed here, or lent by the caller: then only its subscriber is ours. */
export class IoredisDriver implements Driver {
  readonly address: string
  readonly cluster: boolean
  readonly #commands: IoredisClient
  readonly #own: boolean
  /** After a reconnection the server may be another. */
  readonly #moves: boolean
  /** Messages come on a connection of their own, made when first needed. Of a cluster of ours, ioredis keeps it itself. */
  #messages: IoredisClient | undefined
  #messagesReady: Promise<unknown> = Promise.resolve()
  readonly #channels = { plain: new Set<string>(), sharded: new Set<string>() }
  readonly #handlers: [event: string, handler: (error: Error) => void][] = []
  #events: DriverEvents | undefined
  #wasUp = false
  #joined = 0
  #closed = false

  constructor(client: IoredisClient, address: string, own: boolean) {
    this.#commands = client
    this.address = address
    this.cluster = client.isCluster === true
    this.#own = own
    this.#moves = (client.options?.sentinels ?? []).length > 0
  }

  static open(target: Target, options: ConnectionOptions): IoredisDriver {
    return new IoredisDriver(ownClient(target, options), target.address, true)
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
      events.down(new Error('the connection was cut'))
    })
    const ready = new Promise<void>((resolve) => {
      this.#listenTo('ready', () => {
        const again = this.#wasUp
        this.#wasUp = true
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

  #listenTo(event: string, handler: (error: Error) => void): void {
    this.#handlers.push([event, handler])
    this.#commands.on(event, handler)
  }

  send(argv: readonly Arg[], options?: SendOptions): Promise<Reply> {
    if (!this.isUp) return Promise.reject(new NotSent('not connected'))
    const [name, ...args] = argv as [string, ...(string | number | Buffer)[]]
    const client = this.#commands
    this.#join()
    const binary = options?.binary === true
    const reply =
      this.cluster && options?.route !== undefined && name === 'WAIT'
        ? this.#follow(name, args, options.route)
        : binary
          ? client.callBuffer(name, ...args)
          : client.call(name, ...args)
    return (reply as Promise<Reply>).catch(rethrow)
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

  /** A command that has no key of its own goes where the command before it went. */
  #follow(name: string, args: (string | number | Buffer)[], route: string): Promise<unknown> {
    const command = new Command(name, args, { replyEncoding: 'utf8' })
    return (this.#commands as unknown as Cluster).sendCommand(command, undefined, {
      slot: slotOf(route),
    }) as Promise<unknown>
  }

  async subscribe(channel: string, sharded: boolean): Promise<void> {
    const channels = sharded ? this.#channels.sharded : this.#channels.plain
    channels.add(channel)
    await this.#openMessages()
    const client = this.#messages
    if (client === undefined) throw new NotSent('closed')
    // It was unsubscribed while the connection was being made.
    if (!channels.has(channel)) return
    await (sharded ? client.ssubscribe(channel) : client.subscribe(channel)).catch(rethrow)
  }

  async unsubscribe(channel: string, sharded: boolean): Promise<void> {
    ;(sharded ? this.#channels.sharded : this.#channels.plain).delete(channel)
    const client = this.#messages
    if (client?.status !== 'ready') return
    await (sharded ? client.sunsubscribe(channel) : client.unsubscribe(channel)).catch(rethrow)
  }

  close(): Promise<void> {
    this.#closed = true
    for (const [event, handler] of this.#handlers) this.#commands.off(event, handler)
    const ours = new Set([this.#messages, this.#own ? this.#commands : undefined])
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
    const hear = (channel: string, payload: string): void => this.#events?.message(channel, payload)
    client.on('message', hear)
    client.on('smessage', hear)
    if (shared) return this.#messagesReady
    client.on('error', (error: Error) => {
      if (!this.#closed) this.#events?.error(withoutCommand(error))
    })
    let first = true
    client.on('ready', () => {
      if (!first) void this.#resubscribe(client)
      first = false
    })
    return (this.#messagesReady = client.connect().catch((error: unknown) => {
      this.#messages = undefined
      client.disconnect()
      throw new NotSent(withoutCommand(error as Error).message)
    }))
  }

  #subscriber(): IoredisClient {
    const overrides = {
      lazyConnect: true,
      enableOfflineQueue: true,
      autoResubscribe: false,
      maxRetriesPerRequest: null,
    }
    return this.cluster ? this.#commands.duplicate(undefined, overrides) : this.#commands.duplicate(overrides)
  }

  async #resubscribe(client: IoredisClient): Promise<void> {
    const { plain, sharded } = this.#channels
    const all = [...plain].map((channel) => client.subscribe(channel))
    for (const channel of sharded) all.push(client.ssubscribe(channel))
    // One that is refused does not keep the others from hearing; if the connection went again, its next 'ready' starts anew.
    await Promise.allSettled(all)
    this.#events?.gap()
  }
}

/** ioredis hangs the command on its errors, and AUTH's arguments hold the password. */
const withoutCommand = (error: Error): Error => {
  const source = (error as { lastNodeError?: Error }).lastNodeError ?? error
  return new Error(source.message === '' ? ((source as { code?: string }).code ?? source.name) : source.message)
}

/** Where ioredis gave up asking on, the server's last answer is within words of its own. */
const GAVE_UP = /^Too many Cluster redirections\. Last error: ReplyError: (.*)$/s

/** Told apart for the link: never sent, sent and unanswered, or answered with an error. */
const rethrow = (error: Error): never => {
  if (error.name === 'ReplyError') throw withoutCommand(error)
  const answer = GAVE_UP.exec(error.message)?.[1]
  if (answer !== undefined) throw new Error(answer)
  if (error.message.startsWith("Stream isn't writeable")) throw new NotSent(error.message)
  throw new NoReply(withoutCommand(error).message)
}
