import type { Arg } from '../../lua/values.js'
import type { MessageFault, RequestFault } from './faults.js'

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

/** A command, as what goes wrong and whoever watches see it. */
export interface Command {
  /** The script's name, or the command. */
  readonly op: string
  /** The text of a script whose SHA the server did not know. */
  readonly again: boolean
  readonly keys: readonly string[]
  readonly args: readonly Arg[]
}

/** One that was sent and is not answered. */
export interface Flight extends Command {
  readonly sentAt: number
}

/** `scripts`: the name of each by its SHA and by its text. */
export const commandOf = (argv: readonly Arg[], scripts: ReadonlyMap<string, string>): Command => {
  const [command, script, count] = argv as [string, string, number]
  if (command !== 'EVALSHA' && command !== 'EVAL') {
    return { op: command.toLowerCase(), again: false, keys: [], args: argv.slice(1) }
  }
  return {
    op: scripts.get(script) ?? 'unknown script',
    again: command === 'EVAL',
    keys: argv.slice(3, 3 + count) as string[],
    args: argv.slice(3 + count),
  }
}
