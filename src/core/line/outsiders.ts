import type { Timer } from '../../base/clock.js'
import type { Runtime } from '../client/runtime.js'
import type { Attendance } from '../server/subscriptions.js'
import type { Place } from '../waiting/waiter.js'

/** In their turn outsiders take so long at most from the message of a release until they have the lock, ms: Redisson takes 3 to 5. */
const QUIET = 10

/**
 * Those who wait for the same lock and know of no line: Redisson's clients. They hear of releases on its channel. Where one of
 * them has it, or it is left to them for a while, whoever is first in our line listens there too, and asks when they are through.
 */
export class Outsiders {
  readonly #host: { readonly runtime: Runtime }
  readonly #protocol: { readonly channel: string }
  readonly #ask: () => void
  #ear: Attendance | undefined
  /** On behalf of whom. */
  #first: Place | undefined
  #timer: Timer | undefined
  #later: Timer | undefined
  /** Until when it is left to them, on the monotonic clock. */
  #till = -Infinity
  /** Nobody was heard for a while; how often they were through since it was left to them, and how often they may be. */
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

  /** It may be that one of them has it: if nobody else has given it to us until then, we listen. */
  expect(ms: number): void {
    this.#later ??= this.#host.runtime.options.clock.setTimer(() => this.attend(undefined, 0, 0), ms)
  }

  /** Theirs is the next turn, or this one, and this place is behind them; `open`: for so many ms at most, and for so many visits. */
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
    // It may have been released before that is heard.
    this.#ear.ready?.then(this.#ask, () => undefined)
  }

  #heard(): void {
    this.#visits += 1
    if (this.#now < this.#till && this.#visits < this.#share) this.#wait()
    else this.#ask()
  }

  /** Asks when nobody was heard for a while, or when their time is over. */
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

  /** One of ours has it, or `place` is not behind them; nobody here is, unless another place still is. */
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
