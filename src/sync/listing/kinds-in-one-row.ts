import type { ListedKind, SharedKind } from '../../api/listing.js'
import type { LockKind } from '../../core/gate/lock-kind.js'
import { keyedLock } from '../keyed-lock/keyed-lock.js'
import { LOCK_KINDS } from '../kinds-by-name.js'

type AnyKind = ListedKind | SharedKind

/** Kinds that look alike on the server are one row. The first that a client claims says how the lock is inspected, and what it is called. */
interface Layout {
  readonly kinds: readonly AnyKind[]
  /** The kind of the client, if it has another name. */
  readonly inspected: (kind: AnyKind) => string
}

const sameName = (kind: AnyKind): string => kind

const LAYOUTS: readonly Layout[] = [
  // Only the first inspects the token, and the others see no more of the lock than it does.
  { kinds: ['fencedLock', 'lock', 'nonReentrantLock', 'spinLock'], inspected: sameName },
  { kinds: ['fairLock', 'nonReentrantFairLock'], inspected: sameName },
  { kinds: ['fairReadWriteLock', 'readWriteLock'], inspected: (kind) => `${kind}.write` },
  { kinds: ['keyedLock'], inspected: sameName },
  { kinds: ['semaphore'], inspected: sameName },
  { kinds: ['permitSemaphore'], inspected: sameName },
  { kinds: ['rateLimiter'], inspected: sameName },
  { kinds: ['countDownLatch'], inspected: sameName },
]

const SHARED: ReadonlySet<AnyKind> = new Set(['semaphore', 'permitSemaphore', 'rateLimiter', 'countDownLatch'])

export const isShared = (kind: AnyKind): kind is SharedKind => SHARED.has(kind)

/** How a kind of the client is shown, and with which others it shares a row. Undefined: it cannot be listed. */
export interface Listable {
  readonly kind: AnyKind
  /** The same for all kinds of one layout. */
  readonly layout: number
  /** The smallest of a layout is the kind of the row. */
  readonly rank: number
}

const SIDES = ['', '.read', '.write'] as const

const LISTABLE = new Map<string, Listable>(
  LAYOUTS.flatMap(({ kinds }, layout) =>
    kinds.flatMap((kind, rank) => SIDES.map((side) => [kind + side, { kind, layout, rank }] as const)),
  ),
)

export const listable = (kind: string): Listable | undefined => LISTABLE.get(kind)

/** The kind of a lock; undefined: it is none that can be listed. */
export const lockKindOf = (kind: string): ListedKind | undefined => {
  const shown = listable(kind)?.kind
  return shown === undefined || isShared(shown) ? undefined : shown
}

/** What inspects a lock of this kind. `keys`: of a group, those that are known. */
export const inspectorOf = (
  { kind, layout }: Listable,
  keys: readonly string[],
  encode: (key: string) => string | Uint8Array,
): LockKind | undefined => {
  if (kind === 'keyedLock') return keys.length === 0 ? undefined : keyedLock(keys, encode)
  const name = LAYOUTS[layout]?.inspected(kind)
  return LOCK_KINDS.find((each) => each.name === name)
}
