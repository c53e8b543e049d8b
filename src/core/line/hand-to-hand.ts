import type { Timer } from '../../base/clock.js'
import type { Tenure } from '../hold/tenure.js'
import type { LineHost } from '../waiting/gate-host.js'
import type { Place, Waiter } from '../waiting/waiter.js'
import type { Grant } from './grant-message.js'
import type { LineWaiters } from './line-waiters.js'
import { POLL } from '../../constants.js'

/**
 * Who has the lock next in this process, without the server. Where a process has one place in the line, that is its next waiter.
 * Where each has its own, those who stand right behind a grant: nobody can come between them, and their places go with the tenure.
 */
export class HandToHand {
  readonly #host: LineHost
  readonly #waiters: LineWaiters
  /** Whose grant it was, and who comes next. */
  #of = ''
  #next: number[] = []
  /** What may have been taken by force. */
  #suspect: Tenure | undefined
  /** Other processes stand behind the newest grant. */
  followed = false
  /** Until those who were served leave the line, if the hold lasts. */
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

  /** What the line was may not be so any more. */
  stop(): void {
    this.#of = ''
  }

  /** This one may have been taken by force. */
  suspect(tenure: Tenure): void {
    this.stop()
    this.#suspect = tenure
  }

  /** Who may have it next without asking the server. */
  heir(tenure: Tenure): Waiter | undefined {
    if (this.#waiters.standsOnce) return tenure === this.#suspect ? undefined : this.#waiters.room.first
    if (this.#of !== tenure.wire) return undefined
    for (let next = this.#next.shift(); next !== undefined; next = this.#next.shift()) {
      const place = this.#waiters.places.at(next)
      // Whoever does not know yet that it waits may be about to leave; whoever is not there has left.
      if (place !== undefined) return place.since === undefined || !place.waiter.queued ? undefined : place.waiter
    }
    return undefined
  }

  /** Its place goes when the tenure does. */
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
