import { POLL } from '../../script-times-and-limits.js'

/** How many questions messages may cause at once; after that, one more every `EVERY` ms. */
const AT_ONCE = 50
const EVERY = 2
/** A question about this many waiters counts as one. */
const FEW = 25

/** Limits how often messages make us ask: any user who may publish can send as many as they like. */
export class MessageThrottle {
  #paid = -Infinity

  /**
   * In how many ms to ask, if a message demands a question about this many waiters. A long question delays those after it, but by at
   * most a poll, so that many messages cannot make us deaf. Call this for a question that will really be asked, not for each message.
   */
  delay(now: number, waiters = 1): number {
    const paid = Math.max(this.#paid, now - AT_ONCE * EVERY)
    this.#paid = Math.min(paid + EVERY * Math.max(1, waiters / FEW), now + POLL)
    return Math.max(0, paid + EVERY - now)
  }

  /** A question had success: the throttle starts again. */
  served(): void {
    this.#paid = -Infinity
  }
}
