import { promisesAlone } from '../measure/promises-alone.js'
import type { Scenario } from '../measure/bench.js'
import { columnsFor, compared } from '../measure/columns.js'
import { type Figures, type Row, findRow, format, medians, target } from '../base/result.js'
import { runRounds } from '../measure/rounds.js'

const SECONDS = 2

export const h: Scenario = {
  id: 'h',
  title: 'H: one lock, one process × 256 waiters, no hold time',
  headline: { what: 'one lock, 256 callers of one process: hand-offs/s', key: 'rate', digits: 0 },
  about: {
    measures:
      'How fast one lock goes round 256 callers of one process that ask for it again at once. Each is inside for one turn ' +
      'of the microtask queue, so that a second one inside would be seen.',
    differs:
      'A lock that passes on within the process need not ask the server each time, while its lease is fresh; one without ' +
      'a queue in the process, such as redis-semaphore, sends each attempt of each waiter to the server.',
    misleads:
      'It says nothing of hand-overs between processes (see C). Nobody holds a lock for no time: it is the overhead alone. ' +
      'node-redisson loses wake-ups where several callers of one process wait: they sleep until the end, and are counted.',
  },
  needsServer: true,
  async run(bench) {
    const load = { kind: 'lock', engine: 'redis', processes: 1, callers: 256, names: 'one', holdMs: 0 } as const
    const floors: Figures[] = []
    const beside = async (): Promise<void> => void floors.push(await promisesAlone(load, SECONDS))
    const measured = await runRounds(bench, { load, seconds: SECONDS, beside })
    const floor: Row = { participant: 'floor: promises alone', family: 'floor', version: '', ...medians(floors) }
    const rows = compared([...measured, floor], () => undefined)
    const cells = findRow(rows, 'holdfast')?.cells ?? {}
    const spread = floor.cells['p99']! / floor.cells['p50']!
    return {
      columns: columnsFor('hand-off'),
      rows,
      targets: [
        target(
          '≥ 100,000 hand-offs/s',
          cells['rate'],
          (value) => value >= 100_000,
          (value) => format(value, 0),
        ),
        target(
          `p99 wait ≤ 3 × the median (promises alone: ${format(spread, 1)} ×)`,
          cells['p99']! / cells['p50']!,
          (value) => value <= Math.max(3, spread),
        ),
      ],
    }
  },
}
