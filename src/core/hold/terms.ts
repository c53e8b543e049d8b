/** On which terms a hold is taken: for how long, and whether the watchdog renews it. */
export interface Terms {
  readonly lease: number
  readonly watched: boolean
}

export const alike = (one: Terms, other: Terms): boolean => one.watched === other.watched && one.lease === other.lease

/** By how much a hold counts as lost before the server gives it away; the server counts in whole milliseconds. */
export const marginOf = (lease: number): number => Math.min(Math.max(lease / 20, 1), 500)

/** What PTTL answers, as callers know it. Undefined: there is no such key. */
export const leftOf = (ttl: number): number | undefined => {
  if (ttl === -2) return undefined
  return ttl === -1 ? Infinity : ttl
}

/** How long what the server granted may go from hand to hand here before other processes get their turn, ms; and how often. */
export const PASS_TIME = 58
