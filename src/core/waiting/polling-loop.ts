import type { Clock } from '../../base/clock.js'
import { outside } from '../../base/scope.js'
import type { Patience } from './acquire-request.js'

/** The result of an attempt: for how many ms the lock is still held by another owner, or that a waiter was served, or trouble. */
export type Outcome = number | 'served' | { readonly trouble: unknown }

/** What a loop asks for, again and again. */
export interface Contest<W> {
  readonly clock: Clock
  /** The waiter to ask for. Undefined if there is none, or a call here holds the lock, or the client closes. */
  next(): W | undefined
  attempt(waiter: W): Promise<Outcome>
  /** The server says that another owner has it: a single try is over, another call begins to wait. */
  refused(waiter: W): void
  /** Rejects the waiters that must not wait any longer. True: some wait on. */
  troubled(trouble: unknown): boolean
  /** There is no waiter left to ask for. */
  rested(): void
}

/** What both wait loops share: at most one run at a time, and it can be woken up from its pauses. */
export abstract class PollingLoop<W extends { readonly request: Patience }, C extends Contest<W> = Contest<W>> {
  protected readonly contest: C
  #running: Promise<void> | undefined
  #wake: (() => void) | undefined

  constructor(contest: C) {
    this.contest = contest
  }

  /** Runs while there is a waiter to ask for, and ends with `over()`. Never rejects. `refused`: see `start`. */
  protected abstract run(refused: boolean): Promise<void>

  get running(): Promise<void> | undefined {
    return this.#running
  }

  /** `refused`: the server has just said that another owner has it. */
  start(refused = false): void {
    // Ask for this first: if it notices that a hold is over, that hold ends at once, which starts the loop as well.
    const next = this.contest.next()
    // The loop runs outside any scope, because it goes on for later callers.
    if (next !== undefined && this.#running === undefined) this.#running = outside(() => this.run(refused))
  }

  /** Called in the tick in which there was no waiter left to ask for: a later waiter starts a new run. */
  protected over(): void {
    this.#running = undefined
    this.contest.rested()
  }

  protected interrupt(): void {
    this.#wake?.()
  }

  /** Ends when the time is up, or on `interrupt`. */
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
