import type { Flight } from './sent-command.js'
import type { Party } from './party.js'
import type { SimProcess } from './sim-process.js'
import type { Step } from './worker-program.js'
import type { Reply } from '../../lua/values.js'

/** Does the steps of a history's workers, watches everything, and says what should not have been. */
export interface Watch {
  /** How often somebody got what was asked for. */
  readonly grants: number
  /** What else there was, and how often. */
  readonly counts?: ReadonlyMap<string, number>
  /** One worker, from its first step to its last. */
  run(worker: string, process: SimProcess, steps: readonly Step[]): Promise<void>
  sent(process: Party, flight: Flight): void
  /** About to run on the server. */
  executing(flight: Flight): void
  executed(process: Party, flight: Flight, reply: Reply | Error): void
  /** After everything that happens. */
  check(): void
  /** Somebody outside took this, or deleted its keys. */
  taken(name: string, foreign?: boolean): void
  /** Whatever the server kept is gone. */
  wiped(): void
  /** The process is killed, or its client closed. */
  ended(process: SimProcess, killed: boolean): void
  /** Everybody is done, and nothing went wrong lately. */
  idle(): void
  /** The client of this process was closed in order. */
  closed(process: SimProcess): void
  /** All are closed, and all leases are over. `died`: some did not live to close in order. */
  gone(died: boolean): void
}
