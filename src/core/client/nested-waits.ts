import type { UnitOfWork } from '../../base/owner.js'

/** A lock that a call waits for. */
export interface WantedLock {
  readonly name: string
  readonly kind: { readonly name: string; readonly keys?: readonly string[] | undefined }
  readonly protocol: { readonly key: string }
}

/** A call that waits although its owner, or a `using` around it, may hold something. */
export interface NestedWait {
  readonly lock: WantedLock
  /** The client never uses it again. */
  readonly number: number
  /** When the call began, on the monotonic clock. */
  readonly since: number
  /** Its owner, and those of the `using`s around it that still run. */
  readonly owners: () => readonly UnitOfWork[]
  /** Ends the wait. */
  readonly reject: (reason: Error) => void
}

/** The nested waits of one client, in the order in which they began to count. */
export class NestedWaits {
  readonly #all = new Map<object, NestedWait>()
  /** Called when there is one, and none was there before. */
  begun: () => void = () => undefined

  get all(): Iterable<NestedWait> {
    return this.#all.values()
  }

  get size(): number {
    return this.#all.size
  }

  /** When the oldest began. */
  get oldest(): number {
    let oldest = Infinity
    for (const { since } of this.#all.values()) oldest = Math.min(oldest, since)
    return oldest
  }

  add(waiter: object, wait: NestedWait): void {
    this.#all.set(waiter, wait)
    if (this.#all.size === 1) this.begun()
  }

  delete(waiter: object): void {
    this.#all.delete(waiter)
  }
}
