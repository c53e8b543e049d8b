import type { Clock } from '../../base/clock.js'
import { outside } from '../../base/scope.js'
import type { Patience } from './request.js'

/** What became of an attempt: for how many ms the lock stays another's, or that somebody was served, or trouble. */
export type Outcome = number | 'served' | { readonly trouble: unknown }

/** What is asked for, again and again. */
export interface Contest<W> {
  readonly clock: Clock
  /** For whom to ask: undefined when nobody waits, or somebody here holds it, or the client closes. */
  next(): W | undefined
  attempt(waiter: W): Promise<Outcome>
  /** The server says that another has it: a single try is over, another call begins to wait. */
  refused(waiter: W): void
  /** Rejects those for whom it is over. True: somebody waits on. */
  troubled(trouble: unknown): boolean
  /** Nobody is left to ask for. */
  rested(): void
}

/** What both wait loops have: at most one runs at a time, and it can be woken from its pauses. */
export abstract class AskLoop<W extends { readonly request: Patience }, C extends Contest<W> = Contest<W>> {
  protected readonly contest: C
  #running: Promise<void> | undefined
  #wake: (() => void) | undefined

  constructor(contest: C) {
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

  /** In the tick in which nobody was found to ask for: whoever comes later starts it anew. */
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
