import type { ReleaseMode } from '../../api/hold.js'
import type { UnitOfWork } from '../../base/owner.js'
import type { Scope } from '../../base/scope.js'
import type { CallWatch } from '../client/observed-call.js'
import type { LeaseTerms } from '../hold/lease-terms.js'

/** ms until a waiter asks again after this many refusals; `random` gives numbers from 0 to below 1. */
export type Backoff = (refusals: number, random: () => number) => number

/** How long a call waits, and what else ends the wait. */
export interface Patience {
  /** ms; 0: one try, Infinity: no limit. */
  readonly wait: number
  readonly signal: AbortSignal | undefined
  readonly backoff?: Backoff | undefined
  /** If nothing is set up to wait for, reject at once, instead of waiting until another program sets it up. */
  readonly needsSetup?: boolean
  /** The last trouble met while waiting. */
  trouble?: unknown
  /** Set if somebody listens for what happens to the call. */
  call?: CallWatch | undefined
  /** Only for locks: see `Request`. */
  readonly owner?: UnitOfWork
  readonly explicit?: boolean
  readonly around?: Scope | undefined
}

/** What a caller asks of a gate. */
export interface Request extends Patience {
  readonly owner: UnitOfWork
  /** The caller named the owner, who may ask for the same lock in other calls, too. */
  readonly explicit: boolean
  /** The `using`s around the call, which cannot end before it does. */
  readonly around: Scope | undefined
  readonly reentrant: boolean
  readonly terms: LeaseTerms
  readonly release: ReleaseMode
}
