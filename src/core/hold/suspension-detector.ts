import { type Clock, type Moment, steadyMoment } from '../../base/clock.js'
import { JUMP, SLIP } from './clocks-apart.js'

/** The two clocks now, and how far they have drifted apart since the comparison before. */
interface Compared {
  readonly now: Moment
  /** ms that the monotonic clock, and so every timer, has missed: the machine was suspended. 0: none. */
  readonly missed: number
  /** They are so far apart that every hold must be checked. */
  readonly jumped: boolean
}

/** Notices that the machine was suspended, or that the wall clock was set: only the wall clock shows it. */
export class SuspensionDetector {
  readonly #clock: Clock
  #before: Moment

  constructor(clock: Clock, from: Moment) {
    this.#clock = clock
    this.#before = from
  }

  /** What was missed before this moment does not matter: nothing was held. */
  beginAt(from: Moment): void {
    this.#before = from
  }

  compare(): Compared {
    const now = steadyMoment(this.#clock)
    const apart = now.wall - this.#before.wall - (now.mono - this.#before.mono)
    this.#before = now
    return { now, missed: apart > SLIP ? apart : 0, jumped: Math.abs(apart) > JUMP }
  }
}
