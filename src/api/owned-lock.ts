import type { Owner } from './hold.js'

/** Of the calls of an `OwnedLock` that may wait. */
export interface OwnedLockOptions {
  /** Ends the wait with the signal's reason, as an interrupt does in Java. An already aborted one sends nothing. */
  signal?: AbortSignal | undefined
}

/** Redisson's vocabulary, for code that ports from it: an owner is what Redisson calls a thread. */
export interface OwnedLock {
  /** Of the lock. */
  readonly name: string
  /** Whose it is. */
  readonly owner: Owner
  /** `lease` -1 or omitted: the watchdog renews. With a `signal` it is Redisson's `lockInterruptibly`. */
  lock(lease?: number, options?: OwnedLockOptions): Promise<void>
  /** `wait` -1, 0 or omitted: one try. `lease` -1 or omitted: the watchdog renews. */
  tryLock(wait?: number, lease?: number, options?: OwnedLockOptions): Promise<boolean>
  /** Rejects with `NotOwnerError` when this owner does not hold it. */
  unlock(): Promise<void>
  /** Takes it from whoever has it; `false` when it was free. */
  forceUnlock(): Promise<boolean>
  /** Whether anybody holds it. */
  isLocked(): Promise<boolean>
  /** Whether this owner holds it. */
  isHeld(): Promise<boolean>
  /** How often this owner has taken it; 0: not at all. */
  holdCount(): Promise<number>
  /** As Redisson: -2 when free, -1 without expiry. */
  remainTimeToLive(): Promise<number>
}

/** The same for a fenced lock, Redisson's RFencedLock. */
export interface OwnedFencedLock extends OwnedLock {
  /** As `lock`; the fencing token of this hold. */
  lockAndGetToken(lease?: number, options?: OwnedLockOptions): Promise<bigint>
  /** As `tryLock`; `undefined` where that is `false`. */
  tryLockAndGetToken(wait?: number, lease?: number, options?: OwnedLockOptions): Promise<bigint | undefined>
  /** Redisson's `getToken`: the newest token of the lock, whoever got it; `undefined` before the first. */
  token(): Promise<bigint | undefined>
}
