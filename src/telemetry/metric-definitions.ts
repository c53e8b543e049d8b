/** The outcomes by which the counters without a kind begin. */
export const RENEWALS = ['ok', 'failed'] as const
export const DECISIONS = ['allowed', 'refused'] as const
/** How calls and holds may end; the most frequent end comes first. */
export const CALL_ENDS = [
  { outcome: 'granted', local: 'false' },
  { outcome: 'granted', local: 'true' },
  ...['timeout', 'aborted', 'refused', 'error'].map((outcome) => ({ outcome, local: 'false' })),
] as const
export const HOLD_ENDS = ['released', 'lost', 'forced', 'detached'] as const

/** What each metric says. */
export const HELP = {
  wait: 'How long calls waited, from the call to its end',
  hold: 'How long holds lasted',
  waiting: 'How many calls wait now',
  held: 'How many holds last now',
  oldest: 'How long the oldest hold of those that last now has lasted',
  lost: 'How many locks and permits were lost',
  renewals: 'How many leases were renewed, and how often a hold became uncertain',
  decisions: 'How many calls a rate limiter allowed and refused',
  reconnects: 'How often a connection came back',
  deadlocks: 'How many deadlocks between processes were found',
} as const

/** Upper bounds of the buckets, s. */
export interface Buckets {
  /** Of waits. Default: 0.001 to 10. */
  readonly wait?: readonly number[] | undefined
  /** Of holds. Default: 0.001 to 300. */
  readonly hold?: readonly number[] | undefined
}

const WAIT = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const HOLD = [...WAIT, 30, 60, 120, 300]

const checked = (bounds: readonly number[], what: string): number[] => {
  const all = [...bounds]
  if (all.length > 0 && all.length <= 100 && all.every((bound, i) => bound > (all[i - 1] ?? 0) && bound < Infinity))
    return all
  throw new RangeError(`${what} must be at most 100 numbers above 0, each larger than the one before`)
}

/** The bounds that were chosen. */
export interface Bounds {
  readonly wait: number[]
  readonly hold: number[]
}

export const bucketsOf = ({ wait = WAIT, hold = HOLD }: Buckets = {}): Bounds => ({
  wait: checked(wait, 'buckets.wait'),
  hold: checked(hold, 'buckets.hold'),
})
