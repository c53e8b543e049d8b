import { GatedLock } from '../../core/gated-lock.js'
import { ThreadLock } from '../../core/owned-lock.js'
import type { UnitOfWork } from '../../core/owner.js'
import type { Attempt, LockKind } from '../../core/protocol.js'
import { serverError } from '../../errors.js'
import { fencingCounter } from '../../keys.js'
import {
  fencedLockAcquire,
  fencedLockForceRelease,
  fencedLockInspect,
  fencedLockPass,
  fencedLockRelease,
  fencedLockSetLevel,
} from '../../lua/scripts.gen.js'
import { checkOwner } from '../../options.js'
import type { OwnedFencedLock, OwnedLockOptions, Owner } from '../../types.js'
import { HashProtocol, holdersOf } from '../lock/lock.js'

/** Another program may have written anything under the counter's key. */
const tokenOf = (text: string): bigint => {
  if (/^-?\d{1,19}$/.test(text)) return BigInt(text)
  throw serverError('WRONGKIND a fencing counter that is no number')
}

/** Redisson's RFencedLock: a plain lock, and a counter without expiry that every hold and every further level raises. */
class FencedLockProtocol extends HashProtocol {
  /** By owner, from the reply that brought it to whoever asked; few at a time. */
  readonly #tokens = new Map<string, bigint>()
  /** The newest that any reply brought: what comes next is above it, also when the counter was deleted meanwhile. */
  #newest = 0n

  get #keys(): [lock: string, counter: string] {
    return [this.key, fencingCounter(this.key)]
  }

  get #known(): string {
    return String(this.#newest)
  }

  #brought(owner: string, text: string): void {
    const token = tokenOf(text)
    this.#tokens.set(owner, token)
    if (token > this.#newest) this.#newest = token
  }

  takeToken(owner: string): bigint | undefined {
    const token = this.#tokens.get(owner)
    this.#tokens.delete(owner)
    return token
  }

  async acquire(owner: string, lease: number): Promise<Attempt> {
    const args = [owner, lease, this.#known] as const
    const reply = await this.runner.take(fencedLockAcquire, this.#keys, args, (token) => typeof token === 'string')
    if (typeof reply === 'number') return reply
    this.#brought(owner, reply)
    return null
  }

  override async setLevel(owner: string, level: number, lease: number): Promise<number | undefined> {
    const reply = await this.runner.run(fencedLockSetLevel, this.#keys, [owner, level, lease, this.#known])
    if (reply === null) return undefined
    const [left, token] = reply
    if (token !== null) this.#brought(owner, token)
    return left
  }

  release(owner: string): Promise<number> {
    // Of a grant that came too late for whoever asked.
    this.#tokens.delete(owner)
    const keys = [...this.#keys, this.channel] as const
    return this.runner.run(fencedLockRelease, keys, [owner, this.#known, this.runner.publishCommand])
  }

  override async pass(from: string, to: string, lease: number): Promise<boolean> {
    const args = [from, to, lease, this.#known] as const
    const token = await this.runner.take(fencedLockPass, this.#keys, args, (reply) => reply !== null)
    if (token !== null) this.#brought(to, token)
    return token !== null
  }

  async forceRelease(): Promise<boolean> {
    return (await this.runner.run(fencedLockForceRelease, [this.key], [this.channel, this.runner.publishCommand])) === 1
  }

  async inspect() {
    const [ttl, fields, token] = await this.runner.run(fencedLockInspect, this.#keys, [])
    return { ttl, holders: holdersOf(fields), ...(token !== null && { token: tokenOf(token) }) }
  }
}

/** A fenced lock in Redisson's vocabulary. */
class FencedThreadLock extends ThreadLock implements OwnedFencedLock {
  async lockAndGetToken(lease?: number, options?: OwnedLockOptions): Promise<bigint> {
    return (await this.take(lease, options)).token as bigint
  }

  async tryLockAndGetToken(wait?: number, lease?: number, options?: OwnedLockOptions): Promise<bigint | undefined> {
    return (await this.tryTake(wait, lease, options))?.token
  }

  async token(): Promise<bigint | undefined> {
    return (await this.target.serverState()).token
  }
}

/** The public fenced lock. */
export class NumberedLock extends GatedLock {
  override for(owner: Owner): FencedThreadLock {
    checkOwner(owner)
    return new FencedThreadLock(this, owner as UnitOfWork)
  }
}

/** A family of its own, although its hash is a plain lock's: a plain lock's gate would give no tokens. */
export const fencedLock: LockKind = {
  name: 'fencedLock',
  family: 'fencedLock',
  reentrant: true,
  protocol: (runner, key) => new FencedLockProtocol(runner, key),
}
