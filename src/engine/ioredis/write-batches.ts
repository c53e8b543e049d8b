import { nextTick } from 'node:process'
import type { IoredisClient } from './client.js'

/** How many commands one write takes. */
const TOGETHER = 16

/** Commands of one tick leave together, but not so many that the server is idle meanwhile. */
export class WriteBatches {
  #joined = 0

  /** Must be called before each command that is written. */
  join(stream: NonNullable<IoredisClient['stream']>): void {
    if (this.#joined === 0) {
      nextTick(() => {
        if (this.#joined > 1) stream.uncork()
        this.#joined = 0
      })
    } else if (this.#joined === 1) stream.cork()
    else if (this.#joined % TOGETHER === 0) {
      stream.uncork()
      stream.cork()
    }
    this.#joined++
  }
}
