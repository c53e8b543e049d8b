import type { Timer } from './clock.js'
import type { TenureHold } from './hold.js'
import type { Request } from './request.js'

/** One call that waits at a gate. */
export interface Waiter {
  readonly request: Request
  readonly resolve: (hold: TenureHold | undefined) => void
  readonly reject: (reason: unknown) => void
  /** When the call began, on the monotonic clock. */
  readonly since: number
  /** It is in `Runtime.waiting`. */
  counted: boolean
  queued: boolean
  timer: Timer | undefined
  unlisten: (() => void) | undefined
  previous: Waiter | undefined
  next: Waiter | undefined
}

/** First in, first out; anyone may leave at any time at no cost. */
export class Queue {
  #first: Waiter | undefined
  #last: Waiter | undefined
  #size = 0

  get first(): Waiter | undefined {
    return this.#first
  }

  get size(): number {
    return this.#size
  }

  push(waiter: Waiter): void {
    waiter.queued = true
    waiter.previous = this.#last
    if (this.#last === undefined) this.#first = waiter
    else this.#last.next = waiter
    this.#last = waiter
    this.#size++
  }

  unshift(waiter: Waiter): void {
    waiter.queued = true
    waiter.next = this.#first
    if (this.#first === undefined) this.#last = waiter
    else this.#first.previous = waiter
    this.#first = waiter
    this.#size++
  }

  remove(waiter: Waiter): void {
    if (!waiter.queued) return
    waiter.queued = false
    if (waiter.previous === undefined) this.#first = waiter.next
    else waiter.previous.next = waiter.next
    if (waiter.next === undefined) this.#last = waiter.previous
    else waiter.next.previous = waiter.previous
    waiter.previous = waiter.next = undefined
    this.#size--
  }

  *[Symbol.iterator](): Iterator<Waiter> {
    for (let waiter = this.#first; waiter !== undefined;) {
      // It may leave while it is looked at.
      const next: Waiter | undefined = waiter.next
      yield waiter
      waiter = next
    }
  }
}

export const newWaiter = (
  request: Request,
  resolve: Waiter['resolve'],
  reject: Waiter['reject'],
  since: number,
): Waiter => ({
  request,
  resolve,
  reject,
  since,
  counted: false,
  queued: false,
  timer: undefined,
  unlisten: undefined,
  previous: undefined,
  next: undefined,
})
