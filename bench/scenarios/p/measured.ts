/** Runs the trials of P, and works out of each row what first come, first served would have given. */
import type { Load } from '../../base/load.js'
import { type Figures, type Row, medians } from '../../base/result.js'
import { median } from '../../base/stats.js'
import type { Bench } from '../../measure/bench.js'
import { comparedWithIdeal } from '../../measure/columns.js'
import { runRounds } from '../../measure/rounds.js'
import { participantNamed } from '../../participants.js'
import { LIMITER, QUICK_MANY, type Trial, WHO, nameOf } from './trials.js'

/** Above so many clients a process for each would be a benchmark of the machine's memory. */
const MOST_PROCESSES = 64
const SHARED = 8
/** Redisson’s callers are threads of so many processes, as a Java service has them. */
const JVMS = 4
/**
 * In each ms, of all clients together: tried with 16 and 64 clients. More take the cores from whoever has the lock, and redis-semaphore and
 * redlock have fewer visits; fewer let it lie idle.
 */
export const POLLS = 2

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
