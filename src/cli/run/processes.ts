import { codeOf } from '../../thrown.js'
import { descendantsOf, processTable, type Row } from './process-table.js'

/** What a signal is sent to. */
export interface Target {
  readonly pid: number
  /** The command leads a process group of its own. Otherwise it is in the group of the terminal, with processes that are not its own. */
  readonly group: boolean
}

/** False: there is no such process or group any more. */
const kill = (pid: number, signal: NodeJS.Signals | 0): boolean => {
  try {
    process.kill(pid, signal)
    return true
  } catch (error) {
    // EPERM: it is there, but belongs to another user.
    return codeOf(error) === 'EPERM'
  }
}

/** Asks them to end. A stopped process hears nothing before it continues. */
export const terminate = (processes: Pick<Processes, 'send'>): void => {
  processes.send('SIGTERM')
  processes.send('SIGCONT')
}

/** In a container whose first process collects no children, they stay for ever. */
const onlyZombies = (group: number): boolean => {
  const rows = processTable()
  return rows.some((row) => row.group !== undefined) && !rows.some((row) => row.group === group)
}

/** The command and the processes that it started. */
export class Processes {
  readonly #target: Target
  /** In a terminal: those seen so far. If their parent ends, nothing else leads to them. */
  readonly #seen = new Map<number, Row>()
  #commandEnded = false

  constructor(target: Target) {
    this.#target = target
  }

  get target(): Target {
    return this.#target
  }

  /** To all of them. */
  send(signal: NodeJS.Signals): void {
    const { pid, group } = this.#target
    if (group) {
      kill(-pid, signal)
      return
    }
    for (const one of this.#commandEnded ? this.#alive() : [pid, ...this.#alive()]) kill(one, signal)
  }

  /** From now on, its id may belong to another process. */
  commandEnded(): void {
    this.#commandEnded = true
  }

  /** To the command alone. */
  sendToCommand(signal: NodeJS.Signals): void {
    if (!this.#commandEnded) kill(this.#target.pid, signal)
  }

  /** Whether any of them is left. In a terminal, only those count that a signal was sent to, and what they have started since. */
  get alive(): boolean {
    const { pid, group } = this.#target
    if (group) return kill(-pid, 0) && !onlyZombies(pid)
    return (!this.#commandEnded && kill(pid, 0)) || (this.#seen.size > 0 && this.#alive().length > 0)
  }

  #alive(): number[] {
    const rows = processTable()
    const now = new Map(rows.map((row) => [row.pid, row]))
    for (const [pid, { start }] of this.#seen) if (now.get(pid)?.start !== start) this.#seen.delete(pid)
    const roots = this.#commandEnded ? [] : [this.#target.pid]
    for (const root of [...roots, ...this.#seen.keys()])
      for (const row of descendantsOf(rows, root)) this.#seen.set(row.pid, row)
    return [...this.#seen.keys()]
  }
}
