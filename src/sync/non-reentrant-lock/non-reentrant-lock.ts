import { plainLock } from '../lock/lock.js'
import type { LockKind } from '../../core/gate/lock-kind.js'

/** Redisson's RNonReentrantLock: the plain lock's keys and steps, but its owner may not take it again. */
export const nonReentrantLock: LockKind = { ...plainLock, name: 'nonReentrantLock', reentrant: false }
