import type { TenureHold } from '../hold/hold.js'
import type { Patience, Request } from './acquire-request.js'
import type { Waiter } from './waiter.js'

/** First in, first out; any waiter may leave at any time at no cost. */
export class WaiterQueue<Q extends Patience = Request, G = TenureHold> {
  #first: Waiter<Q, G> | undefined
  #last: Waiter<Q, G> | undefined

  get first(): Waiter<Q, G> | undefined {
    return this.#first
  }

  push(waiter: Waiter<Q, G>): void {
    waiter.queued = true
    waiter.previous = this.#last
    if (this.#last === undefined) this.#first = waiter
    else this.#last.next = waiter
    this.#last = waiter
  }

  unshift(waiter: Waiter<Q, G>): void {
    waiter.queued = true
    waiter.next = this.#first
    if (this.#first === undefined) this.#last = waiter
    else this.#first.previous = waiter
    this.#first = waiter
  }

  remove(waiter: Waiter<Q, G>): void {
    if (!waiter.queued) return
    waiter.queued = false
    if (waiter.previous === undefined) this.#first = waiter.next
    else waiter.previous.next = waiter.next
    if (waiter.next === undefined) this.#last = waiter.previous
    else waiter.next.previous = waiter.previous
    waiter.previous = waiter.next = undefined
  }

  *[Symbol.iterator](): Iterator<Waiter<Q, G>> {
    for (let waiter = this.#first; waiter !== undefined;) {
      // The waiter may leave while it is looked at.
      const next: Waiter<Q, G> | undefined = waiter.next
      yield waiter
      waiter = next
    }
  }
}
