import { type Contest, POLL } from './contender.js'
import type { Waiter } from './queue.js'

/** By then the pauses of whoever else waits have grown. */
const LATER = 64

/** The wait loop where releases are told to nobody: ask, pause, ask again. */
export class Spinner {
  /** Nobody can know. */
  readonly othersWait = false
  readonly #contest: Contest
  #running: Promise<void> | undefined
  #wake: (() => void) | undefined
  /** What it pauses for came while it asked. */
  #woken = false
  /** Others shall have their turn before we ask. */
  #courteous = false

  constructor(contest: Contest) {
    this.#contest = contest
  }

  get running(): Promise<void> | undefined {
    return this.#running
  }

  /** `refused`: the server has just said that another has it. */
  start(refused = false): void {
    const next = this.#contest.next()
    if (next !== undefined && this.#running === undefined) this.#running = this.#run(refused)
  }

  wake(): void {
    this.#woken = true
    this.#wake?.()
  }

  /** Who else waits pauses just now, and would never find it free between our release and our next question. */
  freeing(): void {
    this.#courteous = true
  }

  freed(): void {
    // Nobody was told.
  }

  /** Goes on while there is somebody to ask for. Never rejects. */
  async #run(refused: boolean): Promise<void> {
    const contest = this.#contest
    let refusals = 0
    let troubles = 0
    let last: Waiter | undefined
    for (let waiter = contest.next(), asked = refused; waiter !== undefined; waiter = contest.next(), asked = false) {
      if (waiter !== last) refusals = 0
      last = waiter
      if (this.#courteous) {
        this.#courteous = false
        await this.#pause(this.#backoff(waiter, LATER) * contest.clock.random())
        continue
      }
      this.#woken = false
      const outcome = asked ? 0 : await contest.attempt(waiter)
      if (outcome === 'served') continue
      if (typeof outcome === 'object') {
        if (contest.troubled(outcome.trouble)) await this.#pause(Math.min(50 * 2 ** troubles++, POLL))
        continue
      }
      troubles = 0
      contest.refused(waiter)
      const next = contest.next()
      // A single try that came while another call was asked for is asked for at once.
      if (next === waiter || next?.request.wait !== 0) await this.#pause(this.#backoff(waiter, refusals++))
    }
    this.#running = undefined
    contest.rested()
  }

  #backoff({ request: { backoff } }: Waiter, refusals: number): number {
    return backoff?.(refusals, () => this.#contest.clock.random()) ?? POLL
  }

  /** Until the time is up, or there is nobody left to ask for. */
  #pause(ms: number): Promise<void> {
    if (this.#woken || this.#contest.next() === undefined) return Promise.resolve()
    return new Promise((resolve) => {
      const end = (): void => {
        timer.cancel()
        this.#wake = undefined
        resolve()
      }
      const timer = this.#contest.clock.setTimer(end, ms)
      this.#wake = end
    })
  }
}
