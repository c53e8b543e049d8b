import { type Attempt, isHeld, NOT_HELD, type ServerState } from '../../core/protocol/lock-protocol.js'
import { spinLockAcquire, spinLockForceRelease, spinLockInspect, spinLockRelease } from '../../lua/scripts.gen.js'
import type { SpinBackoff } from '../../api/lock.js'
import { HashProtocol } from '../lock/lock.js'
import { backoffOf } from './backoff.js'
import type { LockKind } from '../../core/gate/lock-kind.js'
import { holdersOf } from '../lock/holders.js'

/** Redisson's RedissonSpinLock: the hash of a plain lock, without messages. */
class SpinLockProtocol extends HashProtocol {
  acquire(owner: string, lease: number): Promise<Attempt> {
    return this.runner.take(spinLockAcquire, [this.key], [owner, lease], isHeld)
  }

  async release(owner: string): Promise<number> {
    return (await this.runner.run(spinLockRelease, [this.key], [owner])) === 1 ? 0 : NOT_HELD
  }

  async forceRelease(): Promise<boolean> {
    return (await this.runner.run(spinLockForceRelease, [this.key], [])) === 1
  }

  async inspect(): Promise<ServerState> {
    const [ttl, fields] = await this.runner.run(spinLockInspect, [this.key], [])
    return { ttl, holders: holdersOf(fields) }
  }
}

export const spinLock = (backoff?: SpinBackoff): LockKind => ({
  name: 'spinLock',
  family: 'spinLock',
  reentrant: true,
  backoff: backoffOf(backoff),
  protocol: (runner, key) => new SpinLockProtocol(runner, key),
})
