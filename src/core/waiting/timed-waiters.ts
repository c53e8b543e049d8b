import { onAbort, reasonOf } from '../../base/abort.js'
import type { UnitOfWork } from '../../base/owner.js'
import { ownersOf } from '../../base/scope.js'
import { within } from '../../base/time-limit.js'
import type { WantedLock } from '../client/nested-waits.js'
import type { TenureHold } from '../hold/hold.js'
import { GRACE } from './grace-after-wait-ends.js'
import { oneTooMany } from './max-waiters.js'
import { WaiterQueue } from './waiter-queue.js'
import type { Patience, Request } from './acquire-request.js'
import type { Runtime } from '../client/runtime.js'
import { isAway } from '../../away-or-refusing.js'
import { waitsOut } from './trouble-to-wait-out.js'
import { newWaiter, type Waiter } from './waiter.js'

/** Called when a waiter leaves before it is served. Resolves when nothing of it is left; undefined if that is so already. */
type OnLeave<Q extends Patience, G> = (waiter: Waiter<Q, G>) => Promise<unknown> | undefined

/** The waiters at one gate or turnstile, in order, each with its own time limit and signal. Leaving costs nothing. */
export class TimedWaiters<Q extends Patience = Request, G = TenureHold> {
  readonly #runtime: Runtime
  readonly #name: string
  readonly #onLeave: OnLeave<Q, G>
  readonly #queue = new WaiterQueue<Q, G>()
  /** Waiters whose owner was named, by owner: such an owner may wait here more than once. */
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

  /** The calls of this owner, if it was named. */
  of(owner: UnitOfWork | undefined): Waiter<Q, G>[] {
    return owner === undefined ? [] : [...(this.#explicit.get(owner) ?? [])]
  }

  /** `since`: when the call came, if it goes before all waiters. */
  enter(request: Q, resolve: Waiter<Q, G>['resolve'], reject: Waiter<Q, G>['reject'], since?: number): Waiter<Q, G> {
    const { signal, wait } = request
    const { clock } = this.#runtime.options
    const waiter = newWaiter<Q, G>(request, resolve, reject, since ?? clock.monotonic())
    // This comes first: if it throws, nothing has been added.
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

  /** From now on the call counts as waiting. False: too many calls wait, and this one is rejected. `lock`: what it waits for, if that has owners. */
  admit(waiter: Waiter<Q, G>, lock?: WantedLock): boolean {
    if (waiter.counted) return true
    const busy = oneTooMany(this.#runtime, this.#name)
    if (busy !== undefined) {
      this.remove(waiter)
      waiter.reject(busy)
      return false
    }
    waiter.counted = true
    if (this.#runtime.waiting++ === 0) this.#runtime.stirred()
    const { explicit, around, call } = waiter.request
    if (lock !== undefined && (explicit === true || around !== undefined)) this.#nests(waiter, lock)
    call?.waits()
    return true
  }

  /** The owner of the call may hold something that others wait for. */
  #nests(waiter: Waiter<Q, G>, lock: WantedLock): void {
    const { owner, around } = waiter.request
    this.#runtime.nested.add(waiter, {
      lock,
      number: this.#runtime.nextNumber(),
      since: waiter.since,
      owners: () => [...(owner === undefined ? [] : [owner]), ...ownersOf(around)],
      reject: (reason) => this.#leave(waiter, () => waiter.reject(reason)),
    })
  }

  remove(waiter: Waiter<Q, G>): void {
    this.#queue.remove(waiter)
    this.#strike(waiter)
    waiter.timer?.cancel()
    waiter.unlisten?.()
    waiter.unlisten = undefined
    if (waiter.counted) {
      this.#runtime.waiting--
      this.#runtime.nested.delete(waiter)
    }
    waiter.counted = false
  }

  /** Removes all calls of this owner, and passes each to `settle`. */
  dismiss(owner: UnitOfWork, settle: (waiter: Waiter<Q, G>) => void): void {
    for (const waiter of this.of(owner)) {
      this.#leave(waiter, () => settle(waiter))
    }
  }

  /** A single try was refused, and with it the tries of the same owner that shared its outcome. */
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
   * An attempt for the first waiter met with trouble. Rejects the waiters that must not wait any longer; true: the others wait on.
   * `answeredAt`: when the newest question that was answered was sent.
   */
  troubled(trouble: unknown, answeredAt: number): boolean {
    const waitsOn = ({ request, since }: Waiter<Q, G>): boolean => waitsOut(trouble, request, since <= answeredAt)
    const away = isAway(trouble)
    const { first } = this
    for (const waiter of this.#queue) {
      waiter.request.trouble = trouble
      // Other trouble concerns only the waiter that was asked for. If the server cannot be reached, that concerns all.
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
