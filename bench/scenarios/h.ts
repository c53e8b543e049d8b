import type { Scenario } from '../support/bench.js'
import { columnsFor, compared } from '../support/columns.js'
import { findRow, format, target } from '../support/result.js'
import { runRounds } from '../support/rounds.js'

export const h: Scenario = {
  id: 'h',
  title: 'H: one lock, one process × 256 waiters, no hold time',
  about: {
    measures:
      'How fast one lock goes round 256 callers of one process that ask for it again at once. Each is inside for one turn ' +
      'of the microtask queue, so that a second one inside would be seen.',
    differs:
      'A lock that passes on within the process need not ask the server each time, while its lease is fresh; one without ' +
      'a queue in the process, such as redis-semaphore, sends each attempt of each waiter to the server.',
    misleads:
      'It says nothing of hand-overs between processes (see C). Nobody holds a lock for no time: it is the overhead alone.',
  },
  needsServer: true,
  async run(bench) {
    const load = { kind: 'lock', engine: 'redis', processes: 1, callers: 256, names: 'one', holdMs: 0 } as const
    const rows = compared(await runRounds(bench, { load, seconds: 2 }), () => undefined)
    const cells = findRow(rows, 'holdfast')?.cells ?? {}
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
        target('p99 wait ≤ 3 × the median', cells['p99']! / cells['p50']!, (value) => value <= 3),
      ],
    }
  },
}
