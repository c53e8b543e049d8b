import type { Bench, Scenario } from '../measure/bench.js'
import { type Figures, type Row, findRow, medians, target } from '../base/result.js'
import { spread } from '../base/stats.js'
import { Child } from '../processes/child.js'
import { PRODUCER, WATCHES, WITHOUT } from '../processes/watches.js'

const CALLERS = 64
/** Turns are short, so that what else the machine does meets all of a round alike. */
const TURN = { ms: 400, quick: 200 }
/** Of each: every kind begins a round as often as the others do, and follows each of several others. */
const TURNS = 32

const areCoprime = (a: number, b: number): boolean => (b === 0 ? a === 1 : areCoprime(b, a % b))

/** The order of a round. A step that has no factor in common with their number reaches all of them. */
const orderOf = (names: readonly string[], round: number): string[] => {
  const steps = names.map((_, i) => i + 1).filter((step) => areCoprime(step, names.length))
  const step = steps[Math.floor(round / names.length) % steps.length] as number
  return names.map((_, i) => names[(round + i * step) % names.length] as string)
}

/** Adds how much each round differs from the turn without telemetry in the same round. */
const figuresOf = async (child: Child, round: number, ms: number): Promise<Map<string, Figures>> => {
  const figures = new Map<string, Figures>()
  for (const watch of orderOf(Object.keys(WATCHES), round))
    figures.set(watch, (await child.ask({ watch, ms })) as Figures)
  const { rate = NaN, clientCpu = NaN } = figures.get(WITHOUT) ?? {}
  for (const one of figures.values()) {
    one['ratio'] = (one['rate'] ?? NaN) / rate
    one['cpu'] = (one['clientCpu'] ?? NaN) / clientCpu
  }
  return figures
}

const measure = async ({ quick, server, log }: Bench, turns: number): Promise<Row[]> => {
  // Without threads of the collector, whose CPU depends on how busy the machine is.
  const child = await Child.open('watched.js', [server!.redis.url, String(CALLERS)], ['--single-threaded-gc'])
  const rounds: Map<string, Figures>[] = []
  try {
    await figuresOf(child, 0, 1000)
    while (rounds.length < turns) rounds.push(await figuresOf(child, rounds.length, quick ? TURN.quick : TURN.ms))
  } finally {
    await child.end()
  }
  log(`  ${turns} turns of each`)
  return Object.keys(WATCHES).map((participant) => {
    const row = medians(rounds.map((round) => round.get(participant)!))
    return {
      ...{ participant, family: participant === WITHOUT ? 'holdfast' : 'watched', version: '', rounds: row.rounds },
      cells: { ...row.cells, spread: 100 * spread(row.rounds['cpu'] ?? []) },
    }
  })
}

export const o: Scenario = {
  id: 'o',
  title: 'O: 64 callers, 64 locks, with telemetry',
  about: {
    measures:
      'The load of U64 in one process, without telemetry and with each kind of it, in short turns: what it costs to measure each call and each hold. ' +
      'Metrics are read four times a second, which is more often than usual, and then thrown away: by an exporter of the SDK, or as the text that ' +
      'Prometheus scrapes. *±* is of *× client µs*.',
    differs:
      'No peer has telemetry. *Two records by hand* is the floor of the SDK: no telemetry of holdfast, but two calls of the SDK for each pair, with ' +
      'the same attributes. The metric producer does without these calls.',
    misleads:
      'No load has more calls for each second of CPU than this one. Where a call waits, or has work to do, telemetry costs as much for each ' +
      'call, and so much less of the whole.',
  },
  needsServer: true,
  async run(bench) {
    const rows = await measure(bench, bench.quick ? 5 : Math.max(TURNS, bench.rounds))
    const produced = findRow(rows, PRODUCER)?.cells
    return {
      columns: [
        { key: 'rate', title: 'pairs/s', digits: 0 },
        { key: 'ratio', title: '× without', digits: 2 },
        { key: 'clientCpu', title: 'client µs', digits: 1 },
        { key: 'cpu', title: '× client µs', digits: 2 },
        { key: 'spread', title: '± %', digits: 0 },
      ],
      rows,
      targets: [
        target('with the metric producer ≥ 0.90 × without', produced?.['ratio'], (value) => value >= 0.9),
        target('client CPU with the metric producer ≤ 1.10 × without', produced?.['cpu'], (value) => value <= 1.1),
      ],
    }
  },
}
