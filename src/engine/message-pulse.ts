import type { Clock, Timer } from '../base/clock.js'
import { outside } from '../base/scope.js'
import type { Driver } from './driver.js'

/** The time between two PINGs, ms. */
const PULSE = 1000

/**
 * Sends PINGs on the connections for messages while there are subscriptions. On a connection where nothing is sent, a client does not notice that it
 * is dead.
 */
export class MessagePulse {
  readonly #driver: Driver
  readonly #clock: Clock
  readonly #expect: (reply: Promise<unknown>) => Promise<unknown>
  readonly #channels = new Set<string>()
  #timer: Timer | undefined
  #stopped = false

  /** `expect` rejects if the reply does not come in time. */
  constructor(driver: Driver, clock: Clock, expect: (reply: Promise<unknown>) => Promise<unknown>) {
    this.#driver = driver
    this.#clock = clock
    this.#expect = expect
  }

  subscribed(channel: string): void {
    this.#channels.add(channel)
    this.#timer ??= outside(() => this.#next())
  }

  unsubscribed(channel: string): void {
    this.#channels.delete(channel)
  }

  stop(): void {
    this.#stopped = true
    this.#timer?.cancel()
  }

  #next(): Timer | undefined {
    if (this.#driver.pulse === undefined || this.#stopped) return undefined
    return this.#clock.setTimer(() => this.#beat(), PULSE, { background: true })
  }

  #beat(): void {
    const idle = this.#channels.size === 0
    for (const reply of idle ? [] : (this.#driver.pulse?.() ?? [])) this.#expect(reply).catch(() => undefined)
    this.#timer = idle ? undefined : this.#next()
  }
}
