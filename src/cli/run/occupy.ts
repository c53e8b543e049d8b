import type { Client } from '../../api/client.js'
import type { Learned } from './child-environment.js'

/** What is held while the command runs: a lock, a permit or a slot. */
export interface Grip {
  /** What the command learns of it, in its environment. */
  readonly env: Learned
  /** Fires when the hold is lost. */
  readonly signal: AbortSignal
  /** For how many ms it is certain. */
  remaining(): number
}

/** How the command was over. */
export interface Over {
  /** The exit code. */
  readonly code: number
  /** The command ended by itself, and what is held was not lost before. */
  readonly done: boolean
}

/** Acquires something, and holds it while `work` runs. Resolves to the exit code. `stop` ends the wait for it. */
export type Occupy = (client: Client, stop: AbortSignal, work: (grip: Grip) => Promise<Over>) => Promise<number>
