import type { HolderState, WaiterState } from './lock.js'

/** The kinds that `client.list` shows. Both sides of a read-write lock are one row, and so are all keys of a group. */
export type ListedKind =
  | 'lock'
  | 'nonReentrantLock'
  | 'spinLock'
  | 'fencedLock'
  | 'fairLock'
  | 'nonReentrantFairLock'
  | 'readWriteLock'
  | 'fairReadWriteLock'
  | 'keyedLock'
  | 'semaphore'
  | 'permitSemaphore'
  | 'countDownLatch'
  | 'rateLimiter'

/** Options of `client.list`. */
export interface ListOptions {
  /**
   * Only names that match: `*` is any text, `?` one character, `[a-c]` one of these, and a `\` takes away the meaning of the next character, as in `KEYS`. Default:
   * all.
   */
  readonly pattern?: string | undefined
  /** Only this kind. Default: all. */
  readonly kind?: ListedKind | undefined
  /**
   * Walks through all keys of the server, in small steps, on every master of a cluster. It also finds locks of Redisson, of clients without `presence`, and those
   * that nobody has held or waited for longer than a second. Default: only what holdfast clients have published.
   */
  readonly scan?: boolean | undefined
  /** Called after each step of a scan. */
  readonly onProgress?: ((progress: ScanProgress) => void) | undefined
  /** Ends the loop: it throws the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

/** How far a scan is. */
export interface ScanProgress {
  /** How many keys were looked at. A key may count twice. */
  readonly looked: number
  /** How many keys there were on all masters when the scan began. */
  readonly keys: number
}

/** When a hold or a wait began. */
export interface Aged {
  /**
   * Since when, ms since the epoch, as its client estimates the server's time. Only known of holdfast clients, and once it has lasted for a second. A stranger who can
   * write to the server can change it.
   */
  readonly since?: number | undefined
}

/** A lock holder, with the time since when it holds the lock. */
export type ListedHolder = HolderState & Aged

/** A waiter in the line, with the time since when it waits. Of most kinds, a process stands in the line once, for the first of its waiting calls. */
export type ListedWaiter = WaiterState & Aged

/** A lock that is held or waited for, as the server saw it when it was asked. All texts come from other processes: escape them before you show them. */
export interface ListedLock {
  /**
   * The name, if its client published one and this client's `mapName` makes the same key of it; otherwise the key. Locks that are part of another object, such as a
   * slot, are shown by their keys.
   */
  readonly name: string
  /** The key on the server. */
  readonly key: string
  /** Several kinds look alike on the server. In that case it is what the client says that holds the lock or waits for it. */
  readonly kind: ListedKind
  /** At most 10,000. */
  readonly holders: readonly ListedHolder[]
  /** The line, in order, at most 10,000 places. Calls that wait in their process, behind the place of that process, are not in it. */
  readonly waiting: readonly ListedWaiter[]
  /** Set if there may be more holders or waiters, or keys of a group. */
  readonly more?: true | undefined
  /** How many ms are left until the lock expires; `undefined` if it is free, `Infinity` if somebody removed the expiry. */
  readonly remaining?: number | undefined
  /** Fenced locks only: the newest token, no matter who got it. */
  readonly token?: bigint | undefined
}

/** What `client.watch` watches: one name, or all names that match a pattern (see `ListOptions.pattern`). */
export type Watched = string | { readonly pattern: string }

/** Options of `client.watch`. */
export interface WatchOptions {
  /** Only this kind. Needed if several kinds share a name. Default: all. */
  readonly kind?: ListedKind | undefined
  /** ms between two looks at a lock. Default 250; with a pattern 1000. At least 50. With a pattern, 1,000 locks are looked at in a second at most. */
  readonly interval?: number | undefined
  /** Ends the loop: it throws the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

/**
 * What happened to a lock. `granted`, `waiting`: seen for the first time. `gave up`: a waiter left the line and does not hold the lock. `released`: by its owner.
 * `expired`: its lease ended. `forced`: `forceRelease`. `deleted`: another program deleted the key.
 */
export type LockHappening = 'granted' | 'waiting' | 'gave up' | 'released' | 'expired' | 'deleted' | 'forced'

/** One thing that happened to a lock. All texts come from other processes: escape them before you show them. */
export interface LockEvent {
  readonly type: LockHappening
  readonly name: string
  readonly key: string
  readonly kind: ListedKind
  /** The owner as the server knows it. If you adopt tickets from others, it is as secret as a ticket (SECURITY.md). */
  readonly owner: string
  /** The id of the owner's client. */
  readonly client: string
  /** The label of that client, if it has one. */
  readonly label?: string | undefined
  /** `granted`, and the end of a hold: how the lock was held. */
  readonly mode?: 'exclusive' | 'read' | 'write' | undefined
  /** Server time, ms since the epoch, when this was seen. */
  readonly at: number
  /** It happened at most this many ms before `at`. */
  readonly within: number
  /**
   * `false`: the owner is certain, the cause is not. A hold that ended may have been released, or its key deleted; a waiter that left may have held the lock in between.
   */
  readonly certain: boolean
  /** `forced` only: the client that released it by force, if it is known. */
  readonly by?: { readonly client: string; readonly label?: string | undefined } | undefined
}

/** One call in a cycle. It waits for a lock that the next one in the cycle holds; the last waits for the first. */
export interface CycleWait {
  /** The lock that it waits for. */
  readonly name: string
  readonly kind: ListedKind
  /** The client that waits. */
  readonly client: string
  /** The label of that client, if it has one. */
  readonly label?: string | undefined
  /** Since when it waits, ms since the epoch, as its client estimates the server's time. */
  readonly since: number
  /** What it holds meanwhile, of the locks in this cycle. */
  readonly holds: readonly { readonly name: string; readonly kind: ListedKind }[]
}

/** Calls that wait for one another. Proven: all of these waits and holds existed at one moment. */
export interface Deadlock {
  /** In order: each call waits for the next. */
  readonly cycle: readonly CycleWait[]
  /** The index in `cycle` of the call that is rejected; `undefined` if no client in the cycle breaks deadlocks. */
  readonly victim?: number | undefined
}

/**
 * What a client does about deadlocks between processes. `report` (default): a `deadlock` event and a warning. `break`: also rejects one of the calls, the youngest, with a
 * `DeadlockError`; a hold is never taken away. `off`: nothing. Cycles are known only through owners that the client can connect: holds of one `owner`, and `using` inside
 * `using`.
 */
export type DeadlockPolicy = 'report' | 'break' | 'off'

/** The part of the client that operators use. `Client` extends it. */
export interface Listing {
  /**
   * The locks that are held or waited for, each checked with the server when it is yielded. Without `scan` it finds those of holdfast clients that were held or waited for
   * longer than a second, at most two seconds late. Locks that this client may not read are left out.
   *
   * @example
   *     for await (const { name, holders } of client.list({ pattern: 'invoice:*' })) console.log(name, holders)
   */
  list(options?: ListOptions): AsyncIterableIterator<ListedLock>
  /**
   * What happens to one lock, or to all locks that match, from now on. It compares what the server says from one look to the next: what begins and ends between two looks is
   * not seen. It never ends by itself.
   *
   * @example
   *     for await (const event of client.watch('invoice:7', { signal })) console.log(event.type, event.label ?? event.client)
   */
  watch(watched: Watched, options?: WatchOptions): AsyncIterableIterator<LockEvent>
}
