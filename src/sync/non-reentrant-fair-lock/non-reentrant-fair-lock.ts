import { fairLock } from '../fair-lock/fair-lock.js'
import type { LockKind } from '../../core/gate/lock-kind.js'

/** Redisson's RNonReentrantFairLock: a fair lock that not even its owner can acquire again. */
export const nonReentrantFairLock: LockKind = { ...fairLock, name: 'nonReentrantFairLock', reentrant: false }
