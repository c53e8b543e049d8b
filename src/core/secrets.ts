import { secretOf } from '../keys.js'
import type { Clock } from './clock.js'

/** So many are drawn at once: each acquire takes one. */
const DRAWN = 64

/** What makes the wire names of a client hard to guess. */
export class Secrets {
  readonly #clock: Clock
  #drawn = new Uint32Array(0)
  #used = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  next(): number {
    if (this.#used === this.#drawn.length) {
      this.#drawn = new Uint32Array(this.#clock.randomBytes(4 * DRAWN).slice().buffer)
      this.#used = 0
    }
    return secretOf(this.#drawn[this.#used++] as number)
  }
}
