import { fairLock } from '../fair-lock/fair-lock.js'
import type { LockKind } from '../../core/gate/lock-kind.js'

/** Redisson's RNonReentrantFairLock: a fair lock that nobody, its owner included, can take again. */
export const nonReentrantFairLock: LockKind = { ...fairLock, name: 'nonReentrantFairLock', reentrant: false }
