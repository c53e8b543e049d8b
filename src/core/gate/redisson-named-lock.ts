import { NotOwnerError } from '../../errors.js'
import { OPTIONS, checkLease, checkOptions, checkWait } from '../../check-arguments.js'
import type { Lock } from '../../api/lock.js'
import type { OwnedLock, OwnedLockOptions } from '../../api/owned-lock.js'
import type { TenureHold } from '../hold/hold.js'
import type { UnitOfWork } from '../../base/owner.js'
import type { ServerState } from '../protocol/lock-protocol.js'
import type { Runtime } from '../client/runtime.js'
import type { Tenure } from '../hold/tenure.js'

type HoldOf<L extends Lock> = Awaited<ReturnType<L['acquire']>>

/** A lock with Redisson's method names: the owner plays the thread. */
export abstract class RedissonNamedLock<L extends Lock> implements OwnedLock {
  readonly owner: UnitOfWork
  protected readonly target: L

  constructor(target: L, owner: UnitOfWork) {
    this.target = target
    this.owner = owner
  }

  abstract unlock(): Promise<void>
  abstract holdCount(): Promise<number>

  get name(): string {
    return this.target.name
  }

  async lock(lease?: number, options?: OwnedLockOptions): Promise<void> {
    await this.take(lease, options)
  }

  async tryLock(wait?: number, lease?: number, options?: OwnedLockOptions): Promise<boolean> {
    return (await this.tryTake(wait, lease, options)) !== undefined
  }

  protected async take(lease?: number, options?: OwnedLockOptions): Promise<HoldOf<L>> {
    const { signal } = checkOptions(options, OPTIONS.owned)
    return (await this.target.acquire({ ...leaseOf(lease), signal, owner: this.owner })) as HoldOf<L>
  }

  protected async tryTake(wait = -1, lease?: number, options?: OwnedLockOptions): Promise<HoldOf<L> | undefined> {
    const { signal } = checkOptions(options, OPTIONS.owned)
    const limit = wait === -1 ? 0 : checkWait(wait)
    const hold = await this.target.tryAcquire({ wait: limit, ...leaseOf(lease), signal, owner: this.owner })
    return hold as HoldOf<L> | undefined
  }

  forceUnlock(): Promise<boolean> {
    return this.target.forceRelease()
  }

  isLocked(): Promise<boolean> {
    return this.target.isLocked()
  }

  async isHeld(): Promise<boolean> {
    return (await this.holdCount()) > 0
  }

  async remainTimeToLive(): Promise<number> {
    const left = await this.target.remaining()
    return left === undefined ? -2 : left === Infinity ? -1 : left
  }
}

const leaseOf = (lease: number | undefined): { lease?: number } =>
  lease === undefined || lease === -1 ? {} : { lease: checkLease(lease) }

/** A lock whose gate knows the holds of its owners. */
interface HeldAtGate extends Lock<TenureHold> {
  readonly runtime: Runtime
  tenureOf(owner: UnitOfWork): Tenure | undefined
  serverState(briefly?: boolean, owner?: string): Promise<ServerState>
}

export class GatedRedissonNamedLock extends RedissonNamedLock<HeldAtGate> {
  async unlock(): Promise<void> {
    this.target.runtime.checkOpen(this.name)
    if ((await this.#held()?.release()) !== true) throw this.#notOwner()
  }

  async holdCount(): Promise<number> {
    const { wire } = this.#held()?.tenure ?? {}
    const { holders } = await this.target.serverState(true, wire)
    return holders.find(({ owner }) => owner === wire)?.count ?? 0
  }

  #notOwner(): NotOwnerError {
    return new NotOwnerError(this.name, `${String(this.owner)} of client ${this.target.runtime.options.id}`)
  }

  /** The innermost hold of this owner, whichever lock object acquired it. */
  #held(): TenureHold | undefined {
    return this.target.tenureOf(this.owner)?.innermost
  }
}
