import { type Row, findRow, format, inEveryRow, target } from '../base/result.js'
import { median } from '../base/stats.js'
import { atDistance } from '../measure/at-distance.js'
import type { Bench, Scenario } from '../measure/bench.js'
import { compared, comparedWithIdeal } from '../measure/columns.js'
import { runRounds } from '../measure/rounds.js'
import { measured } from './p/measured.js'
import { SORTS } from './p/trials.js'

/** ms of a round trip: to another zone, and to another region nearby. */
const DISTANCES = [0.5, 5] as const
const FAR = 5
const HOLD = 2
/** Of a trip: two processes must wake up, too. */
const WAKING = 0.1
/** Within so much two are as good as each other. */
const ALIKE = 1.03

const one = { kind: 'lock', engine: 'redis', processes: 1, callers: 1, names: 'each', holdMs: 0 } as const
const four = { ...one, processes: 4, callers: 8, names: 'one', holdMs: HOLD } as const
const CROWD = { sort: SORTS[0]!, clients: 16, holdMs: 5 }

/** What is measured at each distance. */
type Case = 'alone' | 'C' | 'CF' | 'P'
const CASES: readonly Case[] = ['alone', 'C', 'CF', 'P']

const nameOf = (name: Case, ms: number): string => `${name}, ${ms} ms: `

/** A pair is a request and its reply, twice. */
const alone = async (bench: Bench): Promise<Row[]> => {
  const trips: number[] = []
  const beside = async (): Promise<void> => void trips.push(await bench.server!.meter.trip())
  const rows = await runRounds(bench, { load: one, seconds: 2, quick: 1, beside })
  const named = rows.map((row) => ({
    ...row,
    cells: { ...row.cells, trips: row.cells['turns'] ?? NaN, trip: median(trips) },
  }))
  return compared(named, (_row, round) => 1000 / (2 * trips[round]!))
}

/** How many trips a lock lies idle for each hold, and from one process to the next. */
const withTrips = (row: Row): Row => {
  const { rate = NaN, hold = NaN, trip = NaN, gap = NaN } = row.cells
  return { ...row, cells: { ...row.cells, idle: (1000 / rate - hold) / trip, trips: gap / trip } }
}

const rowsOf = async (bench: Bench, name: Case): Promise<Row[]> => {
  if (name === 'alone') return alone(bench)
  if (name === 'P') {
    const rows = await measured(bench, CROWD, { seconds: bench.quick ? 2 : 6 })
    return rows.map((row) => withTrips({ ...row, participant: row.participant.split(': ').at(-1)! }))
  }
  const load = name === 'C' ? four : { ...four, kind: 'fairLock' as const }
  return comparedWithIdeal(await runRounds(bench, { load, seconds: 4, quick: 1 })).map(withTrips)
}

const isPeer = ({ family, note }: Row): boolean => !['holdfast', 'raw'].includes(family) && note !== 'VIOLATED'

/** Where a peer needs fewer trips than we do. */
const fewerTrips = (rows: readonly Row[], names: readonly string[]): string[] =>
  names.flatMap((name) => {
    const ours = findRow(rows, `${name}holdfast`)?.cells['trips'] ?? NaN
    const peers = rows.filter((row) => row.participant.startsWith(name) && isPeer(row))
    return peers.filter(({ cells }) => ALIKE * cells['trips']! < ours).map(({ participant }) => participant)
  })

const tripsOf = ({ cells }: Row): number => cells['trips'] ?? NaN
const inTrips = (row: Row): string => `${format(tripsOf(row), 2)} trips`

export const n: Scenario = {
  id: 'n',
  title: 'N: a server at a distance: a pair alone, C, CF and P with round trips of 0.5 and 5 ms',
  headline: { what: 'acquisitions/s', key: 'rate', digits: 0, of: `C, ${FAR} ms: ` },
  about: {
    measures:
      'A process between the callers and the server delays each byte by half of a round trip, in both directions, in order. *Alone* is U1: *trips* is how often ' +
      'the caller sent something after everything before it was answered, counted there, for each pair; ideal is a pair in two trips. ' +
      'C and CF are 4 processes × 8 callers with a hold of 2 ms, P is 16 clients with one caller each and a hold of 5 ms. There, *trips* is from the ' +
      'release in one process to having the lock in another one, the median, and *idle* the time between two holds, of the same process or of two, the mean; both in measured ' +
      'round trips. Ideal is 1 / (measured hold + one measured round trip).',
    differs:
      'At a distance the languages, and how much CPU a library takes, make no difference: trips are what is left. A lock that is granted by the server takes half a ' +
      'trip for the release and half for the message. One whose release only wakes the next caller takes a whole trip more. Who polls sends its question before ' +
      'the release, and meets it by luck.',
    misleads:
      'The measured round trip is a little longer than the one that was asked for, by what the delaying process takes. Opening a connection is not delayed. A network also ' +
      'loses packets, and its trips differ. Passing on within a process takes no trip at all, which *idle* and the ratio show, and *trips* does not. ' +
      'The delaying process looks at the clock all the time while something is under way, so it takes a core from the others.',
  },
  needsServer: true,
  async run(bench) {
    const rows: Row[] = []
    const pairs = CASES.flatMap((name) => DISTANCES.map((ms) => [name, ms] as const))
    const chosen = pairs.filter(([name, ms]) => nameOf(name, ms).startsWith(bench.only ?? ''))
    for (const [name, ms] of chosen) {
      bench.log(`  ${nameOf(name, ms)}`)
      await bench.server!.meter.clear()
      const some = await atDistance(bench, ms, (far) => rowsOf(far, name))
      rows.push(...some.map((row) => ({ ...row, participant: `${nameOf(name, ms)}${row.participant}` })))
    }
    const names = chosen.map(([name, ms]) => nameOf(name, ms))
    const ours = (wanted: (name: Case, ms: number) => boolean): Row[] =>
      chosen.flatMap(([name, ms]) => (wanted(name, ms) ? (findRow(rows, `${nameOf(name, ms)}holdfast`) ?? []) : []))
    const fewer = fewerTrips(rows, names)
    return {
      columns: [
        { key: 'rate', title: 'pairs/s', digits: 1 },
        { key: 'ratio', title: '× ideal', digits: 2 },
        { key: 'trips', title: 'trips', digits: 2 },
        { key: 'idle', title: 'idle', digits: 2 },
        { key: 'requests', title: 'requests each', digits: 2 },
        { key: 'commands', title: 'commands each', digits: 2 },
        { key: 'p50', title: 'wait p50 ms', digits: 1 },
        { key: 'p99', title: 'p99', digits: 1 },
        { key: 'hold', title: 'hold ms', digits: 2 },
        { key: 'trip', title: 'trip ms', digits: 2 },
      ],
      rows,
      targets: [
        inEveryRow(
          'a pair alone ≤ 2 trips',
          ours((name) => name === 'alone'),
          { off: tripsOf, limit: 2.005, shown: inTrips },
        ),
        inEveryRow(
          `a hand-off at ${FAR} ms ≤ 1 trip after the release, and ${WAKING} of one to wake up`,
          ours((name, ms) => name !== 'alone' && ms === FAR),
          { off: tripsOf, limit: 1 + WAKING, shown: inTrips },
        ),
        target(
          `C at ${FAR} ms ≥ 0.95 × ideal`,
          findRow(rows, `${nameOf('C', FAR)}holdfast`)?.cells['ratio'],
          (ratio) => ratio >= 0.95,
        ),
        {
          text: 'no peer with fewer trips in any row',
          measured: fewer.join('; ') || 'none',
          reached: fewer.length === 0,
        },
      ],
    }
  },
}
