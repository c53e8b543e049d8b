import { redisson } from '../participants/redisson.js'
import type { Bench, Scenario } from '../measure/bench.js'
import { CALLERS, type Contest, FAIR_SHARE, PROCESSES, type Told, workTogether } from '../measure/beside-redisson.js'
import { totalOf, violations } from '../measure/digest.js'
import type { Sample } from '../base/load.js'
import { type Figures, type Row, type Target, format, inEveryRow, medians } from '../base/result.js'
import { concat, quantile } from '../base/stats.js'
import { type Takes, type Visit, failuresOf, sampleOf, visitsOf } from '../measure/visits.js'

const EVERYBODY = 2 * PROCESSES * CALLERS
const PLACES = 3
const PER_SECOND = 20
/** What part of the visits to a read-write lock reads. */
const HALF = 0.5

/** A kind that Redisson has, and what it is called on both sides. */
export interface Kind extends Pick<Contest, 'java' | 'node' | 'reads' | 'setUp'> {
  readonly name: string
  /** How many may be inside at a time; 1 unless said. Of a limiter nobody is inside. */
  readonly places?: number
  /** Of a limiter: how many a second. */
  readonly rate?: number
  /** Why there is nothing to measure. */
  readonly cannot?: string
}

const same = (
  name: string,
  kind: 'plain' | 'nonReentrant' | 'spin' | 'fenced' | 'fair' | 'nonReentrantFair',
): Kind => ({
  ...{ name, java: kind, node: kind },
})

/** In the order of the soak beside Redisson. */
export const KINDS: readonly Kind[] = [
  same('lock', 'plain'),
  same('non-reentrant lock', 'nonReentrant'),
  same('spin lock', 'spin'),
  same('fenced lock', 'fenced'),
  same('fair lock', 'fair'),
  same('non-reentrant fair lock', 'nonReentrantFair'),
  { name: 'keyed lock of two', java: 'keyed:a,b', node: 'keyed:a,b' },
  { name: 'multi-lock of two', java: 'multi:plain,plain', node: 'multi' },
  { name: 'red-lock of three', java: 'red:plain,plain,plain', node: 'red' },
  { name: 'write lock', java: 'write', node: 'write' },
  { name: 'read-write', java: 'write', node: 'readWrite', reads: HALF },
  { name: 'fair read-write', java: 'write', node: 'fairReadWrite', reads: HALF },
  { name: 'semaphore of 3', java: 'semaphore', node: 'semaphore', places: PLACES, setUp: ['trySetPermits', PLACES] },
  { name: 'permits with ids, 3', java: 'permits', node: 'permits', places: PLACES, setUp: ['trySetPermits', PLACES] },
  {
    ...{ name: `rate limiter, ${PER_SECOND} a second`, java: 'limiter', node: 'limiter', rate: PER_SECOND },
    setUp: ['trySetRate', 'OVERALL', PER_SECOND, 1000, 'MILLISECONDS'],
  },
  {
    ...{ name: 'latch', java: 'latch', node: 'latch' },
    cannot: 'a latch has no holder: all waiters go on at once, so there are no shares and no turns',
  },
]

export interface Trial {
  readonly kind: Kind
  readonly holdMs: Contest['holdMs']
}

const HOLDS: readonly Contest['holdMs'][] = [
  [0, 3],
  [0, 40],
]

/** Java compiles while it runs. */
const FULL = { warm: 5, seconds: 60 }
const QUICK = { warm: 2, seconds: 3 }

export const TRIALS: readonly Trial[] = KINDS.flatMap((kind) => {
  const once = kind.rate !== undefined || kind.cannot !== undefined
  return once ? [{ kind, holdMs: [0, 0] as const }] : HOLDS.map((holdMs) => ({ kind, holdMs }))
})

/** How the row's name begins: `--only` matches it. */
const nameOf = ({ kind, holdMs: [, most] }: Trial): string => (most === 0 ? kind.name : `${kind.name}, ≤ ${most} ms`)

/** How long a caller waits, in ms, when every other caller is served once before it. */
const dueOf = (samples: readonly Sample[], { rate, places = 1 }: Kind): number => {
  const turn = rate === undefined ? totalOf(samples, 'held') / totalOf(samples, 'total') : 1000 / rate
  return ((EVERYBODY - 1) * turn) / places
}

const sorted = (samples: readonly Sample[]): Float64Array => concat(samples.map(({ waits }) => waits)).sort()

const figuresOf = (theirs: readonly Sample[], ours: readonly Sample[], kind: Kind, seconds: number): Figures => {
  const all = [...theirs, ...ours]
  const pairs = totalOf(all, 'pairs')
  const due = dueOf(all, kind)
  const [theirWaits, ourWaits] = [sorted(theirs), sorted(ours)]
  const [javaMax, ourMax] = [quantile(theirWaits, 1), quantile(ourWaits, 1)]
  return {
    rate: pairs / seconds,
    javaShare: (100 * totalOf(theirs, 'pairs')) / pairs,
    least: (EVERYBODY * Math.min(...all.flatMap(({ visits = [] }) => visits))) / pairs,
    ...{ due, javaMax, javaLate: javaMax / due, ourMax, ourLate: ourMax / due },
    apart: Math.max(javaMax, ourMax) / Math.min(javaMax, ourMax),
    javaP99: quantile(theirWaits, 0.99),
    ourP99: quantile(ourWaits, 0.99),
  }
}

/** A writer takes all places. */
const takesOf =
  ({ reads }: Kind): Takes =>
  ({ mode }) =>
    reads !== undefined && mode === 'write' ? EVERYBODY : 1

const placesOf = ({ reads, places = 1 }: Kind): number => (reads === undefined ? places : EVERYBODY)

interface Wrongs {
  readonly count: number
  readonly note?: string
}

/** Holders that were inside together and must not be, calls that failed, and callers that were never served again. */
const wrongsIn = ({ theirs, ours, stretch }: Told, kind: Kind): Wrongs => {
  const all = [...theirs, ...ours]
  const samples = all.map((events) => sampleOf(visitsOf(events), CALLERS, stretch, takesOf(kind)))
  const overlaps = kind.rate === undefined ? violations(samples, placesOf(kind)) : 0
  const failed = all.flatMap(failuresOf)
  const asleep = totalOf(samples, 'asleep')
  const count = overlaps + failed.length + asleep
  if (overlaps > 0) return { count, note: 'VIOLATED' }
  if (failed[0] !== undefined) return { count, note: `calls that failed: ${failed.length}, by ${failed[0]}` }
  return asleep > 0 ? { count, note: `callers never served again: ${asleep}` } : { count }
}

/** One row; for a read-write lock one for each mode. Both share the run and whatever went wrong in it. */
export const rowsOf = (trial: Trial, told: Told, seconds: number): Row[] => {
  const { kind } = trial
  const { count, ...note } = wrongsIn(told, kind)
  const [theirs, ours] = [told.theirs.map(visitsOf), told.ours.map(visitsOf)]
  const row = (participant: string, counts: (visit: Visit) => boolean): Row => {
    const samplesOf = (side: readonly Visit[][]): Sample[] =>
      side.map((visits) => sampleOf(visits.filter(counts), CALLERS, told.stretch))
    const figures = figuresOf(samplesOf(theirs), samplesOf(ours), kind, seconds)
    return rowNamed(participant, [{ ...figures, wrongs: count }], note)
  }
  if (kind.reads === undefined) return [row(nameOf(trial), () => true)]
  return (['read', 'write'] as const).map((mode) => row(`${nameOf(trial)}: ${mode}s`, (visit) => visit.mode === mode))
}

const rowNamed = (participant: string, figures: readonly Figures[], note: Pick<Row, 'note'>): Row => ({
  ...{ participant, family: 'mixed', version: redisson.version() ?? '', ...medians(figures), ...note },
})

const cannot = ({ cannot: reason }: Kind): string | undefined =>
  reason ?? (redisson.version() === undefined ? redisson.missing : undefined)

const measured = async ({ server, quick }: Bench, trial: Trial): Promise<Row[]> => {
  const { kind, holdMs } = trial
  const reason = cannot(kind)
  if (reason !== undefined) return [rowNamed(nameOf(trial), [], { note: `cannot: ${reason}` })]
  await server!.meter.clear()
  const { warm, seconds } = quick ? QUICK : FULL
  try {
    return rowsOf(trial, await workTogether(server!.redis.url, { ...kind, holdMs, warm, seconds }), seconds)
  } catch (error) {
    const said = (error instanceof Error ? error.message : String(error)).split('\n')[0]
    return [rowNamed(nameOf(trial), [], { note: `failed: ${said}` })]
  }
}

const [LEAST, MOST] = FAIR_SHARE

export const targetsOf = (rows: readonly Row[]): Target[] => [
  inEveryRow(`Redisson’s share ${LEAST}–${MOST} % in every row`, rows, {
    off: ({ cells }) => Math.max(LEAST - cells['javaShare']!, cells['javaShare']! - MOST),
    limit: 0,
    shown: ({ cells }) => `${format(cells['javaShare']!, 1)} %`,
  }),
  inEveryRow('the longest wait of either side ≤ 3 × the other’s in every row', rows, {
    off: ({ cells }) => cells['apart']!,
    limit: 3,
    shown: ({ cells }) =>
      `${format(cells['apart']!, 1)} ×: ${format(cells['javaMax']!, 0)} ms and ours ${format(cells['ourMax']!, 0)} ms`,
  }),
  inEveryRow('0 wrongs in every row', rows, {
    off: ({ cells }) => cells['wrongs']!,
    limit: 0,
    shown: ({ cells }) => format(cells['wrongs']!, 0),
  }),
]

export const xk: Scenario = {
  id: 'xk',
  title: 'XK: each kind that Redisson has, 2 of its processes and 2 of ours, 8 callers in each',
  about: {
    measures:
      'Two Java processes with 8 threads each and two Node processes with 8 callers each compete for one object all the time: a caller that releases it asks again ' +
      'at once. A hold lasts between 0 and the number of ms in the row, at random. *Java’s share* is of the visits; *least* are the visits of the caller ' +
      'that was served least often, relative to an equal share. *Due* is how long a caller waits when all others hold it once, one after ' +
      'the other, or side by side where there are several places: their holds only, without network time. The longest wait of each side is also shown relative to that; *apart* is the ' +
      'ratio of the longer to the shorter. Half of the visits to a read-write lock read, and it has a row for each mode. *Wrongs* are visits at a time when others ' +
      'were inside, calls that failed, and callers that were never served again.',
    differs:
      'All defaults on both sides. Redisson’s threads share one client in each process, as our callers do. It has no fair read-write lock: ours stands beside its ordinary one. ' +
      'Its spin lock and its red-lock ask again and again, as ours do.',
    misleads:
      'Our holds end by a Node timer, in whole ms and up to one ms late; Java’s end when a thread wakes up. With holds of a few ms, ours are longer. ' +
      'Both sides report each step as a line of text, which takes part of the two cores. ' +
      'Readers that are inside together are due less than the figure says. A limiter is only checked for its rate here: the tests beside Redisson check the rest.',
  },
  needsServer: true,
  rounds: 1,
  async run(bench) {
    const rows: Row[] = []
    for (const trial of TRIALS.filter((one) => nameOf(one).startsWith(bench.only ?? ''))) {
      bench.log(`  ${nameOf(trial)}`)
      rows.push(...(await measured(bench, trial)))
    }
    return {
      columns: [
        { key: 'rate', title: 'visits/s', digits: 0 },
        { key: 'javaShare', title: 'Java’s share %', digits: 1 },
        { key: 'least', title: 'least', digits: 2 },
        { key: 'due', title: 'due ms', digits: 0 },
        { key: 'javaMax', title: 'Java’s longest ms', digits: 0 },
        { key: 'javaLate', title: '× due', digits: 1 },
        { key: 'ourMax', title: 'our longest ms', digits: 0 },
        { key: 'ourLate', title: '× due', digits: 1 },
        { key: 'apart', title: 'apart', digits: 1 },
        { key: 'javaP99', title: 'Java’s p99 ms', digits: 0 },
        { key: 'ourP99', title: 'our p99 ms', digits: 0 },
        { key: 'wrongs', title: 'wrongs', digits: 0 },
      ],
      rows,
      targets: targetsOf(rows),
    }
  },
}
