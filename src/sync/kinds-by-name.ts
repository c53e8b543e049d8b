import type { LockKind } from '../core/gate/lock-kind.js'
import { fairLock } from './fair-lock/fair-lock.js'
import { fencedLock } from './fenced-lock/fenced-lock.js'
import { plainLock } from './lock/lock.js'
import { nonReentrantFairLock } from './non-reentrant-fair-lock/non-reentrant-fair-lock.js'
import { nonReentrantLock } from './non-reentrant-lock/non-reentrant-lock.js'
import { fairReadLock, fairWriteLock, readLock, writeLock } from './read-write-lock/read-write-lock.js'
import { spinLock } from './spin-lock/spin-lock.js'

/** The kinds of locks that one name is enough for: a ticket or an entry of an index says which. */
export const LOCK_KINDS: readonly LockKind[] = [
  ...[plainLock, nonReentrantLock, fairLock, nonReentrantFairLock, fencedLock, spinLock()],
  ...[readLock, writeLock, fairReadLock, fairWriteLock],
]
