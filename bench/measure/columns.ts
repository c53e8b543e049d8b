import { type Column, type Row, bestOf, findRow } from '../base/result.js'
import { median, spread } from '../base/stats.js'

const RATE = (unit: string): Column[] => [
  { key: 'rate', title: unit, digits: 0 },
  { key: 'spread', title: '± %', digits: 1 },
]
const WAITS: readonly Column[] = [
  { key: 'p50', title: 'wait p50 ms', digits: 3 },
  { key: 'p99', title: 'p99', digits: 3 },
  { key: 'p999', title: 'p99.9', digits: 2 },
  { key: 'max', title: 'max', digits: 2 },
]
/** For each of what is counted. */
const COSTS: readonly Column[] = [
  { key: 'clientCpu', title: 'client µs', digits: 1 },
  { key: 'serverCpu', title: 'server µs', digits: 1 },
  { key: 'requests', title: 'requests each', digits: 2 },
  { key: 'commands', title: 'commands each', digits: 2 },
]

/** Of a table that compares rates: `one` is what is counted. */
export const columnsFor = (one: string, ratioTo?: string, more: readonly Column[] = []): Column[] => [
  ...RATE(`${one}s/s`),
  ...(ratioTo === undefined ? [] : [{ key: 'ratio', title: `× ${ratioTo}`, digits: 2 }]),
  ...WAITS,
  ...COSTS,
  ...more,
]

/** Adds the spread, and the ratio to a floor: round by round, so that what slows both leaves it alone. */
export const compared = (rows: readonly Row[], floor: (row: Row, round: number) => number | undefined): Row[] =>
  rows.map((row) => {
    const rates = row.rounds['rate'] ?? []
    if (rates.length === 0) return row
    const ratios = rates.map((rate, round) => rate / (floor(row, round) ?? NaN)).filter((ratio) => !Number.isNaN(ratio))
    return {
      ...row,
      cells: { ...row.cells, spread: 100 * spread(rates), ...(ratios.length > 0 && { ratio: median(ratios) }) },
      rounds: { ...row.rounds, ...(ratios.length > 0 && { ratio: ratios }) },
    }
  })

export const bestRaw = (rows: readonly Row[]): Row | undefined => bestOf(rows, (family) => family === 'raw', 'rate')

export const bestPeer = (rows: readonly Row[]): Row | undefined =>
  bestOf(rows, (family) => family !== 'raw' && family !== 'holdfast', 'rate')

/** How many times as fast as another one, round by round. */
export const timesAsFast = (rows: readonly Row[], one: string, other: string): number | undefined => {
  const [rates, others] = [one, other].map((name) => findRow(rows, name)?.rounds['rate'] ?? [])
  const ratios = rates!.flatMap((rate, round) => (others![round] === undefined ? [] : [rate / others![round]]))
  return ratios.length > 0 ? median(ratios) : undefined
}

/** Against the faster of the raw settings. */
export const comparedWithRaw = (rows: readonly Row[]): Row[] => {
  const raw = bestRaw(rows)
  return compared(rows, (_row, round) => raw?.rounds['rate']?.[round])
}

/**
 * Against what one contended lock can do at most when each hand-over takes one round trip: places / (hold + trip). The trip
 * is one for all of a round, the median of theirs: it is measured before each slot, and differs more from one to the next
 * than what is compared.
 */
export const comparedWithIdeal = (rows: readonly Row[], places = 1): Row[] => {
  const tripOf = (round: number): number =>
    median(rows.flatMap(({ rounds }) => (rounds['trip']?.[round] === undefined ? [] : [rounds['trip'][round]])))
  return compared(rows, ({ rounds }, round) => (1000 * places) / (rounds['hold']![round]! + tripOf(round)))
}
