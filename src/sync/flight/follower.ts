import { platform } from '#platform'
import type { Codec } from '../../api/codec.js'
import type { Timer } from '../../base/clock.js'
import { ClosedError } from '../../errors.js'
import { quoted } from '../../plain-text.js'
import { POLL } from '../../script-times-and-limits.js'
import type { Runtime } from '../../core/client/runtime.js'
import { MessageThrottle } from '../../core/waiting/message-throttle.js'
import type { TopicListener } from '../topic/topic-listener.js'
import type { Topics } from '../topic/topics.js'
import { type Ended, endedOf, LONGEST_MESSAGE } from './end-message.js'
import { type Outcome, readableOutcome, type Unreadable } from './flight-outcome.js'
import type { FlightRecord } from './flight-record.js'

/** Reads messages as text: undefined is one that is longer than any of holdfast's own. */
const SHORT: Codec = {
  encode: (value) => value as string,
  decode: (data) => (data.length > LONGEST_MESSAGE ? undefined : platform.fromUtf8(data)),
}

export interface FollowerOptions {
  readonly title: string
  readonly runtime: Runtime
  readonly topics: Topics
  readonly record: FlightRecord
  readonly codec: Codec
  /** A stored value must be used. */
  readonly stored: boolean
  /** The outcome, if it is one that this process itself has stored. */
  readonly ownOf: (ended: Ended) => Outcome | undefined
  /** Aborts when no call waits any more. */
  readonly signal: AbortSignal
}

/** Waits for the computation of another process. A message reports how it ended; a look each second finds what a lost message would have reported. */
export class Follower {
  readonly #options: FollowerOptions
  readonly #throttle = new MessageThrottle()
  #listening: Promise<TopicListener | undefined> | undefined
  /** An outcome counts if its token differs from this one. */
  #after = 0n
  /** The process that computes, as of the last look. */
  #holder: string | undefined
  /** The process that computes, as a call saw it that joined while this one looked. */
  #seen: { readonly holder: string | undefined } | undefined
  #wake: ((ended?: Ended) => void) | undefined
  /** A message came while nothing waited for one. */
  #missed = false
  #soon: Timer | undefined
  /** If it cannot subscribe, it warns once, and tries again with each look. */
  #warned = false
  #closed: { readonly error: unknown } | undefined

  constructor(options: FollowerOptions) {
    this.#options = options
    options.signal.addEventListener('abort', () => this.#wake?.(), { once: true })
  }

  /** `undefined`: no process computes. An outcome counts if its token is not `after`. */
  async follow(after: bigint): Promise<Outcome | Unreadable | undefined> {
    const { record, signal } = this.#options
    this.#after = after
    for (;;) {
      this.#listen()
      this.#seen = undefined
      const look = await record.look(after, 0)
      if (look.ended !== undefined) return this.#outcome(look.ended, look.age)
      this.#holder = look.holder
      this.#checkSeen()
      if (look.holder === undefined) return undefined
      const ended = await this.#news()
      if (this.#closed !== undefined) throw this.#closed.error
      signal.throwIfAborted()
      if (ended !== undefined) return this.#outcome(ended, 0)
    }
  }

  /** Messages of another process than this one prove nothing until the next look, which comes now. */
  doubt(holder: string | undefined): void {
    if (this.#wake === undefined) this.#seen = { holder }
    else if (holder !== this.#holder) this.#distrust()
  }

  /** This look may be older than that of a call which joined meanwhile. */
  #checkSeen(): void {
    const seen = this.#seen
    if (seen !== undefined && seen.holder !== this.#holder) this.#distrust()
  }

  #distrust(): void {
    this.#holder = undefined
    this.#look()
  }

  /** No caller waits for this. */
  end(): void {
    this.#soon?.cancel()
    const left = this.#listening?.then((listening) => listening?.unsubscribe())
    if (left !== undefined) this.#options.runtime.background.track(left.catch(() => undefined))
  }

  #outcome(ended: Ended, age: number): Outcome | Unreadable {
    const { runtime, ownOf } = this.#options
    const fail = (...what: Parameters<typeof runtime.fail>): void => runtime.fail(...what)
    return ownOf(ended) ?? readableOutcome(ended, age, { ...this.#options, fail })
  }

  /** Messages come in addition to the looks. Without permission to subscribe, the looks alone must do. */
  #listen(): void {
    if (this.#listening !== undefined) return
    const { title, runtime, topics, record, signal } = this.#options
    const kind = runtime.sharded ? 'sharded' : 'plain'
    const place = { title, kind, name: record.channel, codec: SHORT } as const
    const ended = (error: unknown): void => {
      this.#closed = { error }
      this.#wake?.()
    }
    const hear = (message: unknown): void => {
      if (message !== undefined) this.#hear(message as string)
    }
    this.#listening = topics.listen(place, hear, signal, ended).then(
      (listening) => {
        listening.on('gap', () => this.#look())
        // The computation may have ended before the subscription was there.
        this.#look()
        return listening
      },
      (error: unknown) => {
        if (!signal.aborted && !this.#warned && !(error instanceof ClosedError))
          runtime.options.logger.warn(`could not subscribe for ${quoted(title)}, so its waiters poll`, error)
        this.#warned = true
        this.#listening = undefined
        return undefined
      },
    )
  }

  #hear(payload: string): void {
    const ended = endedOf(payload, this.#holder)
    if (ended !== undefined && ended.token !== this.#after && this.#wake !== undefined) {
      this.#wake(ended)
      return
    }
    const { clock } = this.#options.runtime.options
    this.#soon ??= clock.setTimer(() => {
      this.#soon = undefined
      this.#look()
    }, this.#throttle.delay(clock.monotonic()))
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
