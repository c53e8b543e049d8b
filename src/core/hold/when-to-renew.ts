import type { Tenure } from './tenure.js'

/**
 * When to renew a hold, or only to ask about it: it may have been released by force, or another program may have shortened the expiry. `usual`: the lease
 * of a hold that the watchdog renews, unless the caller named another.
 */
export const upkeepAt = ({ watched, lease, lastsUntil, provenAt, protocol }: Tenure, usual: number): number => {
  const third = lease / 3
  if (!watched) return provenAt + (protocol.shared === true ? Math.min(third, usual / 3) : third)
  // An answer that it is still ours is no renewal. Even if another level has a longer lease, ask after a third.
  return Math.min(lastsUntil - 2 * third, provenAt + third)
}

/** ms. Holds that are due within the next thirtieth of the lease go along, for fewer and fuller batches. */
export const early = ({ lease }: Tenure, usual: number): number => Math.min(lease, usual) / 30

/** How soon to ask again after a renewal or a question that failed, ms. */
export const pauseAfterFailure = ({ failures, lease }: Tenure): number => Math.min(25 * 2 ** failures, lease / 10)

/** When a renewal in progress becomes a doubt. */
export const overdueAt = (tenure: Tenure): number =>
  tenure.renewing && tenure.watched && !tenure.trial && !tenure.doubtful
    ? tenure.lastsUntil - tenure.lease / 2
    : Infinity
