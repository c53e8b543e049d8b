import type { Scenario } from '../measure/bench.js'
import { columnsFor, compared, timesAsFast } from '../measure/columns.js'
import type { Load } from '../base/load.js'
import { type Figures, type Row, type Target, findRow, format, medians, target } from '../base/result.js'
import { runRounds } from '../measure/rounds.js'
import { switchFloor } from '../measure/process-switch.js'

const PROCESSES = 4
const LENGTHS = [32, 1000, 10_000] as const
const SCHEME = "Redisson's scheme"
/** Who needs longer to serve the whole line once is marked, s. */
const LONG = 60

const whole = (value: number): string => format(value, 0)

const loadOf = (waiting: number): Load => ({
  ...{ kind: 'fairLock', engine: 'redis', names: 'one', holdMs: 0 },
  ...{ processes: PROCESSES, callers: waiting / PROCESSES, endless: waiting > 32 },
})

const marked = (row: Row, waiting: number): Row => {
  const round = waiting / (row.cells['rate'] ?? Infinity)
  return {
    ...row,
    participant: `${whole(waiting)}: ${row.participant}`,
    ...(round > LONG && row.note === undefined && { note: `the whole line would take ${whole(round)} s` }),
  }
}

const comparison = (rows: readonly Row[], waiting: number, atLeast: number): Target[] =>
  [
    { other: SCHEME, least: atLeast },
    { other: 'Redisson', least: 1 },
  ].map(({ other, least }) =>
    target(
      `${whole(waiting)} waiting: ≥ ${least} × ${other}`,
      timesAsFast(rows, 'holdfast', other),
      (value) => value >= least,
    ),
  )

export const f: Scenario = {
  id: 'f',
  title: 'F: one fair lock, 32, 1,000 and 10,000 waiters in 4 processes, no hold time',
  headline: { what: 'waiters in 4 processes, fair: hand-offs/s', key: 'rate', digits: 0, of: '1,000: ' },
  about: {
    measures:
      'How fast a fair lock goes from one to the next, and whether that depends on how many wait. Each is inside for one turn ' +
      'of the microtask queue at least. With 1,000 and more the lock is kept until all of them stand in the line, and is then ' +
      'measured for some seconds; nobody waits for the end of that line, its processes are killed and made anew in each round. ' +
      'The ratio is to the steps of Redisson alone, in the same round. The floor: two processes send each other a message, in turns.',
    differs:
      'Whoever takes the lock in the way of Redisson subtracts the allowance from the deadline of each one who waits: the ' +
      'more wait, the longer it takes. holdfast touches nobody but the next one. In Java each waiter is a thread.',
    misleads:
      'Nobody holds a lock for no time: it is the overhead alone. 10,000 threads are no usual Java program; most of them ' +
      'sleep. Waits are only those that began and ended within the seconds that count. Who is too slow to serve the ' +
      'whole line within a minute is marked: its figure is of the first hand-offs, of the full line.',
  },
  needsServer: true,
  async run(bench) {
    const floor: Figures[] = []
    const rows: Row[] = []
    const targets: Target[] = []
    const rates: number[] = []
    for (const waiting of LENGTHS) {
      bench.log(`  ${whole(waiting)} waiting`)
      const beside = async (): Promise<void> => {
        const relay = { processes: 2, holdMs: 0, by: 'message' } as const
        floor.push(await switchFloor(bench.server!.redis.url, bench.quick ? 2000 : 10_000, relay))
      }
      const alone = bench.quick && waiting === LENGTHS[2]
      const plan = {
        ...{ load: loadOf(waiting), seconds: 4 },
        ...(waiting === LENGTHS[0] && { beside }),
        ...(alone && { who: ['holdfast'] }),
      }
      const measured = await runRounds(bench, plan)
      const scheme = findRow(measured, SCHEME)
      rows.push(
        ...compared(measured, (_row, round) => scheme?.rounds['rate']?.[round]).map((row) => marked(row, waiting)),
      )
      rates.push(findRow(measured, 'holdfast')?.cells['rate'] ?? NaN)
      if (!alone) targets.push(...comparison(measured, waiting, waiting === 32 ? 3 : 10))
    }
    const flat = rates.at(-1)! / rates[0]!
    const least: Row = { participant: 'floor: a message each time', family: 'floor', version: '', ...medians(floor) }
    return {
      columns: columnsFor('hand-off', SCHEME),
      rows: [...rows.filter(({ note }) => note?.startsWith('cannot') !== true), least],
      targets: [...targets, target('10,000 waiting: ≥ 0.7 × with 32', flat, (value) => value >= 0.7)],
    }
  },
}
