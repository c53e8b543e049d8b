import { BusyError } from '../../errors.js'
import { onAbort, reasonOf } from '../../base/abort.js'
import type { UnitOfWork } from '../../base/owner.js'
import { within } from '../../base/time-limit.js'
import type { TenureHold } from '../hold/hold.js'
import { GRACE } from './limited-step.js'
import { Queue } from './queue.js'
import type { Patience, Request } from './request.js'
import type { Runtime } from '../client/runtime.js'
import { isAway, waitsOut } from '../server/error-kinds.js'
import { newWaiter, type Waiter } from './waiter.js'

/** Told of who leaves before being served: resolves when nothing of it is left; undefined where that is so already. */
type OnLeave<Q extends Patience, G> = (waiter: Waiter<Q, G>) => Promise<unknown> | undefined

/** Who waits at one place, in order, each with its own time limit and signal; leaving costs nothing. */
export class WaitingRoom<Q extends Patience = Request, G = TenureHold> {
  readonly #runtime: Runtime
  readonly #name: string
  readonly #onLeave: OnLeave<Q, G>
  readonly #queue = new Queue<Q, G>()
  /** Those whose owner may wait here twice, by owner. */
  readonly #explicit = new Map<UnitOfWork, Set<Waiter<Q, G>>>()

  constructor(runtime: Runtime, name: string, onLeave: OnLeave<Q, G>) {
    this.#runtime = runtime
    this.#name = name
    this.#onLeave = onLeave
  }

  get first(): Waiter<Q, G> | undefined {
    return this.#queue.first
  }

  all(): Iterable<Waiter<Q, G>> {
    return this.#queue
  }

  /** The calls of this owner, where it was named. */
  of(owner: UnitOfWork | undefined): Waiter<Q, G>[] {
    return owner === undefined ? [] : [...(this.#explicit.get(owner) ?? [])]
  }

  /** `since`: it came at that time, before all who wait. */
  enter(request: Q, resolve: Waiter<Q, G>['resolve'], reject: Waiter<Q, G>['reject'], since?: number): Waiter<Q, G> {
    const { signal, wait } = request
    const { clock } = this.#runtime.options
    const waiter = newWaiter<Q, G>(request, resolve, reject, since ?? clock.monotonic())
    // First of all: where it throws, nobody waits.
    if (signal !== undefined) {
      waiter.unlisten = onAbort(signal, () => this.#leave(waiter, () => reject(reasonOf(signal))))
    }
    if (since === undefined) this.#queue.push(waiter)
    else this.#queue.unshift(waiter)
    this.#list(waiter)
    if (wait > 0 && wait !== Infinity) {
      waiter.timer = clock.setTimer(() => this.#leave(waiter, () => resolve(undefined)), wait)
    }
    return waiter
  }

  /** From here on the call waits. False: too many do, and it is rejected. */
  admit(waiter: Waiter<Q, G>): boolean {
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

  remove(waiter: Waiter<Q, G>): void {
    this.#queue.remove(waiter)
    this.#strike(waiter)
    waiter.timer?.cancel()
    waiter.unlisten?.()
    waiter.unlisten = undefined
    if (waiter.counted) this.#runtime.waiting--
    waiter.counted = false
  }

  /** All calls of this owner leave; `settle` says to each that it has. */
  dismiss(owner: UnitOfWork, settle: (waiter: Waiter<Q, G>) => void): void {
    for (const waiter of this.of(owner)) {
      this.#leave(waiter, () => settle(waiter))
    }
  }

  /** A single try, and those of the same owner that shared its luck, are over. */
  refuseTries(tried: Waiter<Q, G>): void {
    const { wait, owner, explicit } = tried.request
    if (wait > 0 && explicit !== true) return
    for (const waiter of [tried, ...this.of(owner)]) {
      if (waiter.request.wait > 0 || !waiter.queued) continue
      this.remove(waiter)
      waiter.resolve(undefined)
    }
  }

  /**
   * An attempt for the first met with trouble. Rejects those for whom it is over; true: the others wait on.
   * `answeredAt`: when the server last answered whoever was here.
   */
  troubled(trouble: unknown, answeredAt: number): boolean {
    const waitsOn = ({ request, since }: Waiter<Q, G>): boolean => waitsOut(trouble, request, since <= answeredAt)
    const away = isAway(trouble)
    const { first } = this
    for (const waiter of this.#queue) {
      waiter.request.trouble = trouble
      // The server answers each by itself, save that it cannot be reached: that is so for all.
      if (waitsOn(waiter)) continue
      if (waiter !== first && !away) break
      this.remove(waiter)
      waiter.reject(trouble)
    }
    return this.first !== undefined && waitsOn(this.first)
  }

  rejectAll(reason: unknown): void {
    for (const waiter of this.#queue) {
      this.remove(waiter)
      waiter.reject(reason)
    }
  }

  #list(waiter: Waiter<Q, G>): void {
    const { owner, explicit } = waiter.request
    if (explicit !== true || owner === undefined) return
    const calls = this.#explicit.get(owner)
    if (calls === undefined) this.#explicit.set(owner, new Set([waiter]))
    else calls.add(waiter)
  }

  #strike(waiter: Waiter<Q, G>): void {
    const { owner, explicit } = waiter.request
    if (explicit !== true || owner === undefined) return
    const calls = this.#explicit.get(owner)
    if (calls?.delete(waiter) === true && calls.size === 0) this.#explicit.delete(owner)
  }

  #leave(waiter: Waiter<Q, G>, settle: () => void): void {
    if (!waiter.queued) return
    this.remove(waiter)
    const left = this.#onLeave(waiter)
    if (left === undefined) settle()
    else void within(this.#runtime.options.clock, GRACE, left).then(settle)
  }
}
