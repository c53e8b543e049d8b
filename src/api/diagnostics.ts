import type { Deadlock } from './deadlock.js'
import type { HoldEnd } from './hold.js'

/** How a call ended that got nothing. */
export type DiagnosticFailure = 'timeout' | 'aborted' | 'refused' | 'error'

/** The message on `holdfast:<event>` of node:diagnostics_channel: enough to measure waits and holds from outside. */
export interface DiagnosticMessage {
  /** The client's id. */
  readonly client: string
  /** `lock`, `nonReentrantLock`… */
  readonly kind: string
  /** The name of the lock. */
  readonly name: string
  /**
   * `acquire`, `wait`, `grant`, `end`: the number of the call, unique in its client. `release`: the call that got the hold; missing
   * if a semaphore's permits were released without a `using`.
   */
  readonly id?: number
  /** `grant`, `release`: the number of the hold, unique in its client. Of several permits with ids, `grant` has the first number, and the others follow it. */
  readonly hold?: number
  /** How many permits were granted or released, if it is about permits or a rate. */
  readonly permits?: number
  /** The owner's wire name. Missing before the grant, and if the server knows no owner. Keep it as secret as that of a `HolderState`. */
  readonly owner?: string
  /** `grant`, `end`: ms since the call. `release`: ms that this hold lasted. */
  readonly elapsed?: number
  /** `grant`: the hold was passed on within the process, without the server. */
  readonly local?: boolean
  /** `end`: why the call got nothing. `release`: how the hold ended. */
  readonly outcome?: DiagnosticFailure | HoldEnd
  /** `lost`: the reason. `uncertain`: the error of the renewal; missing if that is only overdue. `end`: what the call rejected with, whatever that is; missing if it did not reject. */
  readonly error?: unknown
}

/**
 * `acquire`: a call starts. `wait`: the call could not acquire at once. `grant`: the call acquired. `end`: the call got nothing.
 * `renew`: the server gave a full lease. `uncertain`: a renewal failed or is overdue. `release`: a hold ended, in whatever way. `lost`: a lock was lost.
 */
export type DiagnosticEvent = 'acquire' | 'wait' | 'grant' | 'end' | 'renew' | 'uncertain' | 'lost' | 'release'

/** The message on `tracing:holdfast:acquire:*` and `tracing:holdfast:using:*`. From `asyncStart` on, that of an acquire says how the call ended. */
export type DiagnosticTrace = Pick<
  DiagnosticMessage,
  'client' | 'kind' | 'name' | 'id' | 'hold' | 'permits' | 'owner' | 'elapsed' | 'local'
> & {
  /** `granted`, or why the call got nothing. */
  readonly outcome?: 'granted' | DiagnosticFailure
  /** A `using`, and a call for a lock: what it resolved with. Permits with ids: all of them. Otherwise nothing to rely on. */
  readonly result?: unknown
  /** What the call rejected with. */
  readonly error?: unknown
}

/** The message on `holdfast:deadlock`. */
export interface DeadlockMessage extends Deadlock {
  /** The id of the client that found it. */
  readonly client: string
}

/** The message on `holdfast:reconnect`. */
export interface ReconnectMessage {
  /** The id of the client whose connection came back. */
  readonly client: string
}
