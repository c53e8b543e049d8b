/** What P measures: kinds, numbers of clients, holds. */
import type { Kind } from '../../base/load.js'
import { format } from '../../base/result.js'
import type { Bench } from '../../measure/bench.js'

export const US = 'holdfast'
/** One library of each way to wait; of redlock and what derives from it, both that are kept up. */
export const WHO = [US, 'redis-semaphore', 'redlock 5', '@sesamecare-oss/redlock', 'Redisson', 'rueidislock']
const PERMITS = 2
const PER_SECOND = 200
export interface Sort {
  readonly kind: Kind
  readonly name: string
  readonly places: number
}

export const FAIR: Sort = { kind: 'fairLock', name: 'fair lock', places: 1 }
export const LIMITER: Sort = { kind: 'limiter', name: `rate limiter, ${PER_SECOND} a second`, places: PER_SECOND }

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
export const USUAL = 5

/** All that there is to measure, for `--only`: too much for one run. */
export const ALL: readonly Trial[] = SORTS.flatMap((sort) =>
  SIZES.flatMap((clients) => (sort === LIMITER ? [0] : HOLDS).map((holdMs) => ({ sort, clients, holdMs }))),
)

/** Each size at one hold, and each hold at one size; the longest one of the plain lock at two. */
const isUsual = ({ sort, clients, holdMs }: Trial): boolean =>
  sort === LIMITER || holdMs === USUAL || clients === 16 || (clients === 64 && holdMs > USUAL && sort.kind === 'lock')

/** Where so many processes start, a look is at ours alone. */
export const QUICK_MANY = 64

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
