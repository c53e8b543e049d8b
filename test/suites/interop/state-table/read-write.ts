import { type Program, type Same, sameStep, type Seen, stepsOf } from '../support/programs.js'

/** What ours tell one another of a release that lets in the next one, where Redisson tells all: the same, unless that was told, too. */
const asReleases = ({ step, messages }: Seen): readonly string[] => {
  const told = messages.filter((message) => !message.startsWith('holdfast_rwlock_grant:'))
  if (told.length > 0 || told.length === messages.length) return told
  return [`redisson_rwlock:{N} ${step.includes(' write') ? '1' : '0'}`]
}

/**
 * Both sides name the same keys and tell the same messages, but for these: Redisson leaves a
 * read's own keys to their expiry when the lock is forced open; it tells others of a release that did nothing, and does not
 * tell them that a write goes on as a read.
 */
const inCommon = (seen: Seen): Seen => {
  const fields = seen.keys.find(({ key }) => key === 'N')?.value as [string, string][] | undefined
  const readers = fields?.map(([owner]) => owner) ?? []
  const isCommon = (key: string): boolean =>
    !key.includes(':rwlock_timeout:') || readers.includes(key.split(':').at(-3) ?? '')
  // In the order of their labels: their owners are others each time.
  const keys = seen.keys
    .filter(({ key }) => isCommon(key))
    .map((entry) => (entry.type === 'hash' ? { ...entry, value: (entry.value as [string, string][]).sort() } : entry))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
  const goesOn = fields !== undefined && seen.step.endsWith('writeUnlock')
  const did = seen.result !== false && seen.result !== 'not owner' && !goesOn
  return { ...seen, keys, messages: did ? asReleases(seen) : [] }
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
    'X readLock 4000; Y writeForceUnlock; Y readForceUnlock; X readUnlock; X writeLock; Y readForceUnlock; ' +
    'Y writeForceUnlock; X writeUnlock; Y readForceUnlock; sleep 4500',
  'run out':
    'X readLock 2000; sleep 2300; X readUnlock; Y writeLock 2000; sleep 2300; Y writeUnlock; X readLock; X readUnlock',
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

type Side = 'read' | 'write'

/** Whether a step is done, by who is in; a write that is taken again is left out, since its leases are added there. */
class Inside {
  #writer: string | undefined
  readonly #reads = new Map<string, number>()

  takes(who: string, step: string): boolean {
    const side: Side = step.startsWith('read') ? 'read' : 'write'
    const reads = this.#reads.get(who) ?? 0
    const free = this.#writer === undefined || this.#writer === who
    if (step === 'writeTryLock') {
      if (this.#writer === who) return false
      if (free && [...this.#reads.values()].every((count) => count === 0)) this.#writer = who
    } else if (step === 'readTryLock' && free) this.#reads.set(who, reads + 1)
    else if (step === 'readUnlock') this.#reads.set(who, Math.max(0, reads - 1))
    else if (step === `${side}Unlock` && this.#writer === who) this.#writer = undefined
    return true
  }

  /** What frees all that is still taken. */
  left(): string[] {
    const reads = [...this.#reads].flatMap(([who, count]) => Array.from({ length: count }, () => `${who} readUnlock`))
    return this.#writer === undefined ? reads : [...reads, `${this.#writer} writeUnlock`]
  }
}

/** Steps of the draw that the table above does not leave out, and everything given back. */
export const readWriteDrawn =
  (draw: (seed: number) => Program) =>
  (seed: number): Program => {
    const inside = new Inside()
    const steps = stepsOf(draw(seed)).filter((step) => {
      const [who = '', what = ''] = step.split(' ')
      return inside.takes(who, what)
    })
    return [...steps, ...inside.left()].join('; ')
  }
