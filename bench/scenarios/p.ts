import { participantNamed } from '../participants.js'
import type { Kind } from '../participants/participant.js'
import type { Bench, Scenario } from '../support/bench.js'
import { comparedWithIdeal } from '../support/columns.js'
import type { Load } from '../support/load.js'
import { type Figures, type Row, type Target, findRow, format, inEveryRow, medians, target } from '../support/result.js'
import { runRounds } from '../support/rounds.js'
import { median } from '../support/stats.js'

const US = 'holdfast'
/** One library of each way to wait; of redlock and what derives from it, both that are kept up. */
const WHO = [US, 'redis-semaphore', 'redlock 5', '@sesamecare-oss/redlock', 'Redisson', 'rueidislock']
/** Above so many clients a process for each would be a benchmark of the machine's memory. */
const MOST_PROCESSES = 64
const SHARED = 8
/** Redisson’s callers are threads of so many processes, as a Java service has them. */
const JVMS = 4
const PERMITS = 2
const PER_SECOND = 200
/**
 * In each ms, of all clients together: tried with 16 and 64 clients. More take the cores from whoever has the lock, and redis-semaphore and
 * redlock have fewer visits; fewer let it lie idle.
 */
const POLLS = 2

interface Sort {
  readonly kind: Kind
  readonly name: string
  readonly places: number
}

const FAIR: Sort = { kind: 'fairLock', name: 'fair lock', places: 1 }
const LIMITER: Sort = { kind: 'limiter', name: `rate limiter, ${PER_SECOND} a second`, places: PER_SECOND }

export const SORTS: readonly Sort[] = [
  { kind: 'lock', name: 'lock', places: 1 },
  FAIR,
  { kind: 'fencedLock', name: 'fenced lock', places: 1 },
  { kind: 'writeLock', name: 'write lock', places: 1 },
  { kind: 'semaphore', name: `semaphore of ${PERMITS}`, places: PERMITS },
  LIMITER,
]

export interface Trial {
  readonly sort: Sort
  readonly clients: number
  readonly holdMs: number
}

const SIZES = [4, 16, 64, 256, 1024]
const HOLDS = [0, 5, 20]
/** The hold at which sizes are compared. */
const USUAL = 5

/** All that there is to measure, for `--only`: too much for one run. */
const ALL: readonly Trial[] = SORTS.flatMap((sort) =>
  SIZES.flatMap((clients) => (sort === LIMITER ? [0] : HOLDS).map((holdMs) => ({ sort, clients, holdMs }))),
)

/** Each size at one hold, and each hold at one size; the longest one of the plain lock at two. */
const isUsual = ({ sort, clients, holdMs }: Trial): boolean =>
  sort === LIMITER || holdMs === USUAL || clients === 16 || (clients === 64 && holdMs > USUAL && sort.kind === 'lock')

/** Where so many processes start, a look is at ours alone. */
const QUICK_MANY = 64

const isQuick = ({ sort, clients, holdMs }: Trial): boolean =>
  clients === 16
    ? holdMs === USUAL || sort === LIMITER
    : clients === QUICK_MANY && holdMs === USUAL && ['lock', 'fairLock'].includes(sort.kind)

export const nameOf = ({ sort, clients, holdMs }: Trial): string =>
  `${sort.name}, ${format(clients, 0)} clients${sort === LIMITER ? '' : `, ${holdMs} ms`}`

export const trialsOf = ({ quick, only }: Pick<Bench, 'quick' | 'only'>): readonly Trial[] => {
  const usual = ALL.filter(quick ? isQuick : isUsual)
  if (only === undefined) return usual
  const named = (trials: readonly Trial[]): Trial[] => trials.filter((one) => nameOf(one).startsWith(only))
  return named(usual).length > 0 ? named(usual) : named(ALL)
}

/** ms from one hand-over to the next, roughly. */
const turnOf = ({ sort, holdMs }: Trial): number => (sort === LIMITER ? 1000 : holdMs + 1) / sort.places

/** Ten turns for each where that is not too long. */
const secondsOf = (one: Trial): number => Math.min(16, Math.max(5, (10 * one.clients * turnOf(one)) / 1000))
const QUICK_SECONDS = 2
/** Before anything counts. Java compiles while it runs. */
const FIRST = { java: 4, node: 1.5, quick: 0.5 }
/** For its last turn, each waits for that of all others. */
const patienceOf = (one: Trial): number => 5000 + 2 * one.clients * turnOf(one)

const loadOf = (one: Trial, name: string): Load => {
  const { sort, clients, holdMs } = one
  const nodes = clients <= MOST_PROCESSES ? clients : SHARED
  const processes = name === 'Redisson' ? Math.min(JVMS, clients) : nodes
  return {
    ...{ kind: sort.kind, engine: 'redis', names: 'one', holdMs, places: sort.places },
    ...{ processes, callers: clients / processes, clients: 'each', pollMs: Math.max(1, Math.round(clients / POLLS)) },
  }
}

/** ms that a caller waits when all are served one after the other; without a hold, at the rate that there was. */
const due = ({ cells }: Row, { sort, clients, holdMs }: Trial): number => {
  if (sort === LIMITER || holdMs === 0) return (1000 * clients) / (sort === LIMITER ? sort.places : cells['rate']!)
  return (clients * ((cells['hold'] ?? NaN) + (cells['trip'] ?? NaN))) / sort.places
}

/** A visit that the end of the time may have cut off is counted to who has least; where nobody came in twice it says nothing. */
const shareOf = ({ least = NaN, most = NaN }: Figures): number => (most > 1 ? Math.min(1, (least + 1) / most) : NaN)

/** Of what comes in a second there is at most that of one more in a stretch, since the first second may have begun before it. */
const isTooMuch = (rate: number, { sort }: Trial, seconds: number): boolean =>
  sort === LIMITER && rate * seconds > 1.02 * sort.places * (seconds + 1)

export const judged = (row: Row, one: Trial, seconds: number): Row => {
  // Without it the picture of all waits is not drawn: the rows of many trials do not belong in one.
  const { p999: _, ...cells } = row.cells
  const { rate, longest } = cells
  const participant = `${nameOf(one)}: ${row.participant}`
  if (rate === undefined) return { ...row, participant }
  return {
    ...row,
    participant,
    cells: {
      ...cells,
      ...(one.sort === LIMITER && { ratio: rate / one.sort.places }),
      share: shareOf(cells),
      ...(longest !== undefined && { due: due(row, one), late: longest / due(row, one) }),
    },
    ...(isTooMuch(rate, one, seconds) && { note: 'VIOLATED' }),
  }
}

const able = ({ sort }: Trial, who: readonly string[]): string[] =>
  who.filter((name) => {
    const { kinds, version } = participantNamed(name)
    return kinds.includes(sort.kind) && version() !== undefined
  })

export interface Options {
  /** By name; all peers unless told. */
  readonly who?: readonly string[]
  /** Seconds that count. */
  readonly seconds?: number
  /** Begins nothing after that, by performance.now(). */
  readonly until?: number
}

/** One after the other: the processes of all at once would not fit into the machine. */
export const measured = async (bench: Bench, one: Trial, options: Options = {}): Promise<Row[]> => {
  const { who = WHO, seconds = bench.quick ? QUICK_SECONDS : secondsOf(one), until = Infinity } = options
  const { meter } = bench.server!
  const some = able(one, who)
  const rows: Row[] = []
  const trips: number[] = []
  bench.log(`  ${nameOf(one)}`)
  for (const name of bench.quick && options.who === undefined
    ? some.slice(0, one.clients < QUICK_MANY ? 2 : 1)
    : some) {
    if (performance.now() > until) {
      rows.push({ participant: name, family: participantNamed(name).family, version: '', ...medians([]), note: LATE })
      continue
    }
    await meter.clear()
    const first = FIRST[bench.quick ? 'quick' : name === 'Redisson' ? 'java' : 'node']
    const times = { seconds, quick: seconds, first, patience: patienceOf(one) }
    const beside = async (): Promise<void> => void trips.push(await meter.trip())
    const log = (): void => undefined
    rows.push(...(await runRounds({ ...bench, log }, { ...times, load: loadOf(one, name), who: [name], beside })))
  }
  return compared(rows, one, median(trips)).map((row) => judged(row, one, seconds))
}

const LATE = 'failed: left out, the time for all was over'

/** What has no hold is compared with a trip alone. */
const compared = (rows: readonly Row[], { sort, holdMs }: Trial, trip: number): Row[] => {
  if (sort === LIMITER) return [...rows]
  const tripped = rows.map((row) => {
    const rounds = {
      ...row.rounds,
      trip: row.rounds['rate']?.map(() => trip) ?? [],
      hold: row.rounds['rate']?.map(() => 0) ?? [],
    }
    return { ...row, rounds }
  })
  return comparedWithIdeal(holdMs > 0 ? rows : tripped, sort.places)
}

const oursOf = (rows: readonly Row[], trials: readonly Trial[], subject = US): Row[] =>
  trials.flatMap((one) => findRow(rows, `${nameOf(one)}: ${subject}`) ?? [])

/** Within so much two are as good as each other. */
const ALIKE = 1.03

/** In which trials a peer has more visits, or shares them more evenly, or lets nobody wait for as long. */
const above = (rows: readonly Row[], trials: readonly Trial[]): string[] =>
  trials.flatMap((one) => {
    const ours = findRow(rows, `${nameOf(one)}: ${US}`)?.cells ?? {}
    return WHO.slice(1).flatMap((who) => {
      const row = findRow(rows, `${nameOf(one)}: ${who}`)
      if (row === undefined || row.note === 'VIOLATED') return []
      const { rate = NaN, share = NaN, longest = NaN } = row.cells
      const better = {
        visits: rate > ALIKE * ours['rate']!,
        share: share > ALIKE * ours['share']!,
        'longest wait': longest < ours['longest']! / ALIKE,
      }
      return Object.entries(better).flatMap(([what, is]) => (is ? [`${who}, ${nameOf(one)}: ${what}`] : []))
    })
  })

/** How many times as much CPU a visit takes at the worst of the sizes as at the best, for a kind. */
const growth = (rows: readonly Row[], sort: Sort, key: 'clientCpu' | 'serverCpu'): number => {
  const trials = ALL.filter((one) => one.sort === sort && (sort === LIMITER || one.holdMs === USUAL))
  const cpu = oursOf(rows, trials).flatMap(({ cells }) => cells[key] ?? [])
  return cpu.length > 1 ? Math.max(...cpu) / Math.min(...cpu) : NaN
}

const growthTarget = (rows: readonly Row[]): Target => {
  const all = SORTS.filter((sort) => sort !== FAIR).flatMap((sort) =>
    (['client', 'server'] as const).map((side) => ({
      text: `${side}, ${sort.name}`,
      times: growth(rows, sort, `${side}Cpu`),
    })),
  )
  const [worst] = all.filter(({ times }) => !Number.isNaN(times)).sort((a, b) => b.times - a.times)
  return target(
    'CPU a visit of server and of clients, most ÷ least over the numbers of clients ≤ 1.5',
    worst?.times,
    (times) => times <= 1.5,
    (times) => `${format(times, 2)} (${worst!.text})`,
  )
}

const cellOf =
  (key: string, sign: 1 | -1 = 1) =>
  ({ cells }: Row): number =>
    sign * (cells[key] ?? NaN)

const shown =
  (key: string) =>
  ({ cells }: Row): string =>
    format(cells[key]!, 2)

const scripts = (text: string, rows: readonly Row[]): Target =>
  inEveryRow(text, rows, { off: cellOf('scripts'), limit: 3.5, shown: shown('scripts') })

const shares = (text: string, rows: readonly Row[]): Target =>
  inEveryRow(text, rows, { off: cellOf('share', -1), limit: -0.8, shown: shown('share') })

export const targetsOf = (all: readonly Row[], trials: readonly Trial[], subject = US): Target[] => {
  const rows = oursOf(
    all,
    trials.filter(({ sort }) => sort !== FAIR),
    subject,
  )
  const fair = oursOf(
    all,
    trials.filter(({ sort }) => sort === FAIR),
    subject,
  )
  const busy = trials.filter(
    ({ sort, clients, holdMs }) => sort !== FAIR && [16, 64].includes(clients) && (holdMs > 0 || sort === LIMITER),
  )
  const peers = above(all, trials)
  const clean = {
    off: ({ note }: Row): number => (note === undefined ? 0 : 1),
    limit: 0,
    shown: ({ note = 'none' }: Row): string => note,
  }
  return [
    scripts('scripts a visit ≤ 3.5 in every row', rows),
    growthTarget(all),
    inEveryRow('≥ 0.92 × ideal with 16 and 64 clients and a hold', oursOf(all, busy, subject), {
      ...{ off: cellOf('ratio', -1), limit: -0.92, shown: shown('ratio') },
    }),
    shares('least ÷ most served ≥ 0.8 in every row', rows),
    inEveryRow('longest wait ≤ 1.5 × what is due in every row', rows, {
      ...{
        off: cellOf('late'),
        limit: 1.5,
        shown: ({ cells }) => `${format(cells['late']!, 1)} ×: ${format(cells['longest']!, 0)} ms`,
      },
    }),
    inEveryRow('nobody inside together, nobody left waiting', [...rows, ...fair], clean),
    ...(trials.some(({ sort }) => sort === FAIR)
      ? [
          scripts('the fair lock: scripts a visit ≤ 3.5 in every row', fair),
          shares('the fair lock: least ÷ most served ≥ 0.8 in every row', fair),
        ]
      : []),
    target(
      `no peer above us in visits, share or longest wait${peers.length > 0 ? `: ${peers.slice(0, 3).join('; ')}` : ''}`,
      peers.length,
      (count) => count === 0,
      String,
    ),
  ]
}

/** A trial that has begun takes minutes at most. */
const LIMIT = { usual: 37 * 60_000, quick: 3.5 * 60_000 }

export const p: Scenario = {
  id: 'p',
  title: 'P: one caller in each process, asking again at once',
  headline: {
    what: 'visits/s',
    key: 'rate',
    digits: 0,
    of: 'lock, 16 clients, 5 ms: ',
  },
  about: {
    measures:
      'How most services use a lock: a worker, a cron job or a request in each process, each with one caller that wants the lock again ' +
      'and again. Up to 64 clients have a process each; 256 and 1,024 are in 8 processes, each caller with a client and connections of its own. ' +
      'Each size is measured with a hold of 5 ms, and holds of 0 and 20 ms with 16 clients (20 ms of the lock with 64, too); the fair lock stands beside ' +
      'the plain kinds for reference. ' +
      'The ratio is to 1 / (measured hold + one measured round trip), times two for a semaphore of 2; for a limiter to its rate. ' +
      '*Least* and *most* are the visits of the callers that were served least and most often; *share* is least ÷ most, with the one visit that the end of the ' +
      'time may have cut off. *Longest* is the longest wait, of those that had begun before or never ended, too; *due* is what first come, first served would give: ' +
      'the number of clients × (hold + trip), ÷ 2 for a semaphore of 2, at its rate for a limiter, and at the rate of its own row where nothing is held. ' +
      '*Scripts*, *requests* and *commands* are for each visit. That nobody is inside together is checked by the one clock of the machine; a limiter ' +
      'keeps nobody out, and is checked for granting no more than its rate.',
    differs:
      `All defaults, but of those that poll: redis-semaphore and both redlocks ask again after half a ms for each client that there is, 2 ms with ` +
      `4 clients and 512 ms with 1,024, with a jitter of half of that in the redlocks, as by default. That makes ${POLLS} polls in each ms in all, with which they had ` +
      'most visits when it was tried: a lock is idle for a fraction of a ms, and who has it has a core. All callers of Node begin spread over as long, or they would poll in step. They keep no order. Redisson’s callers are threads of 4 processes, ' +
      'and so share 4 clients: fewer clients than all others have. rueidislock is told by the server when a key has changed. Only Redisson has a read-write lock, a limiter and ' +
      'a fair lock, only Redisson and redis-semaphore a semaphore.',
    misleads:
      'Two cores run all processes: with 64 of them a part of what a hand-over takes is the wait for a core, alike for all. Who polls pays with CPU, ' +
      'which stands beside it. A longest wait cannot be longer than the run: 5 to 16 s count. With 1,024 clients each has only a few visits, and the shares are coarse. ' +
      'Without a hold, who has just given back a lock has the best chance to have it again: many visits, all of them of one caller. ' +
      'From 64 to 256 clients the processes become fewer: the CPU of a visit falls with what it takes to wake them. One round, and its figures.',
  },
  needsServer: true,
  rounds: 1,
  async run(bench) {
    const trials = trialsOf(bench)
    const until = performance.now() + LIMIT[bench.quick ? 'quick' : 'usual']
    const rows: Row[] = []
    for (const one of trials) rows.push(...(await measured(bench, one, { until })))
    return {
      columns: [
        { key: 'rate', title: 'visits/s', digits: 0 },
        { key: 'ratio', title: '× ideal', digits: 2 },
        { key: 'scripts', title: 'scripts', digits: 2 },
        { key: 'requests', title: 'requests', digits: 2 },
        { key: 'commands', title: 'commands', digits: 1 },
        { key: 'serverCpu', title: 'server µs', digits: 0 },
        { key: 'clientCpu', title: 'client µs', digits: 0 },
        { key: 'least', title: 'least', digits: 0 },
        { key: 'most', title: 'most', digits: 0 },
        { key: 'share', title: 'share', digits: 2 },
        { key: 'p50', title: 'wait p50 ms', digits: 1 },
        { key: 'p99', title: 'p99', digits: 1 },
        { key: 'longest', title: 'longest', digits: 0 },
        { key: 'due', title: 'due', digits: 0 },
        { key: 'late', title: '× due', digits: 2 },
      ],
      rows,
      targets: targetsOf(rows, trials),
    }
  },
}
