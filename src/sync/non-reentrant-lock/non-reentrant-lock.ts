import { plainLock } from '../lock/lock.js'
import type { LockKind } from '../../core/gate/lock-kind.js'

/** Redisson's RNonReentrantLock: the keys and steps of the plain lock, but its owner cannot acquire it again. */
export const nonReentrantLock: LockKind = { ...plainLock, name: 'nonReentrantLock', reentrant: false }
