import type { VirtualClock } from 'holdfast/testing'
import type { Driver, DriverEvents, Message, SendOptions, SubscriptionKind } from '#src/engine/driver.js'
import { MemoryDriver } from '#src/engine/memory/driver.js'
import type { MemoryServer } from '#src/engine/memory/server.js'
import type { Arg, Reply } from '#src/lua/values.js'
import * as scripts from '#src/lua/scripts.gen.js'

/** A moment in a command's life, `answered` the last before its caller has the reply. Of a message there is only `reply`. */
export type Phase = 'request' | 'reply' | 'answered'

/** Where the connection is to stand still, once. */
export interface Stop {
  readonly op: string
  readonly phase: Phase
  /** Of the lock; other locks' commands pass. */
  readonly name: string
  /** It goes on when this resolves. */
  readonly until: () => Promise<void> | void
}

const NAMES: ReadonlyMap<unknown, string> = new Map(
  Object.values(scripts).flatMap(({ name, sha, text }): [string, string][] => [
    [sha, name],
    [text, name],
  ]),
)

const opOf = ([command, script]: readonly Arg[]): string => NAMES.get(script) ?? String(command).toLowerCase()

/** A connection to an embedded server on which everything takes its time, in order, and can be held at any point. */
export class SlowDriver implements Driver {
  readonly address = 'slow'
  readonly cluster = false
  readonly #inner: MemoryDriver
  readonly #clock: VirtualClock
  readonly #ms: number
  readonly #ways: Record<'there' | 'back' | 'told', Promise<void>>
  stop: Stop | undefined
  /** Commands that are not answered yet. */
  readonly flying: string[] = []

  /** `ms`: what each way takes. */
  constructor(server: MemoryServer, clock: VirtualClock, ms = 1) {
    this.#ms = ms
    this.#inner = new MemoryDriver(server, undefined)
    this.#clock = clock
    this.#ways = { there: Promise.resolve(), back: Promise.resolve(), told: Promise.resolve() }
  }

  get isUp(): boolean {
    return this.#inner.isUp
  }

  open(events: DriverEvents): Promise<void> {
    const message = (told: Message): void => {
      void this.#pass('told', 'message', told.channel, 'reply').then(() => events.message(told))
    }
    return this.#inner.open({ ...events, message })
  }

  send(argv: readonly Arg[], options?: SendOptions): Promise<Reply> {
    return this.#exchange(opOf(argv), String(argv[3]), () => this.#inner.send(argv, options))
  }

  subscribe(channel: string, kind: SubscriptionKind): Promise<void> {
    return this.#exchange('subscribe', channel, () => this.#inner.subscribe(channel, kind))
  }

  unsubscribe(channel: string, kind: SubscriptionKind): Promise<void> {
    return this.#exchange('unsubscribe', channel, () => this.#inner.unsubscribe(channel, kind))
  }

  close(): Promise<void> {
    return this.#inner.close()
  }

  async #exchange<T>(op: string, key: string, run: () => Promise<T>): Promise<T> {
    this.flying.push(op)
    await this.#pass('there', op, key, 'request')
    const reply = run()
    reply.catch(() => undefined)
    await this.#pass('back', op, key, 'reply')
    this.flying.splice(this.flying.indexOf(op), 1)
    return reply
  }

  #pass(way: 'there' | 'back' | 'told', op: string, key: string, phase: Phase): Promise<void> {
    const passed = this.#ways[way].then(async () => {
      await new Promise<void>((resolve) => void this.#clock.setTimer(resolve, this.#ms))
      await this.#stopAt(op, key, phase)
      if (phase === 'reply') await this.#stopAt(op, key, 'answered')
    })
    return (this.#ways[way] = passed)
  }

  async #stopAt(op: string, key: string, phase: Phase): Promise<void> {
    const { stop } = this
    if (stop?.op !== op || stop.phase !== phase || !key.includes(stop.name)) return
    this.stop = undefined
    await stop.until()
  }
}
