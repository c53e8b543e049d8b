import type { Rate } from './page-messages.js'

/** ms. How much of the past is counted, and in which steps. */
const STEP = 5000
const STEPS = 60
/** Many locks are read less often than once in a step. If no more steps than this have passed since the reading before, somebody looked all the time. */
const BETWEEN = 3

interface Step {
  handOvers: number
  waiters: number
}

/** Hand-overs and waiters of the last five minutes. */
export class Rates {
  readonly #steps = new Map<number, Step>()
  /** The step of the reading before, and how many callers waited then. */
  #before: readonly [at: number, waiters: number] = [-Infinity, 0]

  /** What one reading saw. `ends`: when holds ended, as far as anybody knows. */
  add(now: number, waiters: number, ends: readonly number[]): void {
    const newest = Math.floor(now / STEP)
    for (const at of this.#steps.keys()) if (at <= newest - STEPS || at > newest) this.#steps.delete(at)
    const [before, waited] = this.#before
    if (newest - before <= BETWEEN) for (let at = before + 1; at < newest; at += 1) this.#stepAt(at).waiters = waited
    this.#before = [newest, waiters]
    const step = this.#stepAt(newest)
    step.waiters = Math.max(step.waiters, waiters)
    for (const end of ends) {
      const at = Math.min(newest, Math.floor(end / STEP))
      if (at > newest - STEPS) this.#stepAt(at).handOvers += 1
    }
  }

  #stepAt(at: number): Step {
    const step = this.#steps.get(at) ?? { handOvers: 0, waiters: 0 }
    this.#steps.set(at, step)
    return step
  }

  /** The oldest first. `null`: nobody looked. The newest step is not over yet. */
  list(now: number): readonly (Rate | null)[] {
    const newest = Math.floor(now / STEP)
    return Array.from({ length: STEPS }, (_, i) => {
      const step = this.#steps.get(newest - STEPS + 1 + i)
      return step === undefined ? null : [step.handOvers, step.waiters]
    })
  }
}
