import type { ReleaseMode } from './hold.js'
import type { Kept } from './kept.js'
import type { SetupOptions, WaitOptions } from './wait-options.js'

/** Options of a call that acquires permits. */
export interface SemaphoreOptions extends WaitOptions {
  /** How many permits to acquire, all or none. 0 are granted at once. Default 1. */
  permits?: number | undefined
}

/** Options of a semaphore's `using`. */
export interface SemaphoreUsingOptions extends SemaphoreOptions, SetupOptions {
  /** `'sent'`: `using` resolves as soon as the release is written. Default: the client's `release`. */
  release?: ReleaseMode | undefined
}

/**
 * Permits without an owner. Your code releases as many as it acquired; if a process dies, the permits that it had acquired stay acquired. Waiters of one process are
 * served in order. A step that changes the count is done once, even if its answer is lost: the client asks for it again, and rejects with `NO_REPLY` only after a
 * minute. In Redisson: RSemaphore.
 */
export interface Semaphore extends Kept {
  /** Creates the semaphore, for `ttl` ms or forever. `false`: it exists already, and stays as it is. */
  trySetPermits(permits: number, ttl?: number): Promise<boolean>
  /** Adds permits, or removes some if the number is negative. The count may become negative. */
  addPermits(permits: number): Promise<void>
  /** How many permits are free; negative if more are taken than there are. */
  available(): Promise<number>
  /** Acquires all permits that are free, and resolves to how many. Negative: the count was below zero, and is zero now. */
  drain(): Promise<number>
  /** Gives permits back. If the semaphore does not exist, creates it with that many. If the client's `release` is `'sent'`, resolves when that is written. */
  release(permits?: number): Promise<void>
  /** Gives permits back, unless the semaphore was deleted or has expired. */
  releaseIfExists(permits?: number): Promise<boolean>
  /**
   * Waits for the permits. If you abort the call, or it times out, it has acquired nothing, even if the permits were already on their way. Rejects with
   * `NotInitializedError` if no permits are set, also if the semaphore is deleted meanwhile (see `waitForSetup`); with `AcquireTimeoutError`, the signal's reason,
   * `BusyError`, `ReplicationError`, `ClosedError` or `EngineError`.
   */
  acquire(options?: SemaphoreOptions & SetupOptions): Promise<void>
  /** `false` if it could not acquire the permits within `wait` (default 0), also if none are set. Still rejects if the signal aborts. */
  tryAcquire(options?: SemaphoreOptions): Promise<boolean>
  /** Acquires permits, runs `work`, and gives the permits back whatever happens. */
  using<T>(work: () => Promise<T> | T): Promise<T>
  /** The same, with the options of `acquire`, and `release`. */
  using<T>(options: SemaphoreUsingOptions | undefined, work: () => Promise<T> | T): Promise<T>
}

/** Options of a call that acquires permits with an id. */
export interface PermitOptions extends WaitOptions {
  /** The lease of the permit, ms. Default: with `renew`, that of the client's `watchdog`; without it, the permit never expires, as in Redisson. */
  lease?: number | undefined
  /** Renews the permit while this process lives, with `lease` or the client's lease. Default false. */
  renew?: boolean | undefined
  /** `'sent'`: `release()` of the permit resolves as soon as the command is written. Default: the client's `release`. */
  release?: ReleaseMode | undefined
}

/** One permit of a `PermitSemaphore`. You can trust it as you can trust a hold. A permit that never expires is never in doubt. */
export interface Permit extends AsyncDisposable {
  /** 32 hex digits, as Redisson shows it. It is valid in every process. */
  readonly id: string
  /** Like the state of a hold. */
  readonly state: 'held' | 'uncertain' | 'lost' | 'released'
  /** `state === 'lost'` */
  readonly lost: boolean
  /** Aborts with a `LockLostError` when the permit is lost, and with a `ClosedError` when the client closes and still has it. */
  readonly signal: AbortSignal
  /** For how many ms the permit is certain; Infinity if it never expires. */
  remaining(): number
  /** Like `extend` of a hold. Rejects with a `RangeError` if the permit is renewed or never expires. */
  extend(lease?: number): Promise<void>
  /** Gives the permit back. Like `release` of a hold, it never rejects. */
  release(): Promise<boolean>
}

/**
 * Permits that each have an id and a lease, by the server's clock. A permit that expires is free again. A step that changes the count is done once, even if its
 * answer is lost. When you close the client, it releases every permit that it acquired, unless you tell it not to. In Redisson: RPermitExpirableSemaphore.
 */
export interface PermitSemaphore extends Kept {
  /** Creates the semaphore. `false`: it exists already, and stays as it is. */
  trySetPermits(permits: number): Promise<boolean>
  /** Sets how many permits there are in all, including those that are taken. The number of free permits may become negative. */
  setPermits(permits: number): Promise<void>
  /** Adds permits, or removes some if the number is negative. */
  addPermits(permits: number): Promise<void>
  /** How many permits are free. */
  available(): Promise<number>
  /** How many permits are taken. */
  acquired(): Promise<number>
  /** How many permits there are in all. */
  permits(): Promise<number>
  /** Waits for a permit. Rejects with the same errors as a lock, and with `NotInitializedError` if no permits are set (see `waitForSetup`). */
  acquire(options?: PermitOptions & SetupOptions): Promise<Permit>
  /**
   * Waits for `count` permits, all or none, 10,000 at most. Rejects with a `RangeError` if there are some permits, but fewer than that in all (see
   * `waitForSetup`).
   */
  acquireMany(count: number, options?: PermitOptions & SetupOptions): Promise<Permit[]>
  /** `undefined` if no permit is free within `wait` (default 0), also if no permits are set. Still rejects if the signal aborts. */
  tryAcquire(options?: PermitOptions): Promise<Permit | undefined>
  /** Acquires `count` permits, or resolves to an empty array if it could not acquire all of them within `wait` (default 0). */
  tryAcquireMany(count: number, options?: PermitOptions): Promise<Permit[]>
  /**
   * Releases at most 10,000 permits. Rejects with `NotOwnerError` if one of them is unknown, expired or already released; then nothing is changed.
   *
   * If this client holds the permit of a single id, its `Permit` is `'released'` from the call on, whatever the answer. Those of several ids are `'released'`
   * when the answer comes, or when it is lost. If the call rejects for another reason, the permits may still be taken on the server: call it again, or call
   * `release` of the `Permit`. Closing the client gives them back as well.
   */
  release(ids: string | readonly string[]): Promise<void>
  /** Like `release`, but resolves to `false` instead of rejecting with `NotOwnerError`. */
  tryRelease(id: string): Promise<boolean>
  /** Like `release`, but resolves to how many were released: 0 instead of rejecting with `NotOwnerError`. */
  tryRelease(ids: readonly string[]): Promise<number>
  /**
   * Sets the lease from now on, also to a shorter one. `false`: the permit does not exist. This is done once, even if the answer is lost, and after earlier calls
   * about the same `Permit`.
   *
   * If the lease gets shorter, a `Permit` of this client counts the shorter one as soon as the call is sent, even if the call rejects. If that lease ends without
   * an answer, the permit is released.
   */
  extend(id: string, lease: number): Promise<boolean>
  /** How many ms are left; Infinity if the permit never expires. Rejects with `NotOwnerError` if it does not exist. */
  leaseTime(id: string): Promise<number>
}
