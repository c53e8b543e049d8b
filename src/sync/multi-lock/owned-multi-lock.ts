import type { UnitOfWork } from '../../core/owner.js'
import { NotOwnerError } from '../../errors.js'
import { checkLease, checkWait } from '../../options.js'
import type { OwnedLock } from '../../types.js'
import type { MultiLock } from './multi-lock.js'
import { outcomes } from './outcomes.js'

/** Redisson's vocabulary over several locks. Nothing is kept here: each member knows what its owner holds. */
export class OwnedMultiLock implements OwnedLock {
  readonly owner: UnitOfWork
  readonly #lock: MultiLock

  constructor(lock: MultiLock, owner: UnitOfWork) {
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
    // Asked before, so that nothing changes where only some are held.
    if (!(await this.isHeld())) throw new NotOwnerError(this.name, String(this.owner))
    await this.#each((member) => member.unlock())
  }

  forceUnlock(): Promise<boolean> {
    return this.#lock.forceRelease()
  }

  isLocked(): Promise<boolean> {
    return this.#lock.isLocked()
  }

  /** Whether this owner holds every member. */
  async isHeld(): Promise<boolean> {
    return (await this.holdCount()) > 0
  }

  /** How often it holds all of them. */
  async holdCount(): Promise<number> {
    return Math.min(...(await this.#each((member) => member.holdCount())))
  }

  async remainTimeToLive(): Promise<number> {
    const left = await this.#lock.remaining()
    return left === undefined ? -2 : left === Infinity ? -1 : left
  }

  #each<T>(step: (member: OwnedLock) => Promise<T>): Promise<T[]> {
    const members = this.#lock.members.map((member) => member.for(this.owner))
    return outcomes(this.name, members, step)
  }

  #lease(lease: number | undefined): { lease?: number } {
    return lease === undefined || lease === -1 ? {} : { lease: checkLease(lease) }
  }
}
