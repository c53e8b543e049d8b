/// <reference lib="esnext.disposable" preserve="true" />

/** A unit of work, made by `client.owner()`. Opaque. Unique in the process and valid for every client of it. */
export interface Owner {
  /** Shown in errors. */
  readonly label: string | undefined
}

/** `uncertain`: a renewal failed or is overdue, and the signal has not fired yet. `lost`: for good. */
export type HoldState = 'held' | 'uncertain' | 'lost' | 'released' | 'detached'

/** A lock that was acquired, until it is released or lost. `await using` releases it. */
export interface Hold extends AsyncDisposable {
  /** Of the lock. */
  readonly name: string
  /** The unit of work that holds it. */
  readonly owner: Owner
  /** Computed from the clock when read, so that a blocked event loop cannot lie. */
  readonly state: HoldState
  /** `state === 'lost'` */
  readonly lost: boolean
  /** Aborts with a `LockLostError` when the hold is lost, before the lock can be another's. */
  readonly signal: AbortSignal
  /** Milliseconds that are certain; 0 once lost, released or detached. */
  remaining(): number
  /**
   * The time left becomes `lease` from now (default: as taken), never less than it is. Never takes the lock again.
   * Rejects: `RangeError` on a hold that the watchdog renews, `LockLostError` when lost.
   */
  extend(lease?: number): Promise<void>
  /**
   * `true`: freed, or one level less. `false`: it was lost, or is not this hold's any more (detached, client closed). Never
   * rejects: without an answer it tries on within the time left, then says `false`. Called again: the same promise.
   */
  release(): Promise<boolean>
  /** Gives it a full lease, stops renewing, and returns a ticket for `client.adopt`, in another process too. */
  detach(): Promise<string>
}

/** A hold of a fenced lock. */
export interface FencedHold extends Hold {
  /**
   * Grows with every hold of this lock, whoever has it, and with every further level of one. Write it along with what the lock guards, and
   * let that refuse a smaller one: so who has lost the lock without knowing it does no harm.
   */
  readonly token: bigint
}

/** A hold of several locks. */
export interface MultiHold extends Hold {
  /** One for each lock, in their order; of a red-lock, one for each that was acquired. */
  readonly members: readonly Hold[]
}
