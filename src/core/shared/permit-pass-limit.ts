import { PASS_TIME } from '../../constants.js'

const PASSES = 4096

interface Batch {
  readonly since: number
  /** So much of what was granted then has not been given back to the server. */
  left: number
  passes: number
}

/**
 * What the server granted to the calls of one process, where nothing tells one part of it from another: as much may go from
 * one to the next of them as was granted lately. What was granted first is taken to be given back first.
 */
export class PermitPassLimit {
  /** The oldest first. */
  readonly #batches: Batch[] = []
  #left = 0
  /** What is left of batches whose time is over: it goes to the server before anything else stays. */
  #over = 0

  begin(amount: number, now: number): void {
    this.#batches.push({ since: now, left: amount, passes: 0 })
    this.#left += amount
  }

  /** So much is given back, and would go to so many here. False: it has to go to the server, and counts as gone. */
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

  /** Whatever is given back from now on goes to the server. */
  clear(): void {
    this.#batches.length = this.#left = this.#over = 0
  }

  #end(now: number): void {
    for (let batch = this.#batches[0]; batch !== undefined; batch = this.#batches[0]) {
      if (now - batch.since < PASS_TIME && batch.passes < PASSES) return
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
