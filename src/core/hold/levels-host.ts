import type { LockLostError } from '../../errors.js'
import type { UnitOfWork } from '../../base/owner.js'
import type { Retry } from '../server/retry-unanswered.js'
import type { UnansweredReleases } from '../server/ask-again-after-release.js'
import type { ReleaseCallerLimit } from './release-caller-limit.js'
import type { LeaseTerms } from './lease-terms.js'

/** What the levels need from the client. */
export interface LevelsClient {
  /** How long a caller waits for a release at most. */
  readonly releases: ReleaseCallerLimit
  readonly retry: Pick<Retry, 'insist'>
  readonly unanswered: Pick<UnansweredReleases, 'add'>
  /** Whether a command is written as soon as it is sent. */
  readonly writes: boolean
  readonly lockEvents: { lost(lock: LevelsHost<never>, wire: string, error: LockLostError): void }
  /** Rejects with a `ClosedError` when the client closes before the answer. */
  untilClosed<T>(ask: () => Promise<T>, name: string): Promise<T>
}

/** What the levels need from the gate. */
export interface LevelsHost<T> {
  readonly name: string
  readonly kind: { readonly name: string; readonly keys?: readonly string[] }
  readonly runtime: LevelsClient
  readonly protocol: { readonly key: string }
  /** An owner has it now. */
  given?(tenure: T, owner: UnitOfWork): void
  /** The last hold was released: pass the lock on or free it. False: it was lost, or the server did not answer in time. */
  giveBack(tenure: T): Promise<boolean>
  /** Whether other holds of the same owner rest on this one, or this one on others. */
  carries?(): boolean
  /** The ticket to adopt it with, on these terms. Throws if there can be none. */
  ticketOf(tenure: T, terms: LeaseTerms): string
  /** Forgets the tenure here, and leaves it on the server. */
  detach(tenure: T): void
}
