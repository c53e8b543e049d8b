import { nextTick } from 'node:process'
import type { IoredisClient } from './client.js'

/** How many commands one write takes. */
const TOGETHER = 16

/**
 * Commands of one tick leave together, but not so many that the server is idle meanwhile. After a tick with several, the
 * first one of the next tick waits for the others, too: a write costs more than all else of a command.
 */
export class WriteBatches {
  #joined = 0
  #several = false

  /** Must be called before each command that is written. */
  join(stream: NonNullable<IoredisClient['stream']>): void {
    const held = this.#several ? 0 : 1
    if (this.#joined === 0) {
      nextTick(() => {
        if (this.#joined > held) stream.uncork()
        this.#several = this.#joined > 1
        this.#joined = 0
      })
    }
    if (this.#joined === held) stream.cork()
    else if (this.#joined > 0 && this.#joined % TOGETHER === 0) {
      stream.uncork()
      stream.cork()
    }
    this.#joined++
  }
}
