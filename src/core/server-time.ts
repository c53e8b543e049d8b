import type { Clock } from './clock.js'
import { type Moment, momentOf } from './trust.js'

/** What the server's clock shows at most: from its last word on it, and our own clocks since before we asked. */
export class ServerTime {
  readonly #clock: Clock
  /** µs, and when the question was sent. */
  #known: { readonly stamp: number; readonly sent: Moment } | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** A reply to what was sent then had this on it. */
  heard(stamp: number, sent: Moment): void {
    this.#known = { stamp, sent }
  }

  /** Another connection may lead to another server, whose clock is another one. */
  forget(): void {
    this.#known = undefined
  }

  /** µs; undefined: nobody knows. */
  get latest(): number | undefined {
    if (this.#known === undefined) return undefined
    const { stamp, sent } = this.#known
    const now = momentOf(this.#clock)
    // The larger progress: one of the two stands still in a suspended machine.
    return stamp + Math.max(now.mono - sent.mono, now.wall - sent.wall) * 1000
  }
}
