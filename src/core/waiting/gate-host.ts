import type { Reported } from '../client/observed-call.js'
import type { UnitOfWork } from '../../base/owner.js'
import type { LockProtocol } from '../protocol/lock-protocol.js'
import type { Runtime } from '../client/runtime.js'
import type { Tenure } from '../hold/tenure.js'
import type { LeaseTerms } from '../hold/lease-terms.js'
import type { Waiter } from './waiter.js'
import type { Moment } from '../../base/clock.js'

/** The gate at which calls wait. */
export interface GateHost extends Reported {
  readonly runtime: Runtime
  readonly protocol: LockProtocol
  /** The tenure of the holder here, if there is one. */
  readonly tenure: Tenure | undefined
  /** A call that came before there were waiters has not been answered yet. */
  readonly asks: boolean
  nextWire(): string
  /** The server has granted the lock. */
  begin(wire: string, terms: LeaseTerms, sent: Moment, from?: Tenure): Tenure
  /** Gives a level each to other waiting calls of the owner that has the lock now. */
  enterAll(tenure: Tenure, others: readonly Waiter[]): void
  /** Reconsiders this owner's calls at gates of other kinds on this key. */
  reconsiderBeside(owner: UnitOfWork): void
  /** Frees the lock on the server after all. */
  free(tenure: Tenure): Promise<boolean>
  /** No call waits, or the contest is over for now. */
  rested(): void
}

/** The gate of a lock whose waiters stand in a line on the server. */
export interface LineHost extends GateHost {
  /** Whether the lock is held here under this wire name. */
  has(wire: string): boolean
  /** Keeps the gate while the step runs. */
  staying<T>(step: () => Promise<T>): Promise<T>
  /** Later owners of this tenure leave the line on the server. */
  leaveLine(tenure: Tenure): void
}
