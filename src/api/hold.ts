/// <reference lib="esnext.disposable" preserve="true" />

/** A unit of work that can hold locks, created by `client.owner()`. It is opaque, unique in the process, and valid for every client in it. */
export interface Owner {
  /** Shown in error messages. */
  readonly label: string | undefined
}

/** `uncertain`: a renewal failed or is overdue, but the signal has not aborted. `lost`: for good. */
export type HoldState = 'held' | 'uncertain' | 'lost' | 'released' | 'detached'

/**
 * How a hold ended. `released`: by its holder, or because the client was closed. `lost`: its lease ended. `forced`: the server had it no more: it was
 * released by force, or its key was deleted. `detached`: another process may adopt it.
 */
export type HoldEnd = 'released' | 'lost' | 'forced' | 'detached'

/**
 * When `release()` and the end of a `using` resolve. `answered`: when the server has answered. `sent`: as soon as the command is written; if it turns out that the
 * hold was lost, the client emits `lost`.
 */
export type ReleaseMode = 'answered' | 'sent'

/** A lock that you acquired, until it is released or lost. `await using` releases it. */
export interface Hold extends AsyncDisposable {
  /** The name of the lock. */
  readonly name: string
  /** The unit of work that holds the lock. */
  readonly owner: Owner
  /** Computed from the clock when you read it, so that it is right even if the event loop was blocked. */
  readonly state: HoldState
  /** `state === 'lost'` */
  readonly lost: boolean
  /**
   * Tells your work to stop. Aborts with a `LockLostError` when the hold is lost: shortly before the lease ends without a renewal, or as soon as the server says
   * that this owner does not hold the lock any more. `docs/guide.md` lists what cannot be noticed before another owner acquires the lock. Aborts with a
   * `ClosedError` when the client closes and still has the hold, which is after `drain`. Does not abort when you release or detach the hold.
   */
  readonly signal: AbortSignal
  /** For how many ms the hold is certain; 0 if it is lost, released or detached. */
  remaining(): number
  /**
   * Sets the time left to `lease` ms from now (default: the lease that it was acquired with), but never shortens it. Never acquires the lock again. Rejects with a
   * `RangeError` if the watchdog renews the hold, and with `LockLostError` if it is lost.
   */
  extend(lease?: number): Promise<void>
  /**
   * Releases the lock. `true`: the lock is free, or has one level less. `false`: the hold was lost, or is not valid any more (detached, client closed). Never
   * rejects: without an answer it retries within the time left, and then resolves to `false`. If you call it again, it returns the same promise. With
   * `release: 'sent'`: `true` as soon as the command is written.
   */
  release(): Promise<boolean>
  /** Gives the hold a full lease, stops renewing it, and returns a ticket for `client.adopt`, in this process or another. */
  detach(): Promise<string>
}

/** A hold of a fenced lock. */
export interface FencedHold extends Hold {
  /**
   * Grows with every hold of this lock, no matter who acquired it, and with every further level of one hold. Send it along with each write, and let the guarded
   * resource reject a smaller one. Then a holder that has lost the lock without knowing it does no harm.
   */
  readonly token: bigint
}

/** A hold of several locks. */
export interface MultiHold extends Hold {
  /** One for each lock, in the order of the locks. For a red-lock: one for each lock that was acquired. */
  readonly members: readonly Hold[]
}
