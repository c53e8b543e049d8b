import { cpuUsage } from 'node:process'
import { systemClock } from '../base/clock.js'

/** ms from the beginning of one reading to the next; a long one has at least so many times its own length behind it. */
export const EVERY = 1000
const SHARE = 3
/** Readings may take this part of a core. For that, they are never further apart than so many ms. */
const CORE_SHARE = 0.05
const CORE_EVERY = 5000

/** Begins with a reading, and says when the next one is due. */
export class Pace {
  readonly #began = systemClock.monotonic()
  readonly #cpu = cpuUsage()

  /** For how many ms it has been going on. */
  get took(): number {
    return systemClock.monotonic() - this.#began
  }

  /** How many ms after its beginning the next reading begins. What else the process computes meanwhile counts, too. */
  get every(): number {
    const { user, system } = cpuUsage(this.#cpu)
    const byCore = (user + system) / 1000 / CORE_SHARE
    return Math.round(Math.max(EVERY, this.took * (SHARE + 1), Math.min(byCore, CORE_EVERY)))
  }
}
