import type { Timer } from '../../base/clock.js'
import type { Runtime } from '../client/runtime.js'
import type { Attendance } from '../server/shared-subscriptions.js'
import type { Place } from '../waiting/waiter.js'

/** ms. In their turn, outsiders take at most this long from the message of a release until they have the lock: Redisson takes 3 to 5. */
const QUIET = 10

/**
 * Waiters for the same lock that know of no line: Redisson's clients. They listen for releases on its channel. While one of them
 * has the lock, or it is left to them for a while, our first waiter listens there too, and asks when they have finished.
 */
export class Outsiders {
  readonly #host: { readonly runtime: Runtime }
  readonly #protocol: { readonly channel: string }
  readonly #ask: () => void
  #ear: Attendance | undefined
  /** The place for which we listen. */
  #first: Place | undefined
  #timer: Timer | undefined
  #later: Timer | undefined
  /** Until when the lock is left to them, on the monotonic clock. */
  #till = -Infinity
  /** Whether none of them was heard for a while; how many visits they have had in this turn; and how many they may have. */
  #quiet = false
  #visits = 0
  #share = 0

  constructor(host: { readonly runtime: Runtime }, protocol: { readonly channel: string }, ask: () => void) {
    this.#host = host
    this.#protocol = protocol
    this.#ask = ask
  }

  get #now(): number {
    return this.#host.runtime.options.clock.monotonic()
  }

  get news(): 0 | 1 {
    return this.#now < this.#till && (this.#quiet || this.#visits >= this.#share) ? 1 : 0
  }

  /** One of them may have the lock: if it has not been granted to us after `ms`, we listen. */
  expect(ms: number): void {
    this.#later ??= this.#host.runtime.options.clock.setTimer(() => this.attend(undefined, 0, 0), ms)
  }

  /** This turn or the next is theirs, and the place is behind them. `open`: for how many ms at most; `share`: for how many visits. */
  attend(first: Place | undefined, open: number, share: number): void {
    this.#first = first
    if (open > 0 && this.#now >= this.#till) {
      this.#till = this.#now + open
      this.#visits = 0
      this.#share = share
      this.#wait()
    }
    if (this.#ear !== undefined) return
    this.#ear = this.#host.runtime.subscriptions.listen(this.#protocol.channel, () => this.#heard())
    // The lock may have been released before the subscription was ready.
    this.#ear.ready?.then(this.#ask, () => undefined)
  }

  #heard(): void {
    this.#visits += 1
    if (this.#now < this.#till && this.#visits < this.#share) this.#wait()
    else this.#ask()
  }

  /** Asks when none of them was heard for a while, or when their turn is over. */
  #wait(): void {
    this.#timer?.cancel()
    this.#quiet = false
    const left = Math.max(0, this.#till - this.#now)
    this.#timer = this.#host.runtime.options.clock.setTimer(
      () => {
        this.#quiet = true
        this.#ask()
      },
      Math.min(QUIET, left),
    )
  }

  /** A holdfast client has the lock, or `place` is not behind outsiders. Stops listening, unless another place still is behind them. */
  leave(place?: Place): void {
    const first = this.#first
    if (place !== undefined && first !== undefined && first !== place && first.waiter.place === first) return
    this.#first = undefined
    this.#timer?.cancel()
    this.#later?.cancel()
    this.#later = undefined
    this.#till = -Infinity
    void this.#ear?.leave()
    this.#ear = undefined
  }
}
