import { BusyError } from '../errors.js'
import { onAbort } from './abort.js'
import type { UnitOfWork } from './owner.js'
import { Queue, type Waiter, newWaiter } from './queue.js'
import type { Request } from './request.js'
import type { Runtime } from './runtime.js'

/** Told of who leaves before being served; `settle` says so to the caller. */
export type OnLeave = (waiter: Waiter, settle: () => void) => void

/** Who waits at a gate, in order, each with its own time limit and signal; leaving costs nothing. */
export class WaitingRoom {
  readonly #runtime: Runtime
  readonly #name: string
  readonly #onLeave: OnLeave
  readonly #queue = new Queue()
  /** Waiters whose owner may wait here twice. */
  #explicit = 0

  constructor(runtime: Runtime, name: string, onLeave: OnLeave) {
    this.#runtime = runtime
    this.#name = name
    this.#onLeave = onLeave
  }

  get first(): Waiter | undefined {
    return this.#queue.first
  }

  all(): Iterable<Waiter> {
    return this.#queue
  }

  /** Other calls of this owner. */
  of(owner: UnitOfWork): Waiter[] {
    return this.#explicit === 0 ? [] : [...this.#queue].filter((waiter) => waiter.request.owner === owner)
  }

  /** `since`: it came at that time, before all who wait. */
  enter(request: Request, resolve: Waiter['resolve'], reject: Waiter['reject'], since?: number): Waiter {
    const { signal, wait, explicit } = request
    const { clock } = this.#runtime.options
    const waiter = newWaiter(request, resolve, reject, since ?? clock.monotonic())
    if (since === undefined) this.#queue.push(waiter)
    else this.#queue.unshift(waiter)
    if (explicit) this.#explicit++
    if (wait > 0 && wait !== Infinity) {
      waiter.timer = clock.setTimer(() => {
        this.#leave(waiter, () => {
          resolve(undefined)
        })
      }, wait)
    }
    if (signal !== undefined) {
      waiter.unlisten = onAbort(signal, () => {
        this.#leave(waiter, () => {
          reject(signal.reason)
        })
      })
    }
    return waiter
  }

  /** From here on the call waits. False: too many do, and it is rejected. */
  admit(waiter: Waiter): boolean {
    if (waiter.counted) return true
    const { maxWaiters } = this.#runtime.options
    if (this.#runtime.waiting >= maxWaiters) {
      this.remove(waiter)
      waiter.reject(new BusyError(this.#name, maxWaiters))
      return false
    }
    waiter.counted = true
    this.#runtime.waiting++
    return true
  }

  remove(waiter: Waiter): void {
    if (waiter.queued && waiter.request.explicit) this.#explicit--
    this.#queue.remove(waiter)
    waiter.timer?.cancel()
    waiter.unlisten?.()
    waiter.unlisten = undefined
    if (waiter.counted) this.#runtime.waiting--
    waiter.counted = false
  }

  /** A single try, and those of the same owner that shared its luck, are over. */
  refuseTries(tried: Waiter): void {
    const tries = tried.request.wait === 0 ? [tried, ...this.of(tried.request.owner)] : this.of(tried.request.owner)
    for (const waiter of tries) {
      if (waiter.request.wait > 0 || !waiter.queued) continue
      this.remove(waiter)
      waiter.resolve(undefined)
    }
  }

  rejectAll(reason: unknown): void {
    for (const waiter of this.#queue) {
      this.remove(waiter)
      waiter.reject(reason)
    }
  }

  #leave(waiter: Waiter, settle: () => void): void {
    if (!waiter.queued) return
    this.remove(waiter)
    this.#onLeave(waiter, settle)
  }
}
