import { openSync, readFileSync, writeSync } from 'node:fs'
import type { CallEvent, CallStep } from 'holdfast/testing'

/** ms on the machine's monotonic clock: the same for all of its processes. */
export const machineTime = (): number => Number(process.hrtime.bigint()) / 1e6

interface Details {
  readonly lease?: number
  readonly until?: number
  /** Of an unwelcome end: why. */
  readonly why?: string
  /** Of a grant: the owner as the server knows it. */
  readonly wire?: string | undefined
}

/** Whose step it is, and what else is to be said of it. */
export interface Told extends Details {
  readonly call: number
  readonly lock: string
}

type Line = [at: number, what: CallStep, call: number, lock: string, details: Details]

/** Where a process tells what it does: each line is on its way to the disk before the step is taken. */
export class Log {
  readonly #file: number

  constructor(path: string) {
    this.#file = openSync(path, 'a')
  }

  tell(at: number, what: CallStep, { call, lock, ...details }: Told): void {
    const line: Line = [at, what, call, lock, details]
    writeSync(this.#file, `${JSON.stringify(line)}\n`)
  }
}

/** What a process told. A line that it died in the middle of is left out. */
export const readLog = (
  path: string,
  process: string,
): (CallEvent & { readonly why?: string; readonly wire?: string | undefined })[] => {
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1)
  return lines.map((text) => {
    const [at, what, call, name, details] = JSON.parse(text) as Line
    return { at, what, process, call: `${process}/${call}`, name, ...details }
  })
}
