import type { Scenario } from '../support/bench.js'
import { columnsFor, compared } from '../support/columns.js'
import { type Figures, type Row, findRow, format, medians, target } from '../support/result.js'
import { runRounds } from '../support/rounds.js'
import { switchFloor } from '../support/switch.js'

const whole = (value: number): string => format(value, 0)

export const hf: Scenario = {
  id: 'hf',
  title: 'HF: one fair lock, one process × 256 waiters, no hold time',
  about: {
    measures:
      'As H, with the fair lock: how fast it goes round 256 callers of one process that ask for it again at once. Each is ' +
      'inside for one turn of the microtask queue, so that a second one inside would be seen. The floor: a process sends ' +
      'itself a message, and the next one when it has come.',
    differs:
      'All stand in a line on the server, where others could stand between them: the server decides who is next.',
    misleads: 'It says nothing of hand-overs between processes (see CF, F). Nobody holds a lock for no time.',
  },
  needsServer: true,
  async run(bench) {
    const load = { kind: 'fairLock', engine: 'redis', processes: 1, callers: 256, names: 'one', holdMs: 0 } as const
    const floors: Figures[] = []
    const beside = async (): Promise<void> => {
      const relay = { processes: 1, holdMs: 0, by: 'message' } as const
      floors.push(await switchFloor(bench.server!.redis.url, bench.quick ? 2000 : 10_000, relay))
    }
    const measured = await runRounds(bench, { load, seconds: 2, beside })
    const floor: Row = { participant: 'floor: a message each time', family: 'floor', version: '', ...medians(floors) }
    const rows = compared([...measured, floor], () => undefined)
    const cells = findRow(rows, 'holdfast')?.cells ?? {}
    const limit = Math.min(17_000, floor.cells['rate'] ?? Infinity)
    return {
      columns: columnsFor('hand-off'),
      rows,
      targets: [
        target(`≥ 17,000 hand-offs/s, or the floor: ${whole(limit)}`, cells['rate'], (value) => value >= limit, whole),
        target('p99 wait ≤ 3 × the median', cells['p99']! / cells['p50']!, (value) => value <= 3),
      ],
    }
  },
}
