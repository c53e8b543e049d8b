import { nextTick } from 'node:process'
import { BATCH } from '../../core/line-poll.js'

interface Confirmation {
  readonly owner: string
  readonly lease: number
  readonly resolve: (left: number) => void
  readonly reject: (reason: unknown) => void
}

/** Readers that were let in together confirm together: those of one tick, in one step. */
export class Confirmations {
  readonly #step: (words: readonly string[]) => Promise<readonly number[]>
  #due: Confirmation[] = []

  /** `step` is given owners and their leases in turn, and says for how many ms each of them has it. */
  constructor(step: (words: readonly string[]) => Promise<readonly number[]>) {
    this.#step = step
  }

  add(owner: string, lease: number): Promise<number> {
    return new Promise((resolve, reject) => {
      if (this.#due.length === 0) nextTick(() => this.#send())
      this.#due.push({ owner, lease, resolve, reject })
    })
  }

  #send(): void {
    const due = this.#due
    this.#due = []
    for (let from = 0; from < due.length; from += BATCH) void this.#confirm(due.slice(from, from + BATCH))
  }

  async #confirm(some: readonly Confirmation[]): Promise<void> {
    try {
      const left = await this.#step(some.flatMap(({ owner, lease }) => [owner, String(lease)]))
      for (const [i, { resolve }] of some.entries()) resolve(left[i] ?? 0)
    } catch (trouble) {
      for (const { reject } of some) reject(trouble)
    }
  }
}
