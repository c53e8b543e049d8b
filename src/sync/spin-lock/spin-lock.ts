import { type LockKind, NOT_HELD } from '../../core/protocol.js'
import { spinLockForceRelease, spinLockRelease } from '../../lua/scripts.gen.js'
import type { SpinBackoff } from '../../types.js'
import { PlainLockProtocol } from '../lock/lock.js'
import { backoffOf } from './backoff.js'

/** Redisson's RedissonSpinLock: the hash of a plain lock, without its messages. */
class SpinLockProtocol extends PlainLockProtocol {
  readonly spins = true

  override async release(owner: string): Promise<number> {
    return (await this.runner.run(spinLockRelease, [this.key], [owner])) === 1 ? 0 : NOT_HELD
  }

  override async forceRelease(): Promise<boolean> {
    return (await this.runner.run(spinLockForceRelease, [this.key], [])) === 1
  }
}

export const spinLock = (backoff?: SpinBackoff): LockKind => ({
  name: 'spinLock',
  family: 'spinLock',
  reentrant: true,
  backoff: backoffOf(backoff),
  protocol: (runner, key) => new SpinLockProtocol(runner, key),
})
