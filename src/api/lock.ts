import type { FencedHold, Hold, MultiHold, Owner } from './hold.js'
import type { OwnedFencedLock, OwnedLock } from './owned-lock.js'
import type { WaitOptions } from './wait-options.js'

/** How a lock is acquired. */
export interface AcquireOptions extends WaitOptions {
  /** A lease that is not renewed, unless `renew` says so. Omitted: the client's watchdog renews while the hold lives. */
  lease?: number | undefined
  /** The lease is renewed while the hold lives: shorter than the client's for a faster takeover, or longer. Default: where there is no `lease`. */
  renew?: boolean | undefined
  /** Default: a fresh owner, unless this very lock is held by an enclosing `using`: then its owner, which re-enters. */
  owner?: Owner | undefined
}

/** A lock as the server sees it. */
export interface LockState {
  /** Owners as the server knows them; `client` and `owner` come from others: escape before showing. Secret where tickets are adopted: see `owner`. */
  holders: HolderState[]
  /** Those in the line on the server, in order. */
  waiting: WaiterState[]
  /** There may be others: at most 10,000 holders are shown, and of the line its first 10,000 places. */
  more?: true | undefined
  /** Until expiry; `undefined` when free, `Infinity` when somebody removed the expiry. */
  remaining?: number | undefined
  /** Fenced locks only: the newest one, whoever had it. */
  token?: bigint | undefined
}

/** One that holds a lock. */
export interface HolderState {
  /** As the server knows it: `<client>:<number>`. As secret as a ticket wherever tickets are adopted that others send (SECURITY.md). */
  owner: string
  /** The id of its client. */
  client: string
  /** Of its client, where it has one. */
  label?: string | undefined
  /** How often it has taken the lock. */
  count: number
  /** How it holds it. */
  mode: 'exclusive' | 'read' | 'write'
  /** Keyed locks only: which of the keys asked about it holds. */
  keys?: string[] | undefined
}

/** One that waits in a line. */
export interface WaiterState {
  /** As the server knows it: `<client>:<number>`. As secret as a ticket wherever tickets are adopted that others send (SECURITY.md). */
  owner: string
  /** The id of its client. */
  client: string
  /** Of its client, where it has one. */
  label?: string | undefined
  /** Until when it stands there without a word, ms since the epoch. */
  deadline?: number | undefined
  /** Keyed locks only: which of the keys asked about it waits for. */
  keys?: string[] | undefined
}

/** A lock by its name. Making one sends nothing; any number of them with one name are the same lock. */
export interface Lock<H extends Hold = Hold> {
  /** As it was given to the client. */
  readonly name: string
  /**
   * Waits for the lock. Aborting or timing out leaves nothing on the server, also when the lock was on its way already.
   * Rejects: `AcquireTimeoutError`, the signal's reason, `BusyError`, `DeadlockError`, `ReplicationError`, `LockLostError` (the answer
   * came after the lease), `ClosedError`, `EngineError`; of several locks `MembersError`, too.
   */
  acquire(options?: AcquireOptions): Promise<H>
  /** `undefined` when it is not had within `wait` (default 0). An abort still rejects. */
  tryAcquire(options?: AcquireOptions): Promise<H | undefined>
  /**
   * Runs `work` while holding the lock, and releases it whatever happens. Rejects with `LockLostError` when the hold was
   * lost by the time the work ended; the work's own error always comes first.
   */
  using<T>(work: (hold: H) => Promise<T> | T): Promise<T>
  /** The same, with options of `acquire`. */
  using<T>(options: AcquireOptions | undefined, work: (hold: H) => Promise<T> | T): Promise<T>
  /** Whether anybody holds it, as the server sees it. */
  isLocked(): Promise<boolean>
  /** Milliseconds until expiry, as the server sees it; `undefined` when free, `Infinity` when somebody removed the expiry. */
  remaining(): Promise<number | undefined>
  /** The holders, and the waiters where the server knows them: the first 10,000 of each, see `LockState.more`. */
  inspect(): Promise<LockState>
  /** Takes the lock from whoever holds it; `false` when it was free. The holder is told at its next renewal. */
  forceRelease(): Promise<boolean>
  /** The same lock in Redisson's vocabulary, for one owner. */
  for(owner: Owner): OwnedLock
}

/** Several locks as one. */
export type MultiLock = Lock<MultiHold>

/** A lock whose holds are numbered: see `FencedHold.token`. */
export interface FencedLock extends Lock<FencedHold> {
  for(owner: Owner): OwnedFencedLock
}

/** Two sides of one lock: many hold `read` at a time while nobody holds `write`. */
export interface ReadWriteLock {
  /** Who writes may read as well, and goes on reading when the write is released. */
  readonly read: Lock
  /** Who only reads cannot wait for it: `DeadlockError`; a try is not had. */
  readonly write: Lock
}

/** Pauses of a spin lock, ms: from `initial` (1) on, times `multiplier` (2) and a little at random, up to `max` (128); or always `delay`. */
export type SpinBackoff =
  | {
      readonly initial?: number | undefined
      readonly max?: number | undefined
      readonly multiplier?: number | undefined
    }
  | { readonly delay: number }
