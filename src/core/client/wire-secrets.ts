import { secretOf } from '../../keys.js'
import type { Clock } from '../../base/clock.js'

/** So many are drawn at once: each acquire takes one. At first a few, and more for who needs more: a draw is dear, its length is not. */
const FEWEST = 64
const MOST = 1024

/** What makes the wire names of a client hard to guess. */
export class WireSecrets {
  readonly #clock: Clock
  #drawn = new Uint32Array(0)
  #used = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  next(): number {
    if (this.#used === this.#drawn.length) {
      const count = Math.max(FEWEST, Math.min(MOST, 2 * this.#drawn.length))
      this.#drawn = new Uint32Array(this.#clock.randomBytes(4 * count).slice().buffer)
      this.#used = 0
    }
    return secretOf(this.#drawn[this.#used++] as number)
  }
}
