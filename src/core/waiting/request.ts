import type { UnitOfWork } from '../../base/owner.js'
import type { Terms } from '../hold/terms.js'

/** ms until a waiter that was refused so many times asks again; `random` gives numbers from 0 to below 1. */
export type Backoff = (refusals: number, random: () => number) => number

/** How long a call waits, and what else ends it. */
export interface Patience {
  /** ms; 0: one try, Infinity: no limit. */
  readonly wait: number
  readonly signal: AbortSignal | undefined
  readonly backoff?: Backoff | undefined
  /** Where nothing is set up to wait for: rejects at once instead of waiting until somebody does that. */
  readonly needsSetup?: boolean
  /** The last trouble met while waiting. */
  trouble?: unknown
  /** Of locks only: see `Request`. */
  readonly owner?: UnitOfWork
  readonly explicit?: boolean
}

/** What a caller asks of a gate. */
export interface Request extends Patience {
  readonly owner: UnitOfWork
  /** The caller named the owner: it may ask for the same lock elsewhere. */
  readonly explicit: boolean
  readonly reentrant: boolean
  readonly terms: Terms
}
