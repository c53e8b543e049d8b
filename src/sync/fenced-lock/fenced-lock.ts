import { GatedLock } from '../../core/gate/gated-lock.js'
import { GatedRedissonNamedLock } from '../../core/gate/redisson-named-lock.js'
import type { UnitOfWork } from '../../base/owner.js'
import type { Attempt, RenewScript, ServerState } from '../../core/protocol/lock-protocol.js'
import { fencingCounter } from '../../keys.js'
import {
  fencedLockAcquire,
  fencedLockPass,
  fencedLockRenew,
  fencedLockSetLevel,
  lockRenew,
} from '../../lua/scripts.gen.js'
import { checkOwner } from '../../check-arguments.js'
import type { Owner } from '../../api/hold.js'
import type { OwnedFencedLock, OwnedLockOptions } from '../../api/owned-lock.js'
import { HashLineProtocol } from '../lock/lock.js'
import type { LockKind } from '../../core/gate/lock-kind.js'

/** Redisson's RFencedLock: a plain lock with a counter that never expires. Each hold and each further level raises it. */
class FencedLockProtocol extends HashLineProtocol {
  /** By owner: tokens that a reply brought, until the caller takes them. There are only a few at a time. */
  readonly #tokens = new Map<string, bigint>()
  protected override readonly counter = [fencingCounter(this.key)] as const
  /** The next token is above this one, even if the counter was deleted meanwhile. */
  protected override newest = 0n

  override get renewal(): RenewScript {
    return fencedLockRenew
  }

  get #keys(): [lock: string, counter: string] {
    return [this.key, ...this.counter]
  }

  get #known(): string {
    return String(this.newest)
  }

  renewalKeys(): readonly string[] {
    return this.#keys
  }

  renewalWords(owner: string): string {
    return `${this.#known} ${owner}`
  }

  renewAlone(owner: string, lease: number): Promise<readonly number[]> {
    return this.runner.run(lockRenew, [this.key], [lease, owner])
  }

  protected override brought(owner: string, text: string | null): void {
    if (text === null) return
    const token = BigInt(text)
    this.#tokens.set(owner, token)
    if (token > this.newest) this.newest = token
  }

  takeToken(owner: string): bigint | undefined {
    const token = this.#tokens.get(owner)
    this.#tokens.delete(owner)
    return token
  }

  protected override async takeFree(owner: string, lease: number): Promise<Attempt> {
    const [lock, queue, , turn] = this.keys
    const keys = [lock, queue, turn, ...this.counter] as const
    const args = [owner, lease, this.#known] as const
    const reply = await this.runner.take(fencedLockAcquire, keys, args, (token) => typeof token === 'string')
    if (typeof reply === 'number') return reply
    this.brought(owner, reply)
    return 'held'
  }

  override async setLevel(owner: string, level: number, lease: number): Promise<number | undefined> {
    const reply = await this.runner.run(fencedLockSetLevel, this.#keys, [owner, level, lease, this.#known])
    if (reply === null) return undefined
    const [left, token] = reply
    if (token !== null) this.brought(owner, token)
    return left
  }

  protected override giveBack(owner: string, served: readonly string[], visits: number): Promise<number> {
    // The token of a grant that came too late for its caller.
    this.#tokens.delete(owner)
    return super.giveBack(owner, served, visits)
  }

  override async pass(from: string, to: string, lease: number): Promise<boolean> {
    const args = [from, to, lease, this.#known] as const
    const token = await this.runner.take(fencedLockPass, this.#keys, args, (reply) => reply !== null)
    // The token of a late answer about an older hold.
    this.#tokens.delete(from)
    if (token !== null) this.brought(to, token)
    return token !== null
  }

  protected override counted(token: string | null): Pick<ServerState, 'token'> {
    return token === null ? {} : { token: BigInt(token) }
  }
}

/** A fenced lock with Redisson's method names. */
class FencedRedissonNamedLock extends GatedRedissonNamedLock implements OwnedFencedLock {
  async lockAndGetToken(lease?: number, options?: OwnedLockOptions): Promise<bigint> {
    return (await this.take(lease, options)).token as bigint
  }

  async tryLockAndGetToken(wait?: number, lease?: number, options?: OwnedLockOptions): Promise<bigint | undefined> {
    return (await this.tryTake(wait, lease, options))?.token
  }

  async token(): Promise<bigint | undefined> {
    return (await this.target.serverState(true)).token
  }
}

/** The public fenced lock. */
export class NumberedLock extends GatedLock {
  override for(owner: Owner): FencedRedissonNamedLock {
    checkOwner(owner)
    return new FencedRedissonNamedLock(this, owner as UnitOfWork)
  }
}

/** It has the hash of a plain lock, but a family of its own: the gate of a plain lock would return no tokens. */
export const fencedLock: LockKind = {
  name: 'fencedLock',
  family: 'fencedLock',
  reentrant: true,
  protocol: (runner, key) => new FencedLockProtocol(runner, key),
}
