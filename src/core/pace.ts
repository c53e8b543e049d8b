/** So many questions messages may cost at once, and one more each so many ms. */
const AT_ONCE = 50
const EVERY = 2

/** How often messages alone make us ask: anybody who may publish can send them, as many as they like. */
export class Pace {
  #paid = -Infinity

  /** A message makes us ask once more: in so many ms. */
  delay(now: number): number {
    this.#paid = Math.max(this.#paid, now - AT_ONCE * EVERY) + EVERY
    return Math.max(0, this.#paid - now)
  }

  /** Asking was not in vain. */
  served(): void {
    this.#paid = -Infinity
  }
}
