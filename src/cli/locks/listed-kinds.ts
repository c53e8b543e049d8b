import type { Client } from '../../api/client.js'
import type { ListedHolder, ListedKind, ListedLock, SharedKind } from '../../api/listing.js'
import type { Lock } from '../../api/lock.js'
import { plainText } from '../../plain-text.js'
import { UsageError } from '../usage-error.js'

/** What a hold says about the lock that it is of: which side, or which keys of a group. */
export type Held = Pick<ListedHolder, 'mode' | 'keys'>

const side = ({ mode }: Held): 'read' | 'write' => (mode === 'read' ? 'read' : 'write')

const LOCKS: Readonly<Record<ListedKind, (client: Client, name: string, held: Held) => Lock>> = {
  lock: (client, name) => client.lock(name),
  nonReentrantLock: (client, name) => client.nonReentrantLock(name),
  spinLock: (client, name) => client.spinLock(name),
  fencedLock: (client, name) => client.fencedLock(name),
  fairLock: (client, name) => client.fairLock(name),
  nonReentrantFairLock: (client, name) => client.nonReentrantFairLock(name),
  readWriteLock: (client, name, held) => client.readWriteLock(name)[side(held)],
  fairReadWriteLock: (client, name, held) => client.readWriteLock(name, { fair: true })[side(held)],
  keyedLock: (client, name, { keys = [] }) => client.keyedLock(name, keys),
}

/** The kinds of a row of the list. */
export const KINDS = Object.keys(LOCKS) as readonly ListedKind[]

const SHARED: Readonly<Record<SharedKind, true>> = {
  semaphore: true,
  permitSemaphore: true,
  rateLimiter: true,
  countDownLatch: true,
}

/** Those of `ls` and `show`: also what nobody owns. */
const ALL_KINDS = [...KINDS, ...(Object.keys(SHARED) as SharedKind[])] as const

export const isShared = (kind: ListedLock['kind']): kind is SharedKind => kind in SHARED

/** The option that selects a kind, of anything that is listed. */
export const ANY_KIND = {
  kind: { type: 'string', value: 'KIND', words: ALL_KINDS, help: `only this kind: ${ALL_KINDS.join(', ')}` },
} as const

export const anyKindOf = (text: string | undefined): ListedLock['kind'] | undefined => oneOf(ALL_KINDS, text)

/** The option that selects a kind of lock. */
export const KIND = {
  kind: { type: 'string', value: 'KIND', words: KINDS, help: `only this kind: ${KINDS.join(', ')}` },
} as const

export const kindOf = (text: string | undefined): ListedKind | undefined => oneOf(KINDS, text)

const oneOf = <K extends string>(kinds: readonly K[], text: string | undefined): K | undefined => {
  if (text === undefined) return undefined
  const kind = kinds.find((one) => one === text)
  if (kind !== undefined) return kind
  throw new UsageError(`--kind must be one of ${kinds.join(', ')}, not "${plainText(text)}"`)
}

/** A write by force ends the reads of its owner as well. */
export const heldBy = (holders: readonly ListedHolder[]): Held => ({
  mode: holders.find(({ mode }) => mode === 'write')?.mode ?? holders[0]?.mode ?? 'exclusive',
  keys: [...new Set(holders.flatMap(({ keys = [] }) => keys))],
})

/** The lock that is held so. */
export const lockOf = (client: Client, { kind, name }: ListedLock, held: Held): Lock => {
  if (isShared(kind)) throw new TypeError(`nobody holds a ${kind}`)
  return LOCKS[kind](client, name, held)
}
