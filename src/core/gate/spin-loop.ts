import { AskLoop } from '../waiting/ask-loop.js'
import type { Waiter } from '../waiting/waiter.js'
import { POLL } from '../../constants.js'

/** By then the pauses of whoever else waits have grown. */
const LATER = 64

/** The wait loop where releases are told to nobody: ask, pause, ask again. */
export class SpinLoop extends AskLoop<Waiter> {
  /** What it pauses for came while it asked. */
  #woken = false
  /** Others go first before we ask. */
  #courteous = false

  wake(): void {
    this.#woken = true
    this.interrupt()
  }

  /** Who else waits pauses just now, and would never find it free between our release and our next question. */
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
        if (contest.troubled(outcome.trouble)) await this.#pause(Math.min(50 * 2 ** troubles++, POLL))
        continue
      }
      troubles = 0
      contest.refused(waiter)
      const next = contest.next()
      // A single try that came while another call was asked for is asked for at once.
      if (next === waiter || next?.request.wait !== 0) await this.#pause(this.#backoff(waiter, refusals++))
    }
    this.over()
  }

  #backoff({ request: { backoff } }: Waiter, refusals: number): number {
    return backoff?.(refusals, () => this.contest.clock.random()) ?? POLL
  }

  /** Until the time is up, or there is nobody left to ask for. */
  async #pause(ms: number): Promise<void> {
    if (!this.#woken && this.contest.next() !== undefined) await this.sleep(ms)
  }
}
