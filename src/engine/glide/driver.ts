import { HoldfastError } from '../../errors.js'
import type { Arg, Reply } from '../../lua/values.js'
import { missingDatabase } from '../why-connect-failed.js'
import {
  type Driver,
  type DriverEvents,
  type Nodes,
  NotSent,
  type SendOptions,
  type SubscriptionKind,
} from '../driver.js'
import type { GlideClient, GlideMessage } from './client-type.js'
import { bytesOf, refuse, replyOf, serverText, textOf, translated } from './translate-replies.js'
import { errorOf } from '../../thrown.js'

const NO_SHARDS =
  'a client of Valkey GLIDE for one server cannot subscribe to sharded channels: leave `sharded` out, or pass a client of ioredis or node-redis'

/** The values of GLIDE's enumerations, because nothing is imported from it. */
const BYTES = 0
const TEXT = 1
const RESP3 = 0

/** The methods that begin and end each kind of subscription. */
const WORDS = {
  plain: ['subscribe', 'unsubscribe'],
  pattern: ['psubscribe', 'punsubscribe'],
} as const

/** GLIDE's default limit of requests at once; it refuses more. A tenth is left to the caller. */
const AT_ONCE = 1000
const OURS = 0.9

/** How long the server may take to confirm a subscription, ms. The link waits for less. */
const CONFIRMED = 10_000

/**
 * The caller's Valkey GLIDE client for one server. GLIDE accepts a callback for messages only when a client is made. So the driver
 * makes a second client for messages, with the same class and settings, and owns that one.
 */
export class GlideDriver implements Driver {
  readonly address = 'the connection passed in'
  readonly cluster = false
  readonly lent = true
  readonly #client: GlideClient
  /** Commands without an answer, including those that are not sent yet. */
  readonly #unanswered = new Set<Promise<unknown>>()
  /** How many commands are under way, and how many may be. Further ones wait in the line. */
  #underWay = 0
  readonly #most: number
  readonly #line: (() => void)[] = []
  #messages: GlideClient | undefined
  /** The server's connection that messages came on, as of the last look. */
  #heardOn: string | undefined
  #events: DriverEvents | undefined
  /** GLIDE reconnects by itself without an event, so the results of commands show it. */
  #cut = false
  #closed = false

  constructor(client: GlideClient) {
    this.#client = client
    this.#most = Math.max(1, Math.floor((client.config.inflightRequestsLimit ?? AT_ONCE) * OURS))
  }

  get isUp(): boolean {
    return !this.#client.isClosed && !this.#closed
  }

  async open(events: DriverEvents): Promise<void> {
    this.#events = events
    const { constructor: Glide, config } = this.#client
    const settings = {
      ...config,
      protocol: RESP3,
      defaultDecoder: BYTES,
      lazyConnect: false,
      pubsubSubscriptions: { channelsAndPatterns: {}, callback: (message: GlideMessage) => this.#hear(message) },
    }
    const messages = await Glide.createClient(settings).catch(refuse)
    this.#messages = messages
    if (this.#closed) messages.close()
    else await this.#look(messages).catch(() => undefined)
  }

  pulse(): Promise<unknown>[] {
    return this.#messages === undefined || !this.isUp ? [] : [this.#look(this.#messages)]
  }

  /** GLIDE reconnects and subscribes again without an event. If the server reports another connection, it has done so. */
  async #look(messages: GlideClient): Promise<void> {
    const info = await messages.customCommand(['CLIENT', 'INFO'], { decoder: TEXT })
    // The server counts ids from 1 again after a restart, so the address is compared, too.
    const [now] = /^id=\d+ addr=\S+/.exec(textOf(info as string)) ?? []
    const before = this.#heardOn
    this.#heardOn = now ?? before
    if (before !== undefined && this.#heardOn !== before && !this.#closed) this.#events?.gap()
  }

  /**
   * If the database does not exist, GLIDE only reports a timeout. So this asks the server itself, on a connection without a
   * database.
   */
  async explain(): Promise<string | undefined> {
    const { constructor: Glide, config } = this.#client
    const { databaseId = 0 } = config
    if (databaseId === 0) return undefined
    let client: GlideClient | undefined
    try {
      client = await Glide.createClient({ ...config, databaseId: 0, lazyConnect: false })
      await client.customCommand(['SELECT', String(databaseId)], { decoder: TEXT })
    } catch (error) {
      const { message } = errorOf(error)
      if (missingDatabase(message) !== undefined)
        return `${serverText(message) ?? message} (at its SELECT ${databaseId})`
    } finally {
      client?.close()
    }
    return undefined
  }

  #hear({ message, channel, pattern }: GlideMessage): void {
    const from = textOf(channel)
    const [kind, name] =
      pattern === null || pattern === undefined ? ['plain' as const, from] : ['pattern' as const, textOf(pattern)]
    this.#events?.message({ kind, name, channel: from, payload: bytesOf(message) })
  }

  async send(argv: readonly Arg[], options: SendOptions = {}): Promise<Reply> {
    // GLIDE does not promise the order of its commands, and WAIT covers those sent before it.
    if (argv[0] === 'WAIT') await Promise.allSettled(this.#unanswered)
    const exchange = (): Promise<Reply> => this.#exchange(this.#client, argv, options.binary === true)
    const reply =
      this.#underWay < this.#most
        ? exchange()
        : new Promise<Reply>((resolve) => {
            this.#line.push(() => {
              resolve(exchange())
            })
          })
    this.#unanswered.add(reply)
    try {
      return await reply
    } finally {
      this.#unanswered.delete(reply)
    }
  }

  async #exchange(client: GlideClient, argv: readonly Arg[], binary: boolean): Promise<Reply> {
    if (!this.isUp) throw new NotSent('not connected')
    this.#underWay++
    try {
      const reply = replyOf(await client.customCommand(argv.map(wordOf), { decoder: binary ? BYTES : TEXT }), binary)
      if (this.#cut) this.#restored()
      return reply
    } catch (thrown) {
      const error = errorOf(thrown)
      if (error.name === 'ConnectionError') this.#lost(error)
      throw translated(error)
    } finally {
      this.#underWay--
      while (this.#underWay < this.#most && this.#line.length > 0) this.#line.shift()?.()
    }
  }

  #lost(reason: Error): void {
    if (this.#cut || this.#closed) return
    this.#cut = true
    this.#events?.down(reason)
  }

  /** Messages from before the subscriptions were restored were missed, too. */
  #restored(): void {
    this.#cut = false
    if (this.#closed) return
    this.#events?.up(true)
    this.#events?.gap()
  }

  /** Commands on the second connection do not wait behind a script on the first. */
  everywhere(argv: readonly Arg[], nodes: Nodes): Promise<Reply>[] {
    if (nodes !== 'apart' || this.#messages === undefined) return [this.send(argv)]
    return [this.#exchange(this.#messages, argv, false)]
  }

  async subscribe(name: string, kind: SubscriptionKind): Promise<void> {
    if (kind === 'sharded') throw new HoldfastError('UNSUPPORTED', NO_SHARDS)
    if (this.#messages === undefined) throw new NotSent('not connected')
    await this.#messages[WORDS[kind][0]]([name], CONFIRMED).catch(refuse)
  }

  async unsubscribe(name: string, kind: SubscriptionKind): Promise<void> {
    if (kind === 'sharded' || !this.isUp) return
    await this.#messages?.[WORDS[kind][1]]([name], CONFIRMED).catch(refuse)
  }

  close(): Promise<void> {
    this.#closed = true
    this.#messages?.close()
    return Promise.resolve()
  }
}

const wordOf = (word: Arg): string | Buffer => {
  if (typeof word === 'string') return word
  return typeof word === 'number' ? String(word) : Buffer.from(word.buffer, word.byteOffset, word.byteLength)
}
