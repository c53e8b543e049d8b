import { ExclusiveGate } from '../../core/gate/exclusive-gate.js'
import { overlap } from '../../core/gate/lock-kind.js'
import type { TenureHold } from '../../core/hold/hold.js'
import type { UnitOfWork } from '../../base/owner.js'
import type { LockProtocol } from '../../core/protocol/lock-protocol.js'
import type { Request } from '../../core/waiting/acquire-request.js'
import type { Tenure } from '../../core/hold/tenure.js'
import { DeadlockError } from '../../errors.js'

/**
 * Lets a protocol ask its gate whether the first waiter should take free keys that a waiter before it also wants. The earlier waiter
 * may, through other waiters, be waiting for this waiter's own code.
 */
export interface Impatient {
  passes?: () => boolean
}

/** How long the waiter waits first, ms: if this client holds other keys of the group, and if it does not. */
const NESTED = 900
const LONG = 5000

/** The gates where an owner has or wants keys, for as long as they are in use. */
const gatesOf = new WeakMap<UnitOfWork, readonly KeyedGate[]>()

/** The gate of one set of keys. Sets that overlap have separate gates, and exclude each other on the server. */
export class KeyedGate extends ExclusiveGate {
  constructor(...made: ConstructorParameters<typeof ExclusiveGate>) {
    super(...made)
    const protocol = this.protocol as LockProtocol & Impatient
    protocol.passes = () => this.#passes
  }

  get #passes(): boolean {
    const waited = this.first === undefined ? 0 : this.clock.monotonic() - this.first.since
    return waited >= LONG || (waited >= NESTED && this.#holdsOthers)
  }

  get #holdsOthers(): boolean {
    return this.home.on(this.protocol.key).some((gate) => gate instanceof KeyedGate && gate.tenure !== undefined)
  }

  override acquire(request: Request): Promise<TenureHold | undefined> {
    if (!request.explicit) return super.acquire(request)
    const hopeless = this.#inAnotherSet(request.owner)
    if (hopeless !== undefined) {
      this.rested()
      return Promise.reject(hopeless)
    }
    this.#note(request.owner)
    return super.acquire(request)
  }

  protected override hopeless(request: Request): DeadlockError | undefined {
    return (request.explicit ? this.#inAnotherSet(request.owner) : undefined) ?? super.hopeless(request)
  }

  /** Each hold has its own name on the server, so the owner would wait for itself. */
  #inAnotherSet(owner: UnitOfWork): DeadlockError | undefined {
    if (!this.#overlapping(owner).some((gate) => gate.tenureOf(owner) !== undefined)) return undefined
    return new DeadlockError(
      this.name,
      'its owner holds some of these keys in another set: acquire all of them at once',
    )
  }

  /** From now on, the owner's waits for overlapping sets are in vain. */
  given(_tenure: Tenure, owner: UnitOfWork): void {
    this.#note(owner)
    for (const gate of this.#overlapping(owner)) gate.reconsider(owner)
  }

  #note(owner: UnitOfWork): void {
    const others = gatesOf.get(owner)?.filter((gate) => gate !== this && gate.#inUse) ?? []
    gatesOf.set(owner, [...others, this])
  }

  get #inUse(): boolean {
    return this.home.inUse(this.kind, this.protocol.key) === this
  }

  #overlapping(owner: UnitOfWork): readonly KeyedGate[] {
    return gatesOf.get(owner)?.filter((gate) => gate !== this && gate.#inUse && gate.#sharesKeysOf(this)) ?? []
  }

  #sharesKeysOf({ runtime, protocol, kind }: KeyedGate): boolean {
    return this.runtime === runtime && this.protocol.key === protocol.key && overlap(this.kind, kind)
  }
}
