import type { LockKind } from '../../core/protocol.js'
import { fencingCounter } from '../../keys.js'
import { fencedLockAcquire, fencedLockInspect, fencedLockPass, fencedLockSetLevel } from '../../lua/scripts.gen.js'
import { PlainLockProtocol, holdersOf, plainLock } from '../lock/lock.js'

/** Redisson's RFencedLock: a plain lock, and a counter without expiry that every hold and every further level raises. */
class FencedLockProtocol extends PlainLockProtocol {
  /** By owner, from the reply that brought it to whoever asked; few at a time. */
  readonly #tokens = new Map<string, bigint>()

  get #keys(): [lock: string, counter: string] {
    return [this.key, fencingCounter(this.key)]
  }

  takeToken(owner: string): bigint | undefined {
    const token = this.#tokens.get(owner)
    this.#tokens.delete(owner)
    return token
  }

  override async acquire(owner: string, lease: number): Promise<number | undefined> {
    const reply = await this.runner.run(fencedLockAcquire, this.#keys, [owner, lease])
    if (typeof reply === 'number') return reply
    this.#tokens.set(owner, BigInt(reply))
    return undefined
  }

  override async setLevel(owner: string, level: number, lease: number): Promise<number | undefined> {
    const reply = await this.runner.run(fencedLockSetLevel, this.#keys, [owner, level, lease])
    if (reply === null) return undefined
    const [left, token] = reply
    if (token !== null) this.#tokens.set(owner, BigInt(token))
    return left
  }

  override release(owner: string): Promise<number | undefined> {
    // Of a grant that came too late for whoever asked.
    this.#tokens.delete(owner)
    return super.release(owner)
  }

  override async pass(from: string, to: string, lease: number): Promise<boolean> {
    const token = await this.runner.run(fencedLockPass, this.#keys, [from, to, lease])
    if (token !== null) this.#tokens.set(to, BigInt(token))
    return token !== null
  }

  override async inspect() {
    const [ttl, fields, token] = await this.runner.run(fencedLockInspect, this.#keys, [])
    return { ttl, holders: holdersOf(fields), ...(token !== null && { token: BigInt(token) }) }
  }
}

/** A family of its own, although its hash is a plain lock's: a plain lock's gate would give no tokens. */
export const fencedLock: LockKind = {
  name: 'fencedLock',
  family: 'fencedLock',
  keysOf: plainLock.family,
  reentrant: true,
  protocol: (runner, key) => new FencedLockProtocol(runner, key),
}
