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
