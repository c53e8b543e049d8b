import type { Scenario } from '../support/bench.js'
import { columnsFor, compared, timesAsFast } from '../support/columns.js'
import { target } from '../support/result.js'
import { runRounds } from '../support/rounds.js'

const PROCESSES = 4
const CALLERS = 8
const LOAD = {
  kind: 'writeLock',
  engine: 'redis',
  processes: PROCESSES,
  callers: CALLERS,
  names: 'one',
  holdMs: 1,
  places: PROCESSES * CALLERS,
  reads: 0.95,
} as const

export const rw: Scenario = {
  id: 'rw',
  title: 'RW: one read-write lock, 4 processes × 8 callers, 95 % reads, held for 1 ms',
  about: {
    measures:
      'Each of 32 callers reads 19 times of 20, and writes else. That writers are alone is checked from when each caller was ' +
      'inside, by the one clock of the machine; readers may be in together, and a round lasts as long as its slowest.',
    differs:
      'Readers of one process ask together in ours, each for itself in Redisson. In ours readers and writers take turns where ' +
      'both wait; in Redisson who comes first has it, and a writer waits for a gap between readers.',
    misleads:
      'The more the writers are starved, the more reads there are in a second: but each caller must have written before it ' +
      'reads on, so the writers’ waits bound the rate. Look at p99 and max. Eight threads of Redisson’s in each process ' +
      'block; ours do not. The CPU of the client includes the threads that sleep for the holds, alike for all.',
  },
  needsServer: true,
  async run(bench) {
    const rows = compared(await runRounds(bench, { load: LOAD, seconds: 4 }), () => undefined)
    return {
      columns: columnsFor('acquisition', undefined, [{ key: 'hold', title: 'hold ms', digits: 2 }]),
      rows,
      targets: [target('≥ 2 × Redisson', timesAsFast(rows, 'holdfast', 'Redisson'), (value) => value >= 2)],
    }
  },
}
