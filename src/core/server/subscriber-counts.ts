import type { Clock } from '../../base/clock.js'

/** This many wake-ups without a grant, for this many ms, are no accident of a moment in which connections change. */
const MANY = 10
const LONG = 3000

const UNCOUNTED =
  'the server does not count the subscribers of its messages (there is a proxy, or this user may not run pubsub|numsub): it wakes ' +
  'the next waiter of a fair lock instead of granting the lock: one more round trip for each hand-over, and not always in order'

/** Notices if waiters are woken up, but never granted the lock: then the server does not count its subscribers. */
export class SubscriberCounts {
  readonly #clock: Clock
  readonly #warn: (warning: string) => void
  #calls = 0
  #since = 0
  #told = false

  constructor(clock: Clock, warn: (warning: string) => void) {
    this.#clock = clock
    this.#warn = warn
  }

  granted(): void {
    this.#calls = 0
  }

  /** Anybody could send such messages, so we ask the server before we warn. */
  called(isCounted: () => Promise<boolean>): void {
    this.#calls += 1
    if (this.#told) return
    const now = this.#clock.monotonic()
    if (this.#calls === 1) this.#since = now
    if (this.#calls < MANY || now - this.#since < LONG) return
    this.#calls = 0
    void isCounted().then((counted) => {
      if (counted || this.#told) return
      this.#told = true
      this.#warn(UNCOUNTED)
    })
  }
}
