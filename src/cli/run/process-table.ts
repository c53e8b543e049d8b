import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

/** A process of this machine. */
export interface Row {
  readonly pid: number
  readonly parent: number
  /** When it was started, as the system writes it: a later process with the same id has another one. */
  readonly start: string
  /** Its process group, if the system says it here. */
  readonly group?: number
}

/** A zombie, and one that is about to disappear. */
const ENDED: readonly string[] = ['Z', 'X']

/** One line of Linux's /proc/PID/stat. The name of the program is in parentheses, and may hold any characters. Undefined: it has ended. */
export const rowOfStat = (text: string): Row | undefined => {
  const end = text.lastIndexOf(')')
  const pid = parseInt(text, 10)
  const rest = text.slice(end + 2).split(' ')
  const [state = '', parent, group] = [rest[0], Number(rest[1]), Number(rest[2])]
  const start = rest[19]
  if (end === -1 || Number.isNaN(pid) || Number.isNaN(parent) || start === undefined) return undefined
  return ENDED.includes(state) ? undefined : { pid, parent, start, group }
}

/** One line of `ps -o pid=,ppid=,lstart=`. */
export const rowOfPs = (line: string): Row | undefined => {
  const [, pid, parent, start] = /^\s*(\d+)\s+(\d+)\s+(.*\S)/.exec(line) ?? []
  return start === undefined ? undefined : { pid: Number(pid), parent: Number(parent), start }
}

const statOf = (pid: string): Row | undefined => {
  try {
    return rowOfStat(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    // It has ended since the folder was read.
    return undefined
  }
}

const listed = (): readonly (Row | undefined)[] => {
  if (process.platform === 'linux') {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(statOf)
  }
  const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,ppid=,lstart='], { encoding: 'latin1' }) as { stdout?: string }
  return (stdout ?? '').split('\n').map(rowOfPs)
}

/** All processes of this machine; none if they cannot be listed. */
export const processTable = (): Row[] => {
  try {
    return listed().filter((row) => row !== undefined)
  } catch {
    return []
  }
}

/** The processes that the process `root` started, and those that they started. */
export const descendantsOf = (rows: readonly Row[], root: number): Row[] => {
  const found: Row[] = []
  const parents = new Set([root])
  // A table may list a child before its parent. Each pass goes one generation further, at least.
  for (let before = -1; before !== found.length;) {
    before = found.length
    for (const row of rows) {
      if (!parents.has(row.parent) || parents.has(row.pid)) continue
      parents.add(row.pid)
      found.push(row)
    }
  }
  return found
}
