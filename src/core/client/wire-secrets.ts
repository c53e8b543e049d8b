import { secretOf } from '../../keys.js'
import type { Clock } from '../../base/clock.js'

/** How many secrets are drawn at once; each acquire uses one. A draw costs the same at any length, so a busy client draws more each time. */
const FEWEST = 64
const MOST = 1024

/** Random numbers that make the wire names of a client hard to guess. */
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
