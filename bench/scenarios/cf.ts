import type { Scenario } from '../measure/bench.js'
import { columnsFor, comparedWithIdeal, timesAsFast } from '../measure/columns.js'
import { type Column, type Figures, type Row, findRow, format, medians, target } from '../base/result.js'
import { runRounds } from '../measure/rounds.js'
import { median } from '../base/stats.js'
import { switchFloor } from '../measure/process-switch.js'

const LOAD = { kind: 'fairLock', engine: 'redis', processes: 4, callers: 8, names: 'one', holdMs: 2 } as const

const [SCRIPTS, MESSAGE] = ['floor: bare scripts', 'floor: a message each time'] as const
const CALLERS = LOAD.processes * LOAD.callers
/** As many as there are in one slot. */
const TURNS = 1600

/** Not a library: Redisson's steps and nothing around them. */
const BARE = 'scheme'

/** In what a peer is above us: any figure, where more is better for the rate and less for all others. */
const aboveUs = (rows: readonly Row[], columns: readonly Column[]): string[] => {
  const ours = findRow(rows, 'holdfast')?.cells ?? {}
  const peers = rows.filter(({ family, note }) => !['holdfast', 'floor'].includes(family) && note !== 'VIOLATED')
  const keys = columns.filter(({ key }) => !['spread', 'ratio', 'hold', 'trip', 'switch', 'switch99'].includes(key))
  return keys.flatMap(({ key, title }) =>
    peers
      .filter(({ cells }) => (key === 'rate' ? cells[key]! > ours[key]! : cells[key]! < ours[key]!))
      .map(({ participant }) => `${participant}: ${title}`),
  )
}

/** What an acquisition takes of the machine, client and server, beside the cheaper of the bare ones, round by round. */
const cpuBesideBare = (rows: readonly Row[]): number | undefined => {
  const bare = rows.filter(({ family, note }) => family === BARE && note === undefined)
  const ratios = (findRow(rows, 'holdfast')?.rounds['cpu'] ?? []).map(
    (cost, round) => cost / Math.min(...bare.map(({ rounds }) => rounds['cpu']![round]!)),
  )
  return ratios.length > 0 && bare.length > 0 ? median(ratios) : undefined
}

export const cf: Scenario = {
  id: 'cf',
  title: 'CF: one fair lock, 4 processes × 8 waiters, held for 2 ms',
  headline: { what: 'the same, fair: acquisitions/s', key: 'rate', digits: 0 },
  about: {
    measures:
      'As C, with the fair lock: all 32 callers want it all the time, and get it in the order in which they came. The ratio ' +
      'is to 1 / (measured hold + one measured round trip, as in C). A fair lock has to go from process to process nearly each time. ' +
      'Two floors: two processes hand a lock to and fro by the bare scripts, each woken by the message of the ' +
      "other's release; and they send each other nothing but that message. *Switch ms* is from giving to having, median and p99.",
    differs:
      'holdfast writes the next holder when the last one frees the lock, and confirms it while it works; Redisson calls ' +
      'the next one, who then takes it: two trips. Redisson is measured twice: itself, in Java with threads, and its ' +
      'steps alone in Node, so that the language makes no difference: those have no watchdog, no abort, no time limit and no ' +
      'checks, and their second row a subscription kept for each owner, which Redisson does not do.',
    misleads:
      'What a hand-over takes is mostly the waking of sleeping processes, which the steps of a lock do not change. A ' +
      'thread in Java that sleeps for 2 ms wakes at another time than one in Node: compare with its own hold. A round trip is ' +
      'measured with nothing else running. Our confirmations cost the server a script for each acquisition, while somebody holds ' +
      'the lock. The CPU of the client includes the thread that sleeps for the hold; in Java, also what compiles.',
  },
  needsServer: true,
  async run(bench) {
    const { redis, meter } = bench.server!
    const floors = { [SCRIPTS]: [] as Figures[], [MESSAGE]: [] as Figures[] }
    const beside = async (): Promise<void> => {
      const trip = await meter.trip()
      for (const [by, figures] of [
        ['scripts', floors[SCRIPTS]],
        ['message', floors[MESSAGE]],
      ] as const) {
        const relay = { processes: 2, holdMs: LOAD.holdMs, by } as const
        figures.push({ ...(await switchFloor(redis.url, bench.quick ? 200 : TURNS, relay, CALLERS)), trip })
      }
    }
    const measured = await runRounds(bench, { load: LOAD, seconds: 4, beside })
    const least = Object.entries(floors).map(([participant, figures]): Row => ({
      ...{ participant, family: 'floor', version: '' },
      ...medians(figures),
    }))
    const rows = comparedWithIdeal([...measured, ...least])
    const columns = columnsFor('acquisition', 'ideal', [
      { key: 'hold', title: 'hold ms', digits: 2 },
      { key: 'trip', title: 'trip ms', digits: 3 },
      { key: 'switch', title: 'switch ms', digits: 3 },
      { key: 'switch99', title: 'switch p99', digits: 3 },
    ])
    const cells = findRow(rows, 'holdfast')?.cells ?? {}
    const above = aboveUs(rows, columns)
    const alone = findRow(rows, MESSAGE)!.cells
    const [most, spread] = [alone['ratio']!, alone['p99']! / alone['p50']!]
    return {
      columns,
      rows,
      targets: [
        target(`≥ 0.92 × ideal (a message alone: ${format(most, 2)})`, cells['ratio'], (value) => value >= 0.92),
        target(
          "≥ 1.08 × Redisson's scheme",
          timesAsFast(rows, 'holdfast', "Redisson's scheme"),
          (value) => value >= 1.08,
        ),
        target('faster than Redisson', timesAsFast(rows, 'holdfast', 'Redisson'), (value) => value > 1),
        target(
          `p99 wait ≤ 1.3 × the median (a message alone: ${format(spread, 2)})`,
          cells['p99']! / cells['p50']!,
          (value) => value <= Math.max(1.3, spread),
        ),
        target("client + server µs ≤ those of Redisson's bare steps", cpuBesideBare(rows), (value) => value <= 1),
        { text: 'no peer above us in anything', measured: above.join('; ') || 'none', reached: above.length === 0 },
      ],
    }
  },
}
