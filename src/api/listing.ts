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

/** What `client.list` shows besides locks. Nobody owns such an object: many use it at once. */
export type SharedKind = 'semaphore' | 'permitSemaphore' | 'rateLimiter' | 'countDownLatch'

/** Options of `client.list`. */
export interface ListOptions {
  /**
   * Only names that match: `*` is any text, `?` one character, `[a-c]` one of these, and a `\` takes away the meaning of the next character, as
   * in `KEYS`. Default: all.
   */
  readonly pattern?: string | undefined
  /**
   * Only the locks with this name, of any kind. The server is asked about the name itself, so a lock of Redisson, or one that has just been
   * acquired, is found as well. Throws an EngineError with the code `NOPERM` if this user may not read it. Excludes `pattern` and `scan`.
   * Default: any name.
   */
  readonly name?: string | undefined
  /** Only this kind. Default: all. */
  readonly kind?: ListedKind | SharedKind | undefined
  /**
   * Walks through all keys of the server, in small steps, on every master of a cluster. It also finds locks of Redisson, of clients without `presence`, and those
   * that were not held or waited for longer than a second. Default: only what holdfast clients have published.
   */
  readonly scan?: boolean | undefined
  /**
   * Also says for what the calls of the holders wait, if they have waited for longer than a second. Asks once more for each client that holds a
   * lock. Default false.
   */
  readonly waits?: boolean | undefined
  /** Called after each step of a scan. Default: none. */
  readonly onProgress?: ((progress: ScanProgress) => void) | undefined
  /**
   * Called for each lock that is left out because it cannot be read: a master of the cluster does not answer, or this user may not read the key. Default: they are
   * left out silently. If no lock at all can be read, the loop throws.
   */
  readonly onSkipped?: ((skipped: SkippedLock) => void) | undefined
  /** Ends the loop: it throws the signal's reason. Default: none. */
  readonly signal?: AbortSignal | undefined
}

/** A lock that a list leaves out. */
export interface SkippedLock {
  /** Missing if not even its name could be read. Then `error` stands for all the locks that one client has published, or for those of one master in a scan. */
  readonly name?: string | undefined
  /** An `EngineError`. */
  readonly error: Error
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

/** Set if the label of a client could not be read. Without it, a client that has no label is dead, is one of Redisson's, or has no `presence`. */
export interface Unlabelled {
  /** `not permitted`: this user may not read `holdfast:client:*`. `unreadable`: the server did not answer, or another program has written there. */
  readonly labelUnknown?: 'not permitted' | 'unreadable' | undefined
}

/** A lock for which a call waits that must end before a hold does, as its client says. */
export interface ListedWait {
  /** The name; the key if this client's `mapName` makes another key of the name. */
  readonly name: string
  /** The key on the server. */
  readonly key: string
  /** The kind of lock. */
  readonly kind: ListedKind
  /** Which side of a read-write lock. */
  readonly mode?: 'read' | 'write' | undefined
  /** Of a keyed lock, the keys that it wants; 1,000 at most. */
  readonly keys?: readonly string[] | undefined
  /** Since when, ms since the epoch, as its client estimates the server's time. */
  readonly since: number
}

/** A lock holder, with the time since when it holds the lock. */
export type ListedHolder = HolderState &
  Aged &
  Unlabelled & {
    /** Only with `waits`: what the call waits for that holds the lock. A stranger who can write to the server can change it. */
    readonly waitsFor?: readonly ListedWait[] | undefined
  }

/** A waiter in the line, with the time since when it waits. Of most kinds, a process stands in the line once, for the first of its waiting calls. */
export type ListedWaiter = WaiterState & Aged & Unlabelled

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
  readonly kind: ListedKind | SharedKind
  /** At most 10,000. Empty for semaphores, rate limiters and latches: their permits have no owner. */
  readonly holders: readonly ListedHolder[]
  /** The line, in order, at most 10,000 places. Calls that wait in their process, behind the place of that process, are not in it. */
  readonly waiting: readonly ListedWaiter[]
  /** Set if there may be more holders or waiters, or keys of a group. */
  readonly more?: true | undefined
  /** How many ms are left until the lock expires; `undefined` if it is free, `Infinity` if somebody removed the expiry. */
  readonly remaining?: number | undefined
  /** Fenced locks only: the newest token, no matter who got it. */
  readonly token?: bigint | undefined
  /**
   * Of semaphores: how many permits are available. Of a rate limiter whose window all clients share: how many are left in it, if that is quickly found. Of a latch: the
   * count that is left.
   */
  readonly available?: number | undefined
  /** Of semaphores whose permits have an id: all permits. Of a rate limiter: how many there are in each interval. */
  readonly permits?: number | undefined
  /** Of a rate limiter: the length of its window, ms. */
  readonly interval?: number | undefined
}

/** The part of the client that operators use. `Client` extends it. */
export interface Listing {
  /**
   * The locks that are held or waited for, and semaphores, rate limiters and latches that calls wait for, each checked with the server when it is yielded. Without `scan` it finds those of holdfast clients that were held or waited for
   * longer than a second, at most two seconds late. Locks that this client may not read are left out.
   *
   * @example
   *     for await (const { name, holders } of client.list({ pattern: 'invoice:*' })) console.log(name, holders)
   */
  list(options?: ListOptions): AsyncIterableIterator<ListedLock>
}
