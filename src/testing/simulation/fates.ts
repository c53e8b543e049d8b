import type { MessageFault, RequestFault } from './faults.js'
import type { Arg } from '../../lua/values.js'

/** What becomes of one command: how long it takes there and back, and what goes wrong. */
export interface Fate {
  readonly there: number
  readonly back: number
  readonly fault?: RequestFault | undefined
  /** Of `refused`. */
  readonly refusal: string
  /** Whether it still arrives when the connection is cut while it is on its way. */
  readonly arrivesAnyway: boolean
}

export interface MessageFate {
  readonly delay: number
  readonly fault?: MessageFault | undefined
}

/** A command that was sent and is not answered. */
export interface Flight {
  /** The script's name, or the command. */
  readonly op: string
  /** The text of a script whose SHA the server did not know. */
  readonly again: boolean
  readonly keys: readonly string[]
  readonly args: readonly Arg[]
  readonly sentAt: number
}
