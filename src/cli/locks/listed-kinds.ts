import type { Client } from '../../api/client.js'
import type { ListedHolder, ListedKind, ListedLock } from '../../api/listing.js'
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

/** The option that selects a kind. */
export const KIND = {
  kind: { type: 'string', value: 'KIND', words: KINDS, help: `only this kind: ${KINDS.join(', ')}` },
} as const

export const kindOf = (text: string | undefined): ListedKind | undefined => {
  if (text === undefined) return undefined
  const kind = KINDS.find((one) => one === text)
  if (kind !== undefined) return kind
  throw new UsageError(`--kind must be one of ${KINDS.join(', ')}, not "${plainText(text)}"`)
}

/** The lock that is held so. */
export const lockOf = (client: Client, { kind, name }: ListedLock, held: Held): Lock => LOCKS[kind](client, name, held)
