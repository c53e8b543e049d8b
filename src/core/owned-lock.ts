import { NotOwnerError } from '../errors.js'
import { checkLease, checkWait } from '../options.js'
import type { OwnedLock } from '../types.js'
import type { GatedLock } from './gated-lock.js'
import type { TenureHold } from './hold.js'
import type { UnitOfWork } from './owner.js'

/** Redisson's vocabulary over the same lock: the owner plays the thread, and its holds are kept here for it. */
export class ThreadLock implements OwnedLock {
  readonly owner: UnitOfWork
  readonly #lock: GatedLock

  constructor(lock: GatedLock, owner: UnitOfWork) {
    this.#lock = lock
    this.owner = owner
  }

  get name(): string {
    return this.#lock.name
  }

  async lock(lease?: number): Promise<void> {
    await this.#lock.acquire({ ...this.#lease(lease), owner: this.owner })
  }

  async tryLock(wait?: number, lease?: number): Promise<boolean> {
    const limit = wait === undefined || wait === -1 ? 0 : checkWait(wait)
    const hold = await this.#lock.tryAcquire({ wait: limit, ...this.#lease(lease), owner: this.owner })
    return hold !== undefined
  }

  async unlock(): Promise<void> {
    this.#lock.runtime.checkOpen(this.name)
    if ((await this.#held()?.release()) !== true) throw this.#notOwner()
  }

  forceUnlock(): Promise<boolean> {
    return this.#lock.forceRelease()
  }

  isLocked(): Promise<boolean> {
    return this.#lock.isLocked()
  }

  async isHeld(): Promise<boolean> {
    return (await this.holdCount()) > 0
  }

  async holdCount(): Promise<number> {
    const { wire } = this.#held()?.tenure ?? {}
    const { holders } = await this.#lock.serverState()
    return holders.find(({ owner }) => owner === wire)?.count ?? 0
  }

  async remainTimeToLive(): Promise<number> {
    const left = await this.#lock.remaining()
    return left === undefined ? -2 : left === Infinity ? -1 : left
  }

  #lease(lease: number | undefined): { lease?: number } {
    return lease === undefined || lease === -1 ? {} : { lease: checkLease(lease) }
  }

  #notOwner(): NotOwnerError {
    return new NotOwnerError(this.name, `${String(this.owner)} of client ${this.#lock.runtime.options.id}`)
  }

  /** The innermost hold of this owner, through whichever lock object it was taken. */
  #held(): TenureHold | undefined {
    return this.#lock.runtime.gateInUse(this.#lock.kind, this.name)?.tenureOf(this.owner)?.innermost
  }
}
