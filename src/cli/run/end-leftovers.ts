import { setTimeout as sleep } from 'node:timers/promises'
import { type Processes, terminate } from './processes.js'

/** How long the processes that the command leaves behind may take to end by themselves, ms: one that writes the last lines of a log, for example. */
const LINGER = 1000
/** How often they are looked at, ms: seldom, if they take long, because a look reads the table of all processes. */
const LOOK = { first: 20, last: 250 }
/** How long KILL is tried. */
const LAST = 5000

export interface LeftoversOptions {
  readonly processes: Pick<Processes, 'send' | 'alive'>
  /** ms from TERM to KILL. */
  readonly grace: number
  /** Whether the hold is lost. Then the keeper sends the signals. */
  readonly ending: () => boolean
  readonly say: (text: string) => void
}

const empty = async (processes: Pick<Processes, 'alive'>, ms: number): Promise<boolean> => {
  const since = performance.now()
  while (processes.alive) {
    const passed = performance.now() - since
    if (passed >= ms) return false
    const pause = Math.min(Math.max(passed / 10, LOOK.first), LOOK.last)
    await sleep(Math.min(pause, ms - passed))
  }
  return true
}

/** The command has ended. Resolves when none of the processes that it started works any more, so that the lock can be released. */
export const endLeftovers = async ({ processes, grace, ending, say }: LeftoversOptions): Promise<void> => {
  if (await empty(processes, LINGER)) return
  if (!ending()) {
    say('the command has ended, but processes that it started have not: ending them')
    terminate(processes)
  }
  if (await empty(processes, grace)) return
  processes.send('SIGKILL')
  if (!(await empty(processes, LAST))) say('processes that the command started do not end, not even by SIGKILL')
}
