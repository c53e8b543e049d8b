import { ClosedError } from '../../errors.js'
import type { Clock } from '../../base/clock.js'
import type { BackgroundWork } from './background-work.js'
import { isWrongKind } from './transient-or-unsure-errors.js'

/** ms. How long an unanswered step is repeated in the background; longer for a hold with a longer lease. */
export const RETRY_TIME = 60_000

/** Repeats steps that got no answer. */
export class Retry {
  readonly #clock: Clock
  readonly #background: BackgroundWork

  constructor(clock: Clock, background: BackgroundWork) {
    this.#clock = clock
    this.#background = background
  }

  /** Repeats the step in the background. */
  inBackground(step: () => Promise<unknown>): void {
    this.#background.track(this.insist(step, this.#clock.monotonic() + RETRY_TIME))
  }

  /** Repeats a step until it is answered, or until `until`. Returns the last error if it never was. */
  async insist<T>(
    step: () => Promise<T>,
    until: number | (() => number),
    failed?: (error: unknown) => void,
  ): Promise<{ answer: T } | { error: unknown }> {
    for (let pause = 20; ; pause = Math.min(2 * pause, 500)) {
      try {
        return { answer: await step() }
      } catch (error) {
        failed?.(error)
        const last = Math.min(typeof until === 'number' ? until : until(), this.#background.endsAt)
        const over = last - this.#clock.monotonic() <= pause
        if (over || error instanceof ClosedError || isWrongKind(error)) return { error }
        await this.#background.sleep(pause)
      }
    }
  }
}
