import type { Client, Lock } from 'holdfast'
import { connect } from 'holdfast'
import { type Actor, type BothSides, type Compared, locks, ownerActor } from './actors.js'
import { readWriteListeners } from './names.js'
import { type Program, type Same, type Seen, sameStep } from './programs.js'

export const READ: BothSides = locks({
  kind: 'read',
  ours: (client: Client, name: string): Lock => client.readWriteLock(name).read,
  listeners: readWriteListeners,
})

export const WRITE: BothSides = locks({
  kind: 'write',
  ours: (client: Client, name: string): Lock => client.readWriteLock(name).write,
  listeners: readWriteListeners,
})

/** `readTryLock`: what is done to which side. */
const bySide = (read: Actor, write: Actor): Actor => ({
  ...read,
  run(name, operation, args) {
    const side = operation.startsWith('read') ? read : write
    const rest = operation.replace(/^read|^write/, '')
    return side.run(name, rest.charAt(0).toLowerCase() + rest.slice(1), args)
  },
})

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)

/** Both sides of one lock, by one thread. */
export const READ_WRITE: Compared = {
  kind: 'readWrite',
  operations: ['read', 'write'].flatMap((side) => READ.operations.map((operation) => side + capital(operation))),
  listeners: readWriteListeners,
  frees: /unlock$/i,
  java: (redisson) => bySide(READ.java(redisson), WRITE.java(redisson)),
  async node(url, options) {
    const client = await connect({ ...options, url, presence: false })
    const owner = client.owner()
    return bySide(ownerActor(client, owner, READ.ours), ownerActor(client, owner, WRITE.ours))
  },
}

/**
 * Both sides name the same keys and tell the same messages, but for these: Redisson does not know of turns; it leaves a
 * read's own keys to their expiry when the lock is forced open; it tells others of a release that did nothing, and does not
 * tell them that a write goes on as a read.
 */
const inCommon = (seen: Seen): Seen => {
  const fields = seen.keys.find(({ key }) => key === 'N')?.value as [string, string][] | undefined
  const readers = fields?.map(([owner]) => owner) ?? []
  const isCommon = (key: string): boolean =>
    key.includes(':rwlock_timeout:') ? readers.includes(key.split(':').at(-3) ?? '') : !key.includes('_rwlock_turn:')
  // In the order of their labels: their owners are others each time.
  const keys = seen.keys
    .filter(({ key }) => isCommon(key))
    .map((entry) => (entry.type === 'hash' ? { ...entry, value: (entry.value as [string, string][]).sort() } : entry))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
  const goesOn = fields !== undefined && seen.step.endsWith('writeUnlock')
  const did = seen.result !== false && seen.result !== 'not owner' && !goesOn
  return { ...seen, keys, messages: did ? seen.messages : [] }
}

export const sameReadWrite: Same = (expected, actual, before) => sameStep(inCommon(expected), inCommon(actual), before)

/** Redisson adds the leases of a write that is taken again, and keeps a lease for each level of a read; we the longest. */
export const READ_WRITE_PROGRAMS: Readonly<Record<string, Program>> = {
  'read by two': 'X readLock; Y readLock; Y writeTryLock; X writeTryLock; X readUnlock; Y writeTryLock; Y readUnlock',
  'read with leases':
    'X readLock 60000; Y readLock 10000; Y readUnlock; X readUnlock; X readLock 10000; Y readLock 60000; Y readUnlock; ' +
    'Y readLock 60000; X readUnlock; Y readUnlock',
  'read again by its owner':
    'X readLock; X readLock; X readHoldCount; Y readTryLock; X readUnlock; X readHoldCount; Y readUnlock; X readUnlock',
  written: 'X writeLock; Y writeTryLock; Y readTryLock; X writeUnlock; Y writeLock 10000; X readTryLock; Y writeUnlock',
  'read under its own write':
    'X writeLock; X readTryLock; Y readTryLock; X readUnlock; X readLock; X readLock; X readUnlock; X readUnlock; ' +
    'Y readTryLock; X writeUnlock; Y readTryLock; Y readUnlock',
  'written, and goes on as a read':
    'X writeLock; X readLock; X writeUnlock; Y readTryLock; X writeTryLock; Y readUnlock; X readUnlock; X writeTryLock; ' +
    'X writeUnlock',
  'given back by who does not hold it':
    'Y readUnlock; Y writeUnlock; X readLock; Y readUnlock; X writeUnlock; X readUnlock; X readUnlock; X writeLock; ' +
    'Y writeUnlock; X readUnlock; X writeUnlock',
  'taken away':
    'X readLock 900; Y writeForceUnlock; Y readForceUnlock; X readUnlock; X writeLock; Y readForceUnlock; ' +
    'Y writeForceUnlock; X writeUnlock; Y readForceUnlock; sleep 1000',
  'run out':
    'X readLock 400; sleep 600; X readUnlock; Y writeLock 400; sleep 600; Y writeUnlock; X readLock; X readUnlock',
  'waited for by a writer': 'X readLock; Y writeLock &; X readUnlock; Y wait; Y writeUnlock',
  'waited for by a reader': 'X writeLock; Y readLock &; X writeUnlock; Y wait; Y readUnlock',
  'waited for in vain':
    'X writeLock; Y readTryLock 300 10000; X writeUnlock; X readLock; Y writeTryLock 300 10000; X readUnlock; ' +
    'Y writeTryLock; Y writeUnlock',
  'asked about':
    'X readIsLocked; X writeIsLocked; X readLock 60000; Y readIsLocked; Y writeIsLocked; X readIsHeld; Y readIsHeld; ' +
    'X writeIsHeld; Y readRemainTimeToLive; X readUnlock; X writeLock 60000; Y writeIsLocked; Y readIsLocked; ' +
    'X writeIsHeld; X writeHoldCount; X readHoldCount; Y writeRemainTimeToLive; X readLock 60000; Y readIsLocked; ' +
    'X readHoldCount; X readUnlock; X writeUnlock; Y writeIsLocked; Y readRemainTimeToLive',
}
