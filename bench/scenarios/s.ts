import type { Scenario } from '../measure/bench.js'
import { columnsFor, comparedWithIdeal } from '../measure/columns.js'
import { findRow, target } from '../base/result.js'
import { runRounds } from '../measure/rounds.js'

const PERMITS = 4
const LOAD = {
  kind: 'semaphore',
  engine: 'redis',
  processes: 4,
  callers: 8,
  names: 'one',
  holdMs: 2,
  places: PERMITS,
} as const

export const s: Scenario = {
  id: 's',
  title: 'S: one semaphore of 4 permits, 4 processes × 8 waiters, held for 2 ms',
  headline: { what: 'semaphore of 4, 32 callers, 2 ms: acquisitions/s', key: 'rate', digits: 0 },
  about: {
    measures:
      'All 32 callers want one of 4 permits, all the time. The ratio is to 4 / (measured hold + one measured round trip). That ' +
      'never more than 4 are inside is checked from when each caller was, by the one clock of the machine. What matters ' +
      'beside the rate is how many requests an acquisition takes: whether each permit that is given back wakes all who wait.',
    differs:
      'redis-semaphore polls (every 1 ms here): it wakes nobody and queues nobody, and each permit of it has a lease that is ' +
      'refreshed. Ours and Redisson’s have none: what a process that dies has taken stays taken, unless the permits have ids.',
    misleads:
      'Passing permits on within a process raises the rate at the price of the order between processes: look at p99 and max. ' +
      'A permit that goes to another process goes through the server, there and back, and somebody is woken: see the floor of C. ' +
      'A round trip is measured with nothing else running. Eight threads of Redisson’s in each process block; ours do not. ' +
      'The CPU of the client includes the threads that sleep for the holds, alike for all.',
  },
  needsServer: true,
  async run(bench) {
    const rows = comparedWithIdeal(await runRounds(bench, { load: LOAD, seconds: 4 }), PERMITS)
    const cells = findRow(rows, 'holdfast')?.cells ?? {}
    return {
      columns: columnsFor('acquisition', '4 × ideal', [
        { key: 'hold', title: 'hold ms', digits: 2 },
        { key: 'trip', title: 'trip ms', digits: 3 },
      ]),
      rows,
      targets: [
        target('≥ 0.90 × (4 × ideal)', cells['ratio'], (value) => value >= 0.9),
        target('requests per acquisition ≤ 3', cells['requests'], (value) => value <= 3),
      ],
    }
  },
}
