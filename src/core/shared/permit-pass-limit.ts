import { PASS_TIME } from '../../script-times-and-limits.js'

const PASSES_OF_A_BATCH = 4096

interface Batch {
  readonly since: number
  /** How much of this grant has not been released to the server. */
  left: number
  passes: number
}

/**
 * Limits what one process may pass on of its permits. No permit differs from another, so as much may go from one call to the next
 * as was granted lately. What was granted first counts as released first.
 */
export class PermitPassLimit {
  /** The oldest first. */
  readonly #batches: Batch[] = []
  #left = 0
  /** What is left of batches whose time is over: it must go to the server before anything else may stay. */
  #over = 0

  begin(amount: number, now: number): void {
    this.#batches.push({ since: now, left: amount, passes: 0 })
    this.#left += amount
  }

  /** `amount` is released, and would go to `takers` calls here. False: it must go to the server, and is no longer counted. */
  pass(amount: number, takers: number, now: number): boolean {
    this.#end(now)
    const [oldest] = this.#batches
    if (oldest !== undefined && takers > 0 && this.#over === 0 && amount <= this.#left) {
      oldest.passes += takers
      return true
    }
    this.#spend(amount)
    return false
  }

  /** From now on, everything that is released goes to the server. */
  clear(): void {
    this.#batches.length = this.#left = this.#over = 0
  }

  #end(now: number): void {
    for (let batch = this.#batches[0]; batch !== undefined; batch = this.#batches[0]) {
      if (now - batch.since < PASS_TIME && batch.passes < PASSES_OF_A_BATCH) return
      this.#batches.shift()
      this.#left -= batch.left
      this.#over += batch.left
    }
  }

  #spend(amount: number): void {
    const over = Math.min(amount, this.#over)
    this.#over -= over
    let rest = amount - over
    for (let batch = this.#batches[0]; batch !== undefined && rest > 0; batch = this.#batches[0]) {
      const some = Math.min(rest, batch.left)
      batch.left -= some
      this.#left -= some
      rest -= some
      if (batch.left === 0) this.#batches.shift()
    }
  }
}
