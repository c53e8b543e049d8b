import type { Reported } from '../client/lock-events.js'
import type { UnitOfWork } from '../../base/owner.js'
import type { LockProtocol } from '../protocol/protocol.js'
import type { Runtime } from '../client/runtime.js'
import type { Tenure } from '../hold/tenure.js'
import type { Terms } from '../hold/terms.js'
import type { Waiter } from './waiter.js'
import type { Moment } from '../../base/clock.js'

/** The gate at which they wait. */
export interface GateHost extends Reported {
  readonly runtime: Runtime
  readonly protocol: LockProtocol
  /** Who holds it here, if anybody does. */
  readonly tenure: Tenure | undefined
  /** A call that came before anybody waited has not been answered yet. */
  readonly asks: boolean
  nextWire(): string
  /** The server has granted it. */
  begin(wire: string, terms: Terms, sent: Moment, from?: Tenure): Tenure
  /** Other calls of the owner that has it now. */
  enterAll(tenure: Tenure, others: readonly Waiter[]): void
  /** Its calls at gates of other kinds on this key. */
  reconsiderBeside(owner: UnitOfWork): void
  /** Frees it on the server after all. */
  free(tenure: Tenure): Promise<boolean>
  /** Nobody waits, or the contest is over for now. */
  rested(): void
}

/** The gate of a lock whose waiters stand in a line on the server. */
export interface LineHost extends GateHost {
  /** Whether it is held here under this name. */
  has(wire: string): boolean
  /** While the step is on its way, the gate stays. */
  staying<T>(step: () => Promise<T>): Promise<T>
  /** Those who had it after its first owner have no place in the line any more. */
  leaveLine(tenure: Tenure): void
}
