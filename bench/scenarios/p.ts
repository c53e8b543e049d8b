import type { Kind } from '../participants/participant.js'
import type { Bench, Scenario } from '../support/bench.js'
import { comparedWithIdeal } from '../support/columns.js'
import type { Load } from '../support/load.js'
import { type Row, type Target, findRow, format, target } from '../support/result.js'
import { runRounds } from '../support/rounds.js'

/** One library of each way to wait; of redlock and what derives from it, both that are kept up. */
const WHO = ['holdfast', 'redis-semaphore', 'redlock 5', '@sesamecare-oss/redlock', 'Redisson', 'rueidislock']
/** Above so many clients a process for each would be a benchmark of the machine's memory. */
const MOST_PROCESSES = 64
const SHARED = 8
/** Redisson’s callers are threads of so many processes, as a Java service has them. */
const JVMS = 4
const PER_SECOND = 200

interface Trial {
  readonly kind: Kind
  readonly clients: number
  readonly holdMs: number
  readonly places: number
}

const trial = (kind: Kind, clients: number, holdMs: number): Trial => ({
  ...{ kind, clients, holdMs },
  places: kind === 'semaphore' ? 2 : kind === 'limiter' ? PER_SECOND : 1,
})

const SIZES = [4, 16, 64, 256, 1024]

/** Each size once, each hold once, and the other kinds at two sizes. */
const TRIALS: readonly Trial[] = [
  ...SIZES.map((clients) => trial('lock', clients, 5)),
  trial('lock', 16, 0),
  trial('lock', 16, 20),
  ...(['writeLock', 'semaphore', 'limiter'] as const).flatMap((kind) => [
    trial(kind, 16, kind === 'limiter' ? 0 : 5),
    trial(kind, 256, kind === 'limiter' ? 0 : 5),
  ]),
]

const QUICK: readonly Trial[] = [trial('lock', 4, 5), trial('lock', 16, 5)]

const nameOf = ({ kind, clients, holdMs }: Trial): string =>
  `${kind}, ${format(clients, 0)} clients${kind === 'limiter' ? '' : `, ${holdMs} ms`}`

const loadOf = ({ kind, clients, holdMs, places }: Trial, processes: number): Load => ({
  ...{ kind, engine: 'redis', names: 'one', holdMs, places, processes, callers: clients / processes },
  ...(clients > processes && { clients: 'each' }),
})

/** ms that a caller waits when all are served one after the other. */
const due = (row: Row, { kind, clients, places }: Trial): number => {
  if (kind === 'limiter') return (1000 * clients) / places
  return (clients * ((row.cells['hold'] ?? NaN) + (row.cells['trip'] ?? NaN))) / places
}

const judged = (row: Row, one: Trial): Row => {
  const { rate, max, least, most } = row.cells
  return {
    ...row,
    participant: `${nameOf(one)}: ${row.participant}`,
    cells: {
      ...row.cells,
      ...(one.kind === 'limiter' && { ratio: rate! / one.places }),
      ...(max !== undefined && { late: max / due(row, one) }),
      ...(least !== undefined && { share: least / Math.max(1, most!) }),
    },
  }
}

const measured = async (bench: Bench, one: Trial): Promise<Row[]> => {
  bench.log(`  ${nameOf(one)}`)
  await bench.server?.meter.clear()
  const processes = one.clients <= MOST_PROCESSES ? one.clients : SHARED
  const seconds = Math.max(4, (8 * one.clients * Math.max(1, one.holdMs)) / one.places / 1000)
  const rows: Row[] = []
  for (const name of bench.quick ? WHO.slice(0, 2) : WHO) {
    // One after the other: the processes of all at once would not fit into the machine.
    const of = name === 'Redisson' ? Math.min(JVMS, processes) : processes
    const load = loadOf(one, of)
    rows.push(...(await runRounds(bench, { load, seconds: Math.min(20, seconds), who: [name] })))
  }
  const able = rows.filter(({ note }) => note?.startsWith('cannot') !== true)
  const compared = one.kind === 'limiter' ? able : comparedWithIdeal(able, one.places)
  return compared.map((row) => judged(row, one))
}

const cellsOf = (rows: readonly Row[], one: Trial, who = 'holdfast'): Readonly<Record<string, number>> =>
  findRow(rows, `${nameOf(one)}: ${who}`)?.cells ?? {}

/** In which trials a peer has more visits, or shares them more evenly, or lets nobody wait for as long. */
const above = (rows: readonly Row[], trials: readonly Trial[]): string[] =>
  trials.flatMap((one) => {
    const ours = cellsOf(rows, one)
    return WHO.slice(1).flatMap((who) => {
      const theirs = cellsOf(rows, one, who)
      const worse = (key: string, more: boolean): boolean =>
        theirs[key] !== undefined && (more ? theirs[key] > 1.03 * ours[key]! : theirs[key] < ours[key]! / 1.03)
      const what = [worse('rate', true) && 'visits', worse('share', true) && 'share', worse('max', false) && 'max']
      return what.flatMap((one2) => (one2 === false ? [] : [`${who}, ${nameOf(one)}: ${one2}`]))
    })
  })

const targetsOf = (rows: readonly Row[], trials: readonly Trial[]): Target[] => {
  const each = trials.map((one) => cellsOf(rows, one))
  const worst = (key: string, pick: (...values: number[]) => number): number =>
    pick(...each.map((cells) => cells[key] ?? NaN).filter((value) => !Number.isNaN(value)))
  const sizes = trials.filter(({ kind, holdMs }) => kind === 'lock' && holdMs === 5)
  const cpu = sizes.map((one) => cellsOf(rows, one)['cpu'] ?? NaN)
  const even = sizes
    .filter(({ clients }) => clients === 16 || clients === 64)
    .map((one) => cellsOf(rows, one)['ratio']!)
  const peers = above(rows, trials)
  return [
    target('requests a visit ≤ 3.5 in every row', worst('requests', Math.max), (value) => value <= 3.5),
    target(
      'CPU a visit, most ÷ least over the sizes ≤ 1.5',
      Math.max(...cpu) / Math.min(...cpu),
      (value) => value <= 1.5,
    ),
    target('≥ 0.92 × ideal at 16 and 64 clients', Math.min(...even), (value) => value >= 0.92),
    target('least served ≥ 0.8 × most served', worst('share', Math.min), (value) => value >= 0.8),
    target('longest wait ≤ 1.5 × what is due', worst('late', Math.max), (value) => value <= 1.5),
    target(
      `no peer above us${peers.length > 0 ? `: ${peers.slice(0, 3).join('; ')}` : ''}`,
      peers.length,
      (n) => n === 0,
      String,
    ),
  ]
}

export const p: Scenario = {
  id: 'p',
  title: 'P: one caller in each process',
  headline: {
    what: 'lock, 16 processes with one caller, 5 ms: visits/s',
    key: 'rate',
    digits: 0,
    of: 'lock, 16 clients, 5 ms: ',
  },
  about: {
    measures:
      'How most services use a lock: a worker, a cron job or a request in each process, each with one caller that wants the lock again ' +
      'and again. Up to 64 clients have a process each; 256 and 1,024 are in 8 processes, each caller with a client and a connection of its own. ' +
      'The ratio is to 1 / (measured hold + one measured round trip), times two for a semaphore of 2; for a limiter to its rate of 200 a second. ' +
      '*Least* and *most* are the visits of the callers that were served least and most often. *Late* is the longest wait in parts of what is ' +
      'due when all are served one after the other.',
    differs:
      'redis-semaphore and redlock poll every millisecond or two; they keep no order. Redisson’s callers are threads of 4 processes, ' +
      'and so share 4 clients. A goroutine of rueidislock is woken by its own process first.',
    misleads:
      'Two cores run all processes: with 64 of them a part of what a hand-over takes is the wait for a core, alike for all. Who polls pays with CPU, ' +
      'which stands beside it. With a few visits for each caller the shares are coarse.',
  },
  needsServer: true,
  async run(bench) {
    const trials = bench.quick ? QUICK : TRIALS
    const rows: Row[] = []
    for (const one of trials) rows.push(...(await measured(bench, one)))
    return {
      columns: [
        { key: 'rate', title: 'visits/s', digits: 0 },
        { key: 'ratio', title: '× ideal', digits: 2 },
        { key: 'least', title: 'least', digits: 0 },
        { key: 'most', title: 'most', digits: 0 },
        { key: 'p50', title: 'wait p50 ms', digits: 1 },
        { key: 'p99', title: 'p99', digits: 1 },
        { key: 'max', title: 'max', digits: 0 },
        { key: 'late', title: 'late', digits: 2 },
        { key: 'clientCpu', title: 'client µs', digits: 0 },
        { key: 'serverCpu', title: 'server µs', digits: 0 },
        { key: 'requests', title: 'requests each', digits: 2 },
      ],
      rows,
      targets: targetsOf(rows, trials),
    }
  },
}
