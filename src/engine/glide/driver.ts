import { HoldfastError } from '../../errors.js'
import type { Arg, Reply } from '../../lua/values.js'
import { missingDatabase } from '../connect-errors.js'
import {
  type Driver,
  type DriverEvents,
  type Nodes,
  NotSent,
  type SendOptions,
  type SubscriptionKind,
} from '../driver.js'
import type { GlideClient, GlideMessage } from './client.js'
import { bytesOf, refuse, replyOf, serverText, textOf, translated } from './replies.js'
import { errorOf } from '../../thrown.js'

const NO_SHARDS =
  'a client of Valkey GLIDE for one server cannot subscribe to sharded channels: leave `sharded` out, or pass a client of ioredis or node-redis'

/** As its enumeration says; nothing of it is imported. */
const BYTES = 0
const TEXT = 1
const RESP3 = 0

/** How each kind of subscription is begun and ended. */
const WORDS = {
  plain: ['subscribe', 'unsubscribe'],
  pattern: ['psubscribe', 'punsubscribe'],
} as const

/** So many requests at once unless its settings say otherwise: it refuses more. A tenth is left to the caller. */
const AT_ONCE = 1000
const OURS = 0.9

/** Until the server has confirmed a subscription. The link waits for less. */
const CONFIRMED = 10_000

/**
 * A client of Valkey GLIDE that the caller owns, of one server. It takes a callback for messages only where it is made, so
 * a second one is made by its own class and with its own settings: that one is ours.
 */
export class GlideDriver implements Driver {
  readonly address = 'the connection passed in'
  readonly cluster = false
  readonly lent = true
  readonly #client: GlideClient
  /** Commands without an answer, those included that are not sent yet. */
  readonly #unanswered = new Set<Promise<unknown>>()
  /** How many are sent, and may be at once; the others stand in a line. */
  #underWay = 0
  readonly #most: number
  readonly #line: (() => void)[] = []
  #messages: GlideClient | undefined
  /** Which connection of the server's it was when last asked. */
  #heardOn: string | undefined
  #events: DriverEvents | undefined
  /** It connects again by itself and tells nobody: the commands show it. */
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

  /** It connects and subscribes again by itself and tells nobody: another connection shows it. */
  async #look(messages: GlideClient): Promise<void> {
    const info = await messages.customCommand(['CLIENT', 'INFO'], { decoder: TEXT })
    // Ids begin anew with the server.
    const [now] = /^id=\d+ addr=\S+/.exec(textOf(info as string)) ?? []
    const before = this.#heardOn
    this.#heardOn = now ?? before
    if (before !== undefined && this.#heardOn !== before && !this.#closed) this.#events?.gap()
  }

  /** Of a database that does not exist it says only that it timed out: so the server itself is asked, without one. */
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
    // The order in which its commands leave is not promised, and WAIT is about those that left before it.
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

  /** What came before the subscriptions were restored, too, was not heard. */
  #restored(): void {
    this.#cut = false
    if (this.#closed) return
    this.#events?.up(true)
    this.#events?.gap()
  }

  /** The second connection does not stand behind a script of the first. */
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
