import { POLL } from '../../constants.js'

/** So many questions messages may cost at once, and one more each so many ms. */
const AT_ONCE = 50
const EVERY = 2
/** A question about so many waiters counts as one. */
const FEW = 25

/** How often messages alone make us ask: anybody who may publish can send them, as many as they like. */
export class MessageBrake {
  #paid = -Infinity

  /**
   * A message makes us ask once more, about so many waiters: in so many ms. A long question delays those after it, by no more than a poll: what keeps on being
   * heard must not make us deaf. Called for a question that is really going to be asked, not for each message.
   */
  delay(now: number, waiters = 1): number {
    const paid = Math.max(this.#paid, now - AT_ONCE * EVERY)
    this.#paid = Math.min(paid + EVERY * Math.max(1, waiters / FEW), now + POLL)
    return Math.max(0, paid + EVERY - now)
  }

  /** Asking was not in vain. */
  served(): void {
    this.#paid = -Infinity
  }
}
