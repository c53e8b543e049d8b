import { type Clock, type Moment, momentOf } from '../../base/clock.js'

/** ms. How far our clocks and the server's may drift apart between two of its answers. */
const DRIFT = 50

/** The server's time, µs, and when the question was sent. */
interface Stamp {
  readonly stamp: number
  readonly sent: Moment
}

/** The latest time that the server's clock can show, from its last answer and our own clocks since before we asked. */
export class ServerTime {
  readonly #clock: Clock
  #known: Stamp | undefined
  #told: Stamp | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The reply to a question that was sent then had this time on it. */
  heard(stamp: number, sent: Moment): void {
    this.#known = { stamp, sent }
  }

  /** The reply to `TIME` says this: enough to compare waits. Any node may have answered, so no grant is trusted by it. */
  told(stamp: number, sent: Moment): void {
    this.#told = { stamp, sent }
  }

  /** Another connection may lead to another server, which has another clock. */
  forget(): void {
    this.#known = undefined
    this.#told = undefined
  }

  /** µs; undefined: not known. */
  get latest(): number | undefined {
    return this.#since(this.#known)
  }

  /** µs; undefined: not known. It may be that of another node's clock. */
  get about(): number | undefined {
    return this.#since(this.#known ?? this.#told)
  }

  #since(known: Stamp | undefined): number | undefined {
    if (known === undefined) return undefined
    const { stamp, sent } = known
    const now = momentOf(this.#clock)
    // The larger progress counts: one of the two clocks stands still while the machine is suspended.
    return stamp + Math.max(now.mono - sent.mono, now.wall - sent.wall) * 1000
  }

  /** How many ms ago the stamp was, at most. Undefined: not known. A stamp in the future is from another server's clock. */
  ageOf(stamp: number): number | undefined {
    const latest = this.latest
    if (latest === undefined || stamp > latest + DRIFT * 1000) return undefined
    return Math.max(0, latest - stamp) / 1000
  }
}
