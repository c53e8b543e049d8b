/** The terms of a hold: how long its lease is, and whether the watchdog renews it. */
export interface LeaseTerms {
  readonly lease: number
  readonly watched: boolean
}

export const alike = (one: LeaseTerms, other: LeaseTerms): boolean =>
  one.watched === other.watched && one.lease === other.lease

/** An answer of PTTL, as callers know it. Undefined: there is no such key. */
export const leftOf = (ttl: number): number | undefined => {
  if (ttl === -2) return undefined
  return ttl === -1 ? Infinity : ttl
}
