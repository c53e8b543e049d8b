import type { Owner } from './hold.js'

/** Options of the methods of an `OwnedLock` that may wait. */
export interface OwnedLockOptions {
  /** Ends the wait with the signal's reason, as an interrupt does in Java. If it has already aborted, nothing is sent. Default: none. */
  signal?: AbortSignal | undefined
}

/** A lock with Redisson's method names, for code that you port from it. An owner is what Redisson calls a thread. */
export interface OwnedLock {
  /** The name of the lock. */
  readonly name: string
  /** The owner that acquires and releases the lock. */
  readonly owner: Owner
  /** Waits for the lock. `lease` -1 or omitted: the watchdog renews it. With a `signal`, it is Redisson's `lockInterruptibly`. */
  lock(lease?: number, options?: OwnedLockOptions): Promise<void>
  /** Whether it could acquire the lock within `wait` ms. `wait` -1, 0 or omitted: one attempt. `lease` -1 or omitted: the watchdog renews it. */
  tryLock(wait?: number, lease?: number, options?: OwnedLockOptions): Promise<boolean>
  /** Releases the lock. Rejects with `NotOwnerError` if this owner does not hold it. */
  unlock(): Promise<void>
  /** Releases the lock by force, no matter who holds it. `false`: it was free. */
  forceUnlock(): Promise<boolean>
  /** Whether anybody holds the lock. */
  isLocked(): Promise<boolean>
  /** Whether this owner holds the lock. */
  isHeld(): Promise<boolean>
  /** How often this owner has acquired the lock; 0: not at all. */
  holdCount(): Promise<number>
  /** How many ms are left until the lock expires. As in Redisson: -2 if it is free, -1 if it has no expiry. */
  remainTimeToLive(): Promise<number>
}

/** The same for a fenced lock. In Redisson: RFencedLock. */
export interface OwnedFencedLock extends OwnedLock {
  /** Like `lock`, but resolves to the fencing token of this hold. */
  lockAndGetToken(lease?: number, options?: OwnedLockOptions): Promise<bigint>
  /** Like `tryLock`, but resolves to the fencing token of this hold; `undefined` instead of `false`. */
  tryLockAndGetToken(wait?: number, lease?: number, options?: OwnedLockOptions): Promise<bigint | undefined>
  /** The newest token of the lock, no matter who got it; `undefined` before the first. In Redisson: `getToken`. */
  token(): Promise<bigint | undefined>
}
