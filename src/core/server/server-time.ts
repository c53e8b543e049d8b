import { type Clock, type Moment, momentOf } from '../../base/clock.js'

/** Our clocks and the server's may drift apart by so much between two of its words, ms. */
const DRIFT = 50

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

  /** How long ago that stamp was at most, ms; undefined: nobody knows. What is yet to come is another server's clock. */
  ageOf(stamp: number): number | undefined {
    const latest = this.latest
    if (latest === undefined || stamp > latest + DRIFT * 1000) return undefined
    return Math.max(0, latest - stamp) / 1000
  }
}
