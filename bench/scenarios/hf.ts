import { promisesAlone } from '../measure/promises-alone.js'
import type { Scenario } from '../measure/bench.js'
import { columnsFor, compared } from '../measure/columns.js'
import { type Figures, type Row, findRow, format, medians, target } from '../base/result.js'
import { runRounds } from '../measure/rounds.js'
import { switchFloor } from '../measure/process-switch.js'

const SECONDS = 2

const whole = (value: number): string => format(value, 0)

export const hf: Scenario = {
  id: 'hf',
  title: 'HF: one fair lock, one process × 256 waiters, no hold time',
  headline: { what: 'the same, fair: hand-offs/s', key: 'rate', digits: 0 },
  about: {
    measures:
      'As H, with the fair lock: how fast it goes round 256 callers of one process that ask for it again at once. Each is ' +
      'inside for one turn of the microtask queue, so that a second one inside would be seen. Two floors: a process sends ' +
      'itself a message, and the next one when it has come; and a queue of promises, which is how those go from hand to hand ' +
      'who stand together in the line.',
    differs:
      'All stand in a line on the server, where others could stand between them: the server decides who is next.',
    misleads: 'It says nothing of hand-overs between processes (see CF, F). Nobody holds a lock for no time.',
  },
  needsServer: true,
  async run(bench) {
    const load = { kind: 'fairLock', engine: 'redis', processes: 1, callers: 256, names: 'one', holdMs: 0 } as const
    const floors: Figures[] = []
    const alone: Figures[] = []
    const beside = async (): Promise<void> => {
      const relay = { processes: 1, holdMs: 0, by: 'message' } as const
      floors.push(await switchFloor(bench.server!.redis.url, bench.quick ? 2000 : 10_000, relay))
      alone.push(await promisesAlone(load, SECONDS))
    }
    const measured = await runRounds(bench, { load, seconds: SECONDS, beside })
    const floor: Row = { participant: 'floor: a message each time', family: 'floor', version: '', ...medians(floors) }
    const promises: Row = { participant: 'floor: promises alone', family: 'floor', version: '', ...medians(alone) }
    const rows = compared([...measured, floor, promises], () => undefined)
    const cells = findRow(rows, 'holdfast')?.cells ?? {}
    const spread = promises.cells['p99']! / promises.cells['p50']!
    const limit = Math.min(17_000, floor.cells['rate'] ?? Infinity)
    return {
      columns: columnsFor('hand-off'),
      rows,
      targets: [
        target(`≥ 17,000 hand-offs/s, or the floor: ${whole(limit)}`, cells['rate'], (value) => value >= limit, whole),
        target(
          `p99 wait ≤ 3 × the median (promises alone: ${format(spread, 1)} ×)`,
          cells['p99']! / cells['p50']!,
          (value) => value <= Math.max(3, spread),
        ),
      ],
    }
  },
}
