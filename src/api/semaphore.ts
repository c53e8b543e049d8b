import type { Kept } from './kept.js'
import type { SetupOptions, WaitOptions } from './wait-options.js'

/** How permits are acquired. */
export interface SemaphoreOptions extends WaitOptions {
  /** How many, all or none; default 1. 0 are granted at once. */
  permits?: number | undefined
}

/**
 * Permits have no owner, as in Redisson's RSemaphore. Whoever takes some gives as many back; what a process that dies
 * had taken stays taken. Waiters of one process are served in their order. A step that changes the count is done once, also
 * when its answer is lost: it is asked for again, and rejects with `NO_REPLY` only after a minute.
 */
export interface Semaphore extends Kept {
  /** Makes it, for `ttl` ms or for good. `false`: it is there, and stays as it is. */
  trySetPermits(permits: number, ttl?: number): Promise<boolean>
  /** Adds some, or takes some away when negative: there may be fewer than none. */
  addPermits(permits: number): Promise<void>
  /** How many may be acquired now; negative where more are taken than there are. */
  available(): Promise<number>
  /** Takes all there are: how many. Negative: fewer than none were there, and now there are none. */
  drain(): Promise<number>
  /** Gives back, or makes it with so many. */
  release(permits?: number): Promise<void>
  /** Gives back, unless it was deleted or its time was over. */
  releaseIfExists(permits?: number): Promise<boolean>
  /**
   * Waits for the permits. Aborting or timing out leaves nothing taken, also when they were on their way already.
   * Rejects: `NotInitializedError` where none are set, also when they are deleted meanwhile (see `waitForSetup`);
   * `AcquireTimeoutError`, the signal's reason, `BusyError`, `ReplicationError`, `ClosedError`, `EngineError`.
   */
  acquire(options?: SemaphoreOptions & SetupOptions): Promise<void>
  /** `false` when they are not had within `wait` (default 0), also where none are set. An abort still rejects. */
  tryAcquire(options?: SemaphoreOptions): Promise<boolean>
  /** Runs `work` while the permits are taken, and gives them back whatever happens. */
  using<T>(work: () => Promise<T> | T): Promise<T>
  using<T>(options: (SemaphoreOptions & SetupOptions) | undefined, work: () => Promise<T> | T): Promise<T>
}

/** How a permit is acquired. */
export interface PermitOptions extends WaitOptions {
  /** Omitted, and without `renew`, it is for ever, as Redisson's. */
  lease?: number | undefined
  /** It is renewed while this process lives, with `lease` or the client's. Default false. */
  renew?: boolean | undefined
}

/** One permit of a `PermitSemaphore`. Its trust is that of a hold; what never expires is never in doubt. */
export interface Permit extends AsyncDisposable {
  /** 32 hex digits, as Redisson shows it; good in every process. */
  readonly id: string
  /** As a hold's. */
  readonly state: 'held' | 'uncertain' | 'lost' | 'released'
  /** `state === 'lost'` */
  readonly lost: boolean
  /** Aborts with a `LockLostError` when it is lost. */
  readonly signal: AbortSignal
  /** Milliseconds that are certain; Infinity where it never expires. */
  remaining(): number
  /** As a hold's. `RangeError` where it is renewed or never expires. */
  extend(lease?: number): Promise<void>
  /** As a hold's: never rejects. */
  release(): Promise<boolean>
}

/**
 * Permits that each have an id and a lease, Redisson's RPermitExpirableSemaphore. What expires is back by itself. Server time
 * counts. A step that changes the count is done once, also when its answer is lost. Closing the client gives back what it has
 * taken, unless told otherwise.
 */
export interface PermitSemaphore extends Kept {
  /** Makes it. `false`: it is there, and stays as it is. */
  trySetPermits(permits: number): Promise<boolean>
  /** So many in all, those that are taken included: there may be fewer than none left. */
  setPermits(permits: number): Promise<void>
  /** Adds some, or takes some away when negative. */
  addPermits(permits: number): Promise<void>
  /** How many may be acquired now. */
  available(): Promise<number>
  /** How many are taken. */
  acquired(): Promise<number>
  /** In all. */
  permits(): Promise<number>
  /** Rejects as a lock's, and with `NotInitializedError` where no permits are set (see `waitForSetup`). */
  acquire(options?: PermitOptions & SetupOptions): Promise<Permit>
  /** All of them or none, and 10,000 at most. `RangeError` where there are some, but fewer in all (see `waitForSetup`). */
  acquireMany(count: number, options?: PermitOptions & SetupOptions): Promise<Permit[]>
  /** `undefined` when none is free within `wait` (default 0), also where no permits are set. An abort still rejects. */
  tryAcquire(options?: PermitOptions): Promise<Permit | undefined>
  /** All of them, or an empty array when they cannot be acquired within `wait` (default 0). */
  tryAcquireMany(count: number, options?: PermitOptions): Promise<Permit[]>
  /**
   * `NotOwnerError` when one of them is unknown, expired or given back: then nothing is changed. 10,000 at most. The `Permit` of a
   * single id that this client holds is `'released'` from the call on, whatever the answer; those of several from the answer on, or
   * when the answer is lost. Where it rejects for another reason they may still be taken on the server: call it again, or `release` of
   * the `Permit`; closing the client gives them back as well.
   */
  release(ids: string | readonly string[]): Promise<void>
  /** The same without the error: `false`, or 0. */
  tryRelease(id: string): Promise<boolean>
  tryRelease(ids: readonly string[]): Promise<number>
  /**
   * From now on it lasts so long, also when that is shorter. `false` when it is not there. It is done once, also when the answer is lost,
   * and after what was asked of the same `Permit` before. A `Permit` of this client counts as so short as soon as that is sent, also
   * where it rejects; when it is over without an answer it is given back.
   */
  extend(id: string, lease: number): Promise<boolean>
  /** Milliseconds left, Infinity where it never expires. `NotOwnerError` when it is not there. */
  leaseTime(id: string): Promise<number>
}
