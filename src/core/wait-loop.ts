import type { Contest } from './contender.js'
import { outside } from './scope.js'
import type { Patience } from './request.js'

/** What both wait loops have: at most one runs at a time, and it can be woken from its pauses. */
export abstract class WaitLoop<W extends { readonly request: Patience }> {
  protected readonly contest: Contest<W>
  #running: Promise<void> | undefined
  #wake: (() => void) | undefined

  constructor(contest: Contest<W>) {
    this.contest = contest
  }

  /** Goes on while there is somebody to ask for, and ends with `over()`. Never rejects. `refused`: see `start`. */
  protected abstract run(refused: boolean): Promise<void>

  get running(): Promise<void> | undefined {
    return this.#running
  }

  /** `refused`: the server has just said that another has it. */
  start(refused = false): void {
    // Asked first: a hold that it finds to be over ends at once, and that starts it too.
    const next = this.contest.next()
    // It goes on for whoever comes after that caller.
    if (next !== undefined && this.#running === undefined) this.#running = outside(() => this.run(refused))
  }

  /** In the turn in which nobody was found to ask for: whoever comes later starts it anew. */
  protected over(): void {
    this.#running = undefined
    this.contest.rested()
  }

  protected interrupt(): void {
    this.#wake?.()
  }

  /** Until the time is up, or it is interrupted. */
  protected sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        timer.cancel()
        this.#wake = undefined
        resolve()
      }
      const timer = this.contest.clock.setTimer(end, ms)
      this.#wake = end
    })
  }
}
