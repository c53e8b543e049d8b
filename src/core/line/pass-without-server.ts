import type { Timer } from '../../base/clock.js'
import type { Tenure } from '../hold/tenure.js'
import type { LineHost } from '../waiting/gate-host.js'
import type { Place, Waiter } from '../waiting/waiter.js'
import type { Grant } from './grant-message.js'
import type { LineWaiters } from './line-waiters.js'
import { POLL } from '../../script-times-and-limits.js'

/**
 * Decides which waiter of this process gets the lock next, without the server. If the process has one place in the line, it is
 * its next waiter. If each waiter has a place, those right behind a grant: no other can come between, and their places go with the tenure.
 */
export class PassWithoutServer {
  readonly #host: LineHost
  readonly #waiters: LineWaiters
  /** The wire name that was granted the lock, and the numbers of the places right behind it. */
  #of = ''
  #next: number[] = []
  /** A tenure that may have been released by force. */
  #suspect: Tenure | undefined
  /** Other processes stand behind the newest grant. */
  followed = false
  /** If the hold lasts, those that were served leave the line when this fires. */
  #tidying: Timer | undefined

  constructor(host: LineHost, waiters: LineWaiters) {
    this.#host = host
    this.#waiters = waiters
  }

  begin({ behind, followed }: Grant, wire: string): void {
    this.#of = wire
    this.#next = [...behind]
    this.followed = followed && !this.#waiters.standsOnce
  }

  /** What is known of the line may be out of date. */
  stop(): void {
    this.#of = ''
  }

  /** This tenure may have been released by force. */
  suspect(tenure: Tenure): void {
    this.stop()
    this.#suspect = tenure
  }

  /** The waiter that may have the lock next without asking the server. */
  heir(tenure: Tenure): Waiter | undefined {
    if (this.#waiters.standsOnce) return tenure === this.#suspect ? undefined : this.#waiters.room.first
    if (this.#of !== tenure.wire) return undefined
    for (let next = this.#next.shift(); next !== undefined; next = this.#next.shift()) {
      const place = this.#waiters.places.at(next)
      // A place that is not found has left. A waiter that does not know yet that it waits may be about to leave.
      if (place !== undefined) return place.since === undefined || !place.waiter.queued ? undefined : place.waiter
    }
    return undefined
  }

  /** The place of the waiter leaves the line when the tenure ends. */
  hand(waiter: Waiter, tenure: Tenure): void {
    const { place } = waiter
    if (place !== undefined && !this.#waiters.standsOnce) {
      this.#waiters.places.forget(place)
      this.#served(place, tenure)
    }
    this.#waiters.serve(waiter, tenure, true)
    this.#waiters.rest()
  }

  #served({ wire }: Place, tenure: Tenure): void {
    if (tenure.served.length === 0) tenure.served = [wire]
    else tenure.served.push(wire)
    this.#tidying ??= this.#host.runtime.options.clock.setTimer(() => {
      this.#tidying = undefined
      if (this.#host.tenure !== undefined) this.#host.leaveLine(this.#host.tenure)
      this.#host.rested()
    }, POLL)
  }

  end(): void {
    this.#tidying?.cancel()
    this.#tidying = undefined
  }
}
