import type { Fault } from './faults.js'
import type { Machine } from './machine.js'
import type { SimDriver } from './network.js'

/** Whoever takes part in a history, on a machine and a connection of its own: things can go wrong with it. */
export interface Party {
  readonly name: string
  readonly plan: { readonly watchdog: number; readonly commandTimeout: number }
  readonly machine: Machine
  readonly driver: SimDriver
  readonly living: boolean
  /** Where it is: the commands on their way, whether somebody waits, whether somebody holds. */
  points(): string[]
  /** What goes wrong from now on may be due to this. */
  troubled(fault: Fault, ms: number): void
  /** Ends one of the calls that wait. False: there is none. */
  abortSomething(): boolean
  stepWall(ms: number): void
  close(release: boolean): Promise<void>
  kill(): void
}
