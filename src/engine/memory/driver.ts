import type { Arg, Reply } from '../../lua/values.js'
import { type Driver, type DriverEvents, NotSent, type SendOptions, type SubscriptionKind } from '../driver.js'
import type { Session } from './command.js'
import type { Listener } from './pubsub.js'
import { closeMemoryServer } from './registry.js'
import { type Bytes, fromBytes, type Reply as Answer, ReplyError, Status, toBytes, toText } from './reply.js'
import type { MemoryServer } from './server.js'

/** A client of a server in this process. A command is executed within the call; its answer and messages come a microtask later. */
export class MemoryDriver implements Driver {
  readonly address: string
  readonly cluster = false
  readonly #server: MemoryServer
  readonly #session: Session
  readonly #listeners = {
    plain: this.#listener('plain'),
    pattern: this.#listener('pattern'),
    sharded: this.#listener('sharded'),
  }
  #events: DriverEvents | undefined
  #closed = false

  /** `name` is undefined for a private server. */
  constructor(server: MemoryServer, name: string | undefined) {
    this.#server = server
    this.#session = server.connect()
    this.address = `memory:${name ?? ''}`
  }

  get isUp(): boolean {
    return this.#events !== undefined && !this.#closed
  }

  open(events: DriverEvents): Promise<void> {
    if (this.#closed) return Promise.reject(new NotSent('closed'))
    this.#events = events
    events.up(false)
    return Promise.resolve()
  }

  send(argv: readonly Arg[], options?: SendOptions): Promise<Reply> {
    if (!this.isUp) return Promise.reject(new NotSent('not connected'))
    const words: Bytes[] = new Array<Bytes>(argv.length)
    for (let i = 0; i < argv.length; i++) words[i] = toBytes(argv[i] as Arg)
    let reply: Answer
    try {
      reply = this.#server.execute(words, this.#session)
    } catch (error) {
      return Promise.reject(error)
    }
    if (reply instanceof ReplyError) return Promise.reject(new Error(toText(reply.message)))
    return Promise.resolve(decode(reply, options?.binary === true))
  }

  subscribe(name: string, kind: SubscriptionKind): Promise<void> {
    if (!this.isUp) return Promise.reject(new NotSent('not connected'))
    this.#server.pubsub.subscribe(this.#listeners[kind], toBytes(name), kind)
    return Promise.resolve()
  }

  unsubscribe(name: string, kind: SubscriptionKind): Promise<void> {
    this.#server.pubsub.unsubscribe(this.#listeners[kind], toBytes(name), kind)
    return Promise.resolve()
  }

  close(): Promise<void> {
    if (this.#closed) return Promise.resolve()
    this.#closed = true
    for (const listener of Object.values(this.#listeners)) this.#server.pubsub.leave(listener)
    closeMemoryServer(this.#server)
    return Promise.resolve()
  }

  #listener(kind: SubscriptionKind): Listener {
    return {
      message: (channel, payload, name = channel) => {
        if (this.#closed) return
        const message = { kind, name: toText(name), channel: toText(channel), payload: fromBytes(payload) }
        this.#events?.message(message)
      },
    }
  }
}

/** Like a real connection: an error within an array stays a value, and a status is text like any other. */
export const decode = (reply: Answer, binary: boolean): Reply => {
  if (typeof reply === 'string') return binary ? fromBytes(reply) : toText(reply)
  if (reply === null || typeof reply === 'number') return reply
  if (reply instanceof Status) return decode(reply.text, binary)
  if (reply instanceof ReplyError) return new Error(toText(reply.message))
  return reply.map((item) => decode(item, binary))
}
