import type { Timer } from '../../base/clock.js'
import type { Places } from './place.js'
import type { Tenure } from '../hold/tenure.js'
import type { Place, Waiter } from '../waiting/waiter.js'
import type { LineHost } from '../waiting/host.js'
import { POLL } from '../hold/trust.js'

/**
 * Who stands right behind a grant in the line of the server, in this process: nobody can come between them, so within the
 * bounds of the gate the hold goes from one to the next without the server. Their places there go with the tenure.
 */
export class HandToHand {
  readonly #host: LineHost
  readonly #places: Places
  /** Whose grant it was, and who comes next. */
  #of = ''
  #next: number[] = []
  /** Until those who were served leave the line, if the hold lasts. */
  #tidying: Timer | undefined

  constructor(host: LineHost, places: Places) {
    this.#host = host
    this.#places = places
  }

  begin(wire: string, behind: readonly number[]): void {
    this.#of = wire
    this.#next = [...behind]
  }

  /** What the line was may not be so any more. */
  stop(): void {
    this.#of = ''
  }

  /** Who may have it next without the server's word. */
  heir({ wire }: Tenure): Waiter | undefined {
    if (this.#of !== wire) return undefined
    for (let next = this.#next.shift(); next !== undefined; next = this.#next.shift()) {
      const place = this.#places.at(next)
      // Who does not know yet that it waits may be about to leave; who is not there has left.
      if (place !== undefined) return place.since === undefined || !place.waiter.queued ? undefined : place.waiter
    }
    return undefined
  }

  /** It has its turn. */
  served({ wire }: Place, tenure: Tenure): void {
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
