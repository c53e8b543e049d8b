import type { Scenario } from '../measure/bench.js'
import { columnsFor, comparedWithIdeal } from '../measure/columns.js'
import { type Figures, type Row, findRow, format, medians, target } from '../base/result.js'
import { runRounds } from '../measure/rounds.js'
import { switchFloor } from '../measure/process-switch.js'
import { PASS_TIME } from '#src/script-times-and-limits.js'

const PROCESSES = 4
const CALLERS = 8
const ms = (value: number): string => `${format(value, 1)} ms`

export const c: Scenario = {
  id: 'c',
  title: 'C: one lock, 4 processes × 8 waiters, held for 2 ms',
  headline: { what: 'one lock, 4 processes × 8, held 2 ms: acquisitions/s', key: 'rate', digits: 0 },
  about: {
    measures:
      'All 32 callers want one lock, all the time. The ratio is to 1 / (measured hold + one measured round trip: the median of ' +
      'those measured before each slot of a round), which a ' +
      'lock that asks the server at each hand-over cannot exceed; one that also passes on within a process can. ' +
      'Exclusion is checked from when each caller was inside, by the one clock of the machine. The floor is what a switch ' +
      'between processes costs at least: two processes hand a lock to and fro by the bare scripts, one woken by the message ' +
      "of the other's release; *switch ms* is from the release to having it, its median and p99.",
    differs:
      'redis-semaphore polls, so its waits depend on its retryInterval (1 ms here) and its luck; it wakes nobody and ' +
      'queues nobody. Each re-entry into the queue is a new acquire, as an application would do it. ' +
      'rueidislock wakes its own process first, and most often takes the lock again at once: its median wait is short, its ' +
      'p99 is not. rueidislock and node-redisson can lose a wake-up, and then a caller sleeps though the lock is free: where ' +
      'one does so at the end it is waited for for 5 s, and counted.',
    misleads:
      'Passing on within a process raises the rate at the price of the order between processes: look at p99 and max, not at ' +
      'the rate alone. A round trip is measured with nothing else running, each after a pause as long as a hold: processes ' +
      'and server fall asleep in it, and waking them is most of the trip. ' +
      'Who keeps its own processes busy makes its holds longer, and so its ideal lower: compare the rates too. ' +
      'A switch takes more than the one trip that ideal allows for: a release, a message, two processes to wake, an acquire. ' +
      'The first floor has two processes and nobody else who is woken. The second is what is left for whoever keeps p99 in its ' +
      'bounds by turns: four processes, each of which has the lock for as long as a turn lasts, and nothing but the bare ' +
      'scripts in between; a hold begins at once when the one before it in the turn is over. ' +
      'The CPU of the client includes the thread that sleeps for the hold, alike for all.',
  },
  needsServer: true,
  async run(bench) {
    const load = {
      kind: 'lock',
      engine: 'redis',
      processes: PROCESSES,
      callers: CALLERS,
      names: 'one',
      holdMs: 2,
    } as const
    const { redis, meter } = bench.server!
    const switches: Figures[] = []
    const turns: Figures[] = []
    const beside = async (): Promise<void> => {
      const trip = await meter.trip()
      const each = await switchFloor(redis.url, bench.quick ? 40 : 200, { processes: 2, holdMs: 2, by: 'scripts' })
      switches.push({ ...each, trip })
      const long = { processes: PROCESSES, holdMs: PASS_TIME, by: 'scripts', first: 3 } as const
      turns.push({ ...(await switchFloor(redis.url, bench.quick ? 3 : 20, long)), trip })
    }
    const measured = await runRounds(bench, { load, seconds: 4, beside })
    const { hold = NaN } = findRow(measured, 'holdfast')?.cells ?? {}
    const floors: Row[] = [
      { participant: 'floor: a switch each time', family: 'raw', version: '', ...medians(switches) },
      {
        participant: `floor: a switch every ${PASS_TIME} ms`,
        family: 'raw',
        version: '',
        ...medians(turns.map((turn) => ({ ...turn, rate: turn['rate']! * (turn['hold']! / hold), hold }))),
      },
    ]
    const rows = comparedWithIdeal([...measured, ...floors])
    const cells = findRow(rows, 'holdfast')?.cells ?? {}
    const floor = findRow(rows, floors[1]!.participant)?.cells['ratio'] ?? NaN
    const limit = 3 * PROCESSES * CALLERS * ((cells['hold'] ?? NaN) + (cells['trip'] ?? NaN))
    return {
      columns: columnsFor('acquisition', 'ideal', [
        { key: 'hold', title: 'hold ms', digits: 2 },
        { key: 'trip', title: 'trip ms', digits: 3 },
        { key: 'switch', title: 'switch ms', digits: 3 },
        { key: 'switch99', title: 'switch p99', digits: 3 },
      ]),
      rows,
      targets: [
        target(
          `≥ 1.00 × ideal (by turns of ${PASS_TIME} ms, and the bare scripts: ${format(floor, 3)})`,
          cells['ratio'],
          (value) => value >= 1,
        ),
        target(`p99 wait ≤ 3 × 32 × (hold + trip) = ${ms(limit)}`, cells['p99'], (value) => value <= limit, ms),
        target('requests per acquisition ≤ 3', cells['requests'], (value) => value <= 3),
      ],
    }
  },
}
