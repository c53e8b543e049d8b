import type { FencedHold, Hold, MultiHold, Owner, ReleaseMode } from './hold.js'
import type { OwnedFencedLock, OwnedLock } from './owned-lock.js'
import type { WaitOptions } from './wait-options.js'

/** Options of `acquire`, `tryAcquire` and `using`. */
export interface AcquireOptions extends WaitOptions {
  /**
   * A lease in ms that is not renewed, unless you set `renew`. Default: the lease of the client's `watchdog`, which renews the hold while it lives.
   */
  lease?: number | undefined
  /**
   * Renews the lease while the hold lives. Set a `lease` that is shorter than the client's for a faster takeover, or a longer one. Default: renewed only if there
   * is no `lease`.
   */
  renew?: boolean | undefined
  /** Who acquires the lock. Default: a new owner; inside a `using` that holds this very lock, the owner of that `using`, which re-enters. */
  owner?: Owner | undefined
  /**
   * `'sent'`: `release()` and the end of `using` resolve as soon as the command is written, which saves a round trip. The next command of this client comes behind
   * it. If the hold was lost, you learn that from the client's `lost` event only. Default: the client's `release`.
   */
  release?: ReleaseMode | undefined
}

/** Options of `forceRelease`. */
export interface ForceReleaseOptions {
  /**
   * Releases only what this owner holds: the whole `owner` of a holder that `inspect` shows. The server compares and releases in one step, so this never releases
   * what another owner has acquired meanwhile. Default: releases the lock, whatever its owner is.
   */
  owner?: string | undefined
}

/** Options of `forceExtend`. */
export interface ForceExtendOptions {
  /** Whose hold: the whole `owner` of a holder that `inspect` shows. */
  owner: string
  /** The ms that the hold has left afterwards, at least. */
  lease: number
}

/** A lock as the server sees it. */
export interface LockState {
  /**
   * The lock holders. `client` and `owner` come from other processes: escape them before you show them. If you adopt tickets from others, owners are secret: see
   * `HolderState.owner`.
   */
  holders: HolderState[]
  /** The waiters in the line on the server, in order. */
  waiting: WaiterState[]
  /** Set if there may be others: at most 10,000 holders are shown, and the first 10,000 places of the line. */
  more?: true | undefined
  /** How many ms are left until the lock expires; `undefined` if it is free, `Infinity` if somebody removed the expiry. */
  remaining?: number | undefined
  /** Fenced locks only: the newest token, no matter who got it. */
  token?: bigint | undefined
}

/** A lock holder. */
export interface HolderState {
  /** The owner as the server knows it: `<client>:<number>`. If you adopt tickets from others, it is as secret as a ticket (SECURITY.md). */
  owner: string
  /** The id of the holder's client. */
  client: string
  /** The label of that client, if it has one. */
  label?: string | undefined
  /** How often it has acquired the lock. */
  count: number
  /** How it holds the lock. */
  mode: 'exclusive' | 'read' | 'write'
  /** Keyed locks only: which of your lock's keys it holds. */
  keys?: string[] | undefined
}

/** A waiter in the line. */
export interface WaiterState {
  /** The owner as the server knows it: `<client>:<number>`. If you adopt tickets from others, it is as secret as a ticket (SECURITY.md). */
  owner: string
  /** The id of the waiter's client. */
  client: string
  /** The label of that client, if it has one. */
  label?: string | undefined
  /** Until when its place is kept if its client stays silent, ms since the epoch. */
  deadline?: number | undefined
  /** Keyed locks only: which of your lock's keys it waits for. */
  keys?: string[] | undefined
}

/** A lock, known by its name. Creating one sends nothing. All lock objects with one name are the same lock. */
export interface Lock<H extends Hold = Hold> {
  /** The name that you gave the lock. */
  readonly name: string
  /**
   * Waits for the lock. If you abort the call, or it times out, it leaves nothing on the server, even if the lock was already on its way. Rejects with
   * `AcquireTimeoutError`, the signal's reason, `BusyError`, `DeadlockError`, `ReplicationError`, `LockLostError` (the answer came after the lease), `ClosedError`
   * or `EngineError`; for several locks also with `MembersError`.
   */
  acquire(options?: AcquireOptions): Promise<H>
  /** Resolves to `undefined` if it could not acquire the lock within `wait` (default 0). Still rejects if the signal aborts. */
  tryAcquire(options?: AcquireOptions): Promise<H | undefined>
  /**
   * Acquires the lock, runs `work`, and then releases the lock, also if `work` throws. Resolves to what `work` returns. Rejects as `acquire` does,
   * without calling `work`; with what `work` throws; with `ClosedError` if the client was closed while `work` ran; with `LockLostError` if the hold was lost while
   * `work` ran, and then `result` is what `work` returned. It never stops `work`: look at `hold.signal`.
   */
  using<T>(work: (hold: H) => Promise<T> | T): Promise<T>
  /** The same, with the options of `acquire`. */
  using<T>(options: AcquireOptions | undefined, work: (hold: H) => Promise<T> | T): Promise<T>
  /** Whether anybody holds the lock, as the server sees it. */
  isLocked(): Promise<boolean>
  /** How many ms are left until the lock expires, as the server sees it; `undefined` if it is free, `Infinity` if somebody removed the expiry. */
  remaining(): Promise<number | undefined>
  /** The holders, and the waiters if the server knows them: the first 10,000 of each, see `LockState.more`. */
  inspect(): Promise<LockState>
  /**
   * Releases the lock by force, no matter who holds it, or only if `owner` does. `false`: it was free, or that owner did not hold it. The holder learns of it at
   * its next renewal at the latest.
   */
  forceRelease(options?: ForceReleaseOptions): Promise<boolean>
  /**
   * Sets the time left of what `owner` holds to `lease` ms, but never shortens it. `false`: that owner did not hold the lock. It keeps others out while the holder
   * is cut off or paused: the holder is not told, and a hold that it has counted as lost stays lost. Renewals go on as before.
   */
  forceExtend(options: ForceExtendOptions): Promise<boolean>
  /** The same lock with Redisson's method names, for one owner. */
  for(owner: Owner): OwnedLock
}

/** Several locks as one. */
export type MultiLock = Lock<MultiHold>

/** A lock whose holds are numbered: see `FencedHold.token`. */
export interface FencedLock extends Lock<FencedHold> {
  /** The same lock with Redisson's method names, for one owner. */
  for(owner: Owner): OwnedFencedLock
}

/** The two sides of one lock: many can hold `read` at a time while nobody holds `write`. */
export interface ReadWriteLock {
  /** An owner that writes may read as well, and goes on reading when it releases the write. */
  readonly read: Lock
  /** An owner that only reads cannot wait to write: `DeadlockError`. An attempt without a wait does not acquire the lock. */
  readonly write: Lock
}

/**
 * The pauses of a spin lock, ms: the first is `initial` (1), each next one is multiplied by `multiplier` (2), plus a little at random, up to `max` (128). With
 * `delay`, all pauses are the same.
 */
export type SpinBackoff =
  | {
      /** The first pause. Default 1. */
      readonly initial?: number | undefined
      /** The longest pause. Default 128. */
      readonly max?: number | undefined
      /** Each pause is this many times as long as the one before. Default 2. */
      readonly multiplier?: number | undefined
    }
  | { readonly delay: number }
