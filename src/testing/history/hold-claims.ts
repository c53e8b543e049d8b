import type { CallEvent } from './events.js'
import type { Call, LockRecord, Report, Seen } from './history-record.js'
import { lastWhere } from './history-record.js'

/**
 * For how long a hold says that it is held: from its grant until the caller gives it up, it is lost or its process dies,
 * and never beyond the newest `until` that it stated. So a process that was stopped counts from its next tick.
 */
export interface Claim {
  readonly call: Call
  readonly start: Seen
  /** What ended it; undefined: only time. */
  readonly end: Seen | undefined
  readonly until: number
}

const trusts = ({ event }: Seen): boolean => event.until === undefined || event.until > event.at

/** In the order of their starts. Whoever says that it is held after it said that it was not is reported. */
export const claimsOf = (lock: LockRecord, report: Report): Claim[] => {
  const claims: Claim[] = []
  for (const call of lock.calls) {
    const claim = claimOf(call)
    if (claim !== undefined) claims.push(claim)
    const over = call.said.findIndex((said) => !trusts(said))
    const again = over === -1 ? undefined : call.said.slice(over).find(trusts)
    if (again === undefined) continue
    const first = (call.said[over] as Seen).event
    const why = 'The hold said that it was over, and later that it is held.'
    report({ rule: 'trust', name: lock.name, first, second: again.event, why })
  }
  return claims.sort((a, b) => a.start.rank - b.start.rank)
}

const claimOf = (call: Call): Claim | undefined => {
  const newest = lastWhere(call.said, trusts)
  const start = call.said[0]
  if (start === undefined || newest === undefined) return undefined
  const { until = Infinity } = newest.event
  const denied = newest === call.said.at(-1) ? undefined : call.said[call.said.indexOf(newest) + 1]
  return { call, start, end: denied ?? call.releasing ?? call.end, until }
}

/** Whether it still claims to be held when `other` starts. */
export const claimsAt = ({ end, until }: Claim, { event, rank }: Seen): boolean =>
  event.at < until && (end === undefined || rank < end.rank)

/** What it said that speaks against `other`: the last word before it that reaches so far, else the first one behind. */
export const wordAgainst = (claim: Claim, other: Seen): CallEvent => {
  const reaches = ({ event, rank }: Seen): boolean =>
    rank < other.rank && (event.until === undefined || event.until > other.event.at)
  const later = ({ event, rank }: Seen): boolean => rank > other.rank && trusts({ event, rank })
  return (lastWhere(claim.call.said, reaches) ?? claim.call.said.find(later) ?? claim.start).event
}

/** The first time that it said later than `at` that it is held. */
export const wordAfter = ({ call }: Claim, at: number): CallEvent | undefined =>
  call.said.find((said) => said.event.at > at && trusts(said))?.event
