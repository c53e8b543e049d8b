import type { OnLost } from './run-options.js'

const GRACE = 5000

/** How a hold is doing, at one moment. */
export interface Pulse {
  /** For how many ms it is certain. */
  readonly left: number
  /** The most that it ever was: close to the whole lease. After a wait it is short at first, until the grant is confirmed. */
  readonly most: number
  /** ms that `--grace` gives; undefined if it was omitted. */
  readonly grace: number | undefined
  readonly onLost: OnLost
}

/**
 * How many ms before the end of the lease the command gets its TERM. A hold that is well is renewed when a third of its lease is over, so a
 * grace of a third never begins while all is well.
 */
export const graceOf = ({ grace = GRACE, most }: Pick<Pulse, 'grace' | 'most'>): number => Math.min(grace, most / 3)

/** What to do now: nothing, let the command end, or end it. */
export const whatToDo = (pulse: Pulse): 'fine' | 'term' | 'kill' => {
  const { left, onLost } = pulse
  if (onLost === 'ignore') return 'fine'
  if (onLost === 'kill') return left > 0 ? 'fine' : 'kill'
  return left > graceOf(pulse) ? 'fine' : 'term'
}

/**
 * ms from the TERM to the KILL: what is left of the lease. If nothing is left, because the lock was released by force, another holder may be at
 * work already. Then only a `--grace` that the user asked for delays the KILL.
 */
export const patienceOf = ({ left, grace }: Pulse): number => {
  if (left <= 0) return grace ?? 0
  return Math.min(left, grace ?? GRACE)
}

/** How often the hold is looked at, ms. */
export const paceOf = (most: number): number => Math.min(Math.max(most / 10, 50), 1000)
