import type { Client } from './api/client.js'
import type { Lock } from './api/lock.js'
import { show } from './check-arguments.js'

/** A kind of lock that a name is enough for. `read` and `write` are the sides of `client.readWriteLock`. */
export type NamedLockKind =
  'lock' | 'nonReentrantLock' | 'fairLock' | 'nonReentrantFairLock' | 'fencedLock' | 'spinLock' | 'read' | 'write'

const LOCKS: Readonly<Record<NamedLockKind, (client: Client, name: string) => Lock>> = {
  lock: (client, name) => client.lock(name),
  nonReentrantLock: (client, name) => client.nonReentrantLock(name),
  fairLock: (client, name) => client.fairLock(name),
  nonReentrantFairLock: (client, name) => client.nonReentrantFairLock(name),
  fencedLock: (client, name) => client.fencedLock(name),
  spinLock: (client, name) => client.spinLock(name),
  read: (client, name) => client.readWriteLock(name).read,
  write: (client, name) => client.readWriteLock(name).write,
}

export const checkLockKind = (kind: NamedLockKind): NamedLockKind => {
  if (Object.hasOwn(LOCKS, kind)) return kind
  throw new TypeError(`kind must be one of ${Object.keys(LOCKS).join(', ')}, not ${show(kind)}`)
}

export const lockOfKind = (client: Client, kind: NamedLockKind, name: string): Lock => LOCKS[kind](client, name)
