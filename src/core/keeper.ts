import type { LockLostError } from '../errors.js'
import type { Clock } from './clock.js'
import type { Limit } from './limit.js'
import type { UnitOfWork } from './owner.js'
import type { LockProtocol } from './protocol.js'
import type { Tenure } from './tenure.js'
import type { Terms } from './terms.js'

/** Who looks after a tenure: the gate that it was taken through. */
export interface Keeper {
  readonly name: string
  readonly clock: Clock
  readonly protocol: LockProtocol
  /** For how long a caller waits for a release at most. */
  readonly releases: Limit
  /** Somebody has it now. */
  given?(tenure: Tenure, owner: UnitOfWork): void
  /** The last hold was given back: pass it on or free it. False: it was lost, or nobody answered in time. */
  giveBack(tenure: Tenure): Promise<boolean>
  /** It ended without being given back; `ours` when the server may still have it. */
  lost(tenure: Tenure, error: LockLostError, ours: boolean): void
  doubted(tenure: Tenure, cause: unknown): void
  renewed(tenure: Tenure): void
  /** Its terms or its deadline changed. */
  moved(tenure: Tenure): void
  /** One of its levels was over before the others. */
  lapsed(tenure: Tenure, error: LockLostError): void
  /** Rejects with a `ClosedError` when the client closes before the answer. */
  untilClosed<T>(ask: () => Promise<T>): Promise<T>
  /** Repeats a step until it is answered or `tenure` is over. Undefined: it was not answered in time. */
  insist<T>(tenure: Tenure, step: () => Promise<T>): Promise<T | undefined>
  /** Whether other holds of the same owner rest on this one, or this one on others. */
  carries?(): boolean
  ticket(tenure: Tenure, terms: Terms): string
}
