import { PollingLoop } from '../waiting/polling-loop.js'
import { troublePause } from '../waiting/trouble-to-wait-out.js'
import type { Waiter } from '../waiting/waiter.js'
import { POLL } from '../../script-times-and-limits.js'

/** How many refusals to count before a polite pause: by then, the pauses of other waiters have grown as well. */
const LATER = 64

/** The wait loop of a lock whose releases are not published: ask, pause, ask again. */
export class SpinLoop extends PollingLoop<Waiter> {
  /** It was woken up while it asked, so it does not pause next. */
  #woken = false
  /** Pause before asking, so that others can go first. */
  #courteous = false

  wake(): void {
    this.#woken = true
    this.interrupt()
  }

  /** Other waiters are pausing now, and would never find the lock free between our release and our next question. */
  freeing(): void {
    this.#courteous = true
  }

  protected async run(refused: boolean): Promise<void> {
    const { contest } = this
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
        if (contest.troubled(outcome.trouble)) await this.#pause(troublePause(contest.clock, troubles++))
        continue
      }
      troubles = 0
      contest.refused(waiter)
      const next = contest.next()
      // A single try that came while we asked for another call is asked for at once.
      if (next === waiter || next?.request.wait !== 0) await this.#pause(this.#backoff(waiter, refusals++))
    }
    this.over()
  }

  #backoff({ request: { backoff } }: Waiter, refusals: number): number {
    return backoff?.(refusals, () => this.contest.clock.random()) ?? POLL
  }

  /** Returns early when woken up, or if no waiter is left. */
  async #pause(ms: number): Promise<void> {
    if (!this.#woken && this.contest.next() !== undefined) await this.sleep(ms)
  }
}
