import { median } from './stats.js'

/** What a scenario gives: kept as JSON, shown as a table. */
export interface Column {
  readonly key: string
  readonly title: string
  readonly digits: number
}

export interface Row {
  readonly participant: string
  readonly family: string
  readonly version: string
  /** Medians over the rounds, by the key of the column. */
  readonly cells: Readonly<Record<string, number>>
  /** Each round's own. */
  readonly rounds: Readonly<Record<string, readonly number[]>>
  /** "cannot: …", "failed: …", "VIOLATED" */
  readonly note?: string
}

/** What was measured in one round. */
export type Figures = Record<string, number>

export const medians = (figures: readonly Figures[]): Pick<Row, 'cells' | 'rounds'> => {
  const keys = Object.keys(figures[0] ?? {})
  const rounds = Object.fromEntries(keys.map((key) => [key, figures.map((round) => round[key]!)]))
  return { cells: Object.fromEntries(keys.map((key) => [key, median(rounds[key]!)])), rounds }
}

export interface Target {
  readonly text: string
  readonly measured: string
  readonly reached: boolean
}

/** For the reader: what it is, and how not to read it. */
export interface About {
  readonly measures: string
  readonly differs: string
  readonly misleads: string
}

/** What is kept of a row, and shown: the rounds are for this run only. */
export type KeptRow = Omit<Row, 'rounds'>

export interface KeptResult extends Omit<Result, 'rows'> {
  readonly rows: readonly KeptRow[]
}

export interface Result {
  readonly id: string
  readonly title: string
  readonly about: About
  readonly columns: readonly Column[]
  readonly rows: readonly Row[]
  readonly targets: readonly Target[]
  readonly conditions: Conditions
  /** The last runs before this one, the latest first. */
  readonly earlier?: readonly Earlier[]
}

/** What a run measured, by the places of its targets. */
export interface Earlier {
  readonly date: string
  readonly measured: readonly string[]
}

export interface Conditions {
  readonly date: string
  readonly quick: boolean
  readonly rounds: number
  readonly node: string
  readonly server?: string
  readonly platform: string
  readonly cpu: string
  readonly cores: number
  /** Load average of the last minute before it began: other work on the machine disturbs. */
  readonly load: number
}

export const format = (value: number, digits: number): string =>
  value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })

export const findRow = (rows: readonly Row[], participant: string): Row | undefined =>
  rows.find((row) => row.participant === participant)

/** The best row of a family by one column. */
export const bestOf = (rows: readonly Row[], family: (name: string) => boolean, key: string): Row | undefined =>
  rows
    .filter((row) => family(row.family) && row.cells[key] !== undefined)
    .reduce<Row | undefined>(
      (best, row) => (best === undefined || row.cells[key]! > best.cells[key]! ? row : best),
      undefined,
    )

export const target = (
  text: string,
  value: number | undefined,
  reached: (value: number) => boolean,
  shown: (value: number) => string = (one) => format(one, 2),
): Target => ({
  text,
  measured: value === undefined || Number.isNaN(value) ? 'not measured' : shown(value),
  reached: value !== undefined && reached(value),
})

/** What all rows of a table should be. */
export interface Aim {
  /** How far a row is from what it should be: at most `limit` is good. */
  readonly off: (row: Row) => number
  readonly limit: number
  readonly shown: (row: Row) => string
}

/** Tells the worst. A row that failed misses it, as does one of which it cannot be told: then somebody never had it. */
export const inEveryRow = (text: string, rows: readonly Row[], { off, limit, shown }: Aim): Target => {
  const judged = rows.filter(({ note }) => note?.startsWith('cannot: ') !== true)
  const missed = judged.filter((row) => !(off(row) <= limit)).length
  const [worst] = judged.filter((row) => off(row) > -Infinity).sort((one, other) => off(other) - off(one))
  const measured = worst && `${shown(worst)} (${worst.participant}); ${missed} of ${judged.length} rows missed`
  return { text, measured: measured ?? 'not measured', reached: worst !== undefined && missed === 0 }
}
