import type { Rate } from './state.js'

/** ms. How much of the past is counted, and in which steps. */
const STEP = 5000
const STEPS = 60

interface Step {
  readonly at: number
  handOvers: number
  waiters: number
}

/** Hand-overs and waiters of the last five minutes. */
export class Rates {
  #steps: Step[] = []

  /** What one reading saw. */
  add(now: number, handOvers: number, waiters: number): void {
    const at = Math.floor(now / STEP)
    this.#steps = this.#steps.filter((step) => step.at > at - STEPS && step.at <= at)
    const last = this.#steps.at(-1)
    const step = last?.at === at ? last : { at, handOvers: 0, waiters: 0 }
    if (step !== last) this.#steps.push(step)
    step.handOvers += handOvers
    step.waiters = Math.max(step.waiters, waiters)
  }

  /** The oldest first. `null`: nobody looked. The newest step is not over yet. */
  list(now: number): readonly (Rate | null)[] {
    const newest = Math.floor(now / STEP)
    const by = new Map(this.#steps.map((step) => [step.at, step]))
    return Array.from({ length: STEPS }, (_, i) => {
      const step = by.get(newest - STEPS + 1 + i)
      return step === undefined ? null : [step.handOvers, step.waiters]
    })
  }
}
