import type { Codec } from '../../api/codec.js'
import type { Timer } from '../../base/clock.js'
import { codecOf } from '../../codecs/by-name.js'
import { POLL } from '../../constants.js'
import type { Runtime } from '../../core/client/runtime.js'
import { MessageBrake } from '../../core/waiting/message-brake.js'
import type { Listening } from '../topic/listening.js'
import type { Topics } from '../topic/topics.js'
import { type Ended, endedOf } from './message.js'
import { type Outcome, outcomeOf } from './outcome.js'
import type { FlightRecord } from './record.js'

export interface FollowerOptions {
  readonly title: string
  readonly runtime: Runtime
  readonly topics: Topics
  readonly record: FlightRecord
  readonly codec: Codec
  /** Of computations that ended after this token, the newest counts. */
  readonly after: bigint
  /** Aborts when no call waits any more. */
  readonly signal: AbortSignal
}

/** Waits for what another process computes: its message tells how that has ended, and a look each second finds what a lost message would have told. */
export class Follower {
  readonly #options: FollowerOptions
  readonly #brake = new MessageBrake()
  #listening: Listening | undefined
  /** Whoever computes, as the last look has seen. */
  #holder: string | undefined
  #wake: ((ended?: Ended) => void) | undefined
  /** Something was heard while nobody listened to it. */
  #missed = false
  #soon: Timer | undefined
  #closed: { readonly error: unknown } | undefined

  constructor(options: FollowerOptions) {
    this.#options = options
  }

  /** `undefined`: nobody computes. */
  async follow(): Promise<Outcome | undefined> {
    const { record, after, signal } = this.#options
    await this.#listen()
    for (;;) {
      const look = await record.look(after, 0)
      if (look.ended !== undefined) return this.#outcome(look.ended, look.age)
      this.#holder = look.holder
      if (look.holder === undefined) return undefined
      const ended = await this.#news()
      if (this.#closed !== undefined) throw this.#closed.error
      signal.throwIfAborted()
      if (ended !== undefined) return this.#outcome(ended, 0)
    }
  }

  async end(): Promise<void> {
    this.#soon?.cancel()
    await this.#listening?.unsubscribe()
  }

  #outcome(ended: Ended, age: number): Outcome {
    const { title, codec } = this.#options
    return outcomeOf(ended, age, codec, title)
  }

  async #listen(): Promise<void> {
    if (this.#listening !== undefined) return
    const { title, runtime, topics, record, signal } = this.#options
    const kind = runtime.sharded ? 'sharded' : 'plain'
    const place = { title, kind, name: record.channel, codec: codecOf('bytes') } as const
    const ended = (error: unknown): void => {
      this.#closed = { error }
      this.#wake?.()
    }
    const hear = (message: unknown): void => this.#hear(Buffer.from(message as Uint8Array).toString())
    this.#listening = await topics.listen(place, hear, signal, ended)
    this.#listening.on('gap', () => this.#look())
    signal.addEventListener('abort', () => this.#wake?.(), { once: true })
  }

  #hear(payload: string): void {
    const ended = endedOf(payload, this.#holder)
    if (ended !== undefined && ended.token > this.#options.after && this.#wake !== undefined) {
      this.#wake(ended)
      return
    }
    const { clock } = this.#options.runtime.options
    this.#soon ??= clock.setTimer(() => {
      this.#soon = undefined
      this.#look()
    }, this.#brake.delay(clock.monotonic()))
  }

  #look(): void {
    if (this.#wake === undefined) this.#missed = true
    else this.#wake()
  }

  #news(): Promise<Ended | undefined> {
    if (this.#missed || this.#closed !== undefined || this.#options.signal.aborted) {
      this.#missed = false
      return Promise.resolve(undefined)
    }
    return new Promise((resolve) => {
      const timer = this.#options.runtime.options.clock.setTimer(() => this.#wake?.(), POLL)
      this.#wake = (ended) => {
        this.#wake = undefined
        timer.cancel()
        resolve(ended)
      }
    })
  }
}
