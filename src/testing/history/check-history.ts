import { claimsOf } from './hold-claims.js'
import type { HistoryEvent, HistoryOptions, Rule, Violation } from './events.js'
import { isCall } from './events.js'
import { checkExclusion, checkFencing } from './exclusion.js'
import { checkFairness } from './fairness.js'
import { checkEnds, checkForgotten } from './forgotten.js'
import type { Finding, HistoryRecord } from './history-record.js'
import { recordOf } from './history-record.js'
import { OutsideEvents } from './outside-events.js'

/**
 * Looks through what one or many processes told of their holds, and says what cannot be. Events may come in any order;
 * those of one moment count in the order given. Takes n log n time.
 */
export const checkHistory = (events: readonly HistoryEvent[], options: HistoryOptions = {}): Violation[] => {
  const { fair = false, forgottenAfter, unfinished = false, limit = 10 } = options
  const found: Finding[] = []
  const counts = new Map<Rule, number>()
  const report = (finding: Finding): boolean => {
    const count = (counts.get(finding.rule) ?? 0) + 1
    counts.set(finding.rule, count)
    if (count <= limit) found.push(finding)
    return count < limit
  }
  const record = recordOf(events, report)
  const world = new OutsideEvents(record.world, options)
  for (const lock of record.locks.values()) {
    const claims = claimsOf(lock, report)
    checkExclusion(lock, claims, world, report)
    checkFencing(lock, claims, world, report)
    if (typeof fair === 'function' ? fair(lock.name) : fair) checkFairness(lock, world, report)
    if (record.last !== undefined && !unfinished) checkEnds(lock, record.last, report)
    if (forgottenAfter !== undefined) checkForgotten(lock, world, forgottenAfter, report)
  }
  return found.map((finding) => ({ ...finding, between: between(record, finding) }))
}

/** What happened to the lock meanwhile, and what happened around it. */
const between = ({ locks, world }: HistoryRecord, { name, first, second }: Finding): HistoryEvent[] => {
  const all = locks.get(name)?.events.map(({ event }) => event) ?? []
  const edges = [all.findIndex((event) => event === first), all.findIndex((event) => event === second)]
  const from = edges[0] === -1 ? all.findIndex(({ at }) => at >= first.at) : (edges[0] as number) + 1
  const to = edges[1] === -1 ? all.length : (edges[1] as number)
  const inside: HistoryEvent[] = from === -1 ? [] : all.slice(from, to)
  const processes = new Set([first, second].map((event) => (isCall(event) ? event.process : undefined)))
  const around = world.filter(
    (event) =>
      event.at <= second.at &&
      event.to >= first.at &&
      (event.name ?? name) === name &&
      (event.process === undefined || processes.has(event.process)),
  )
  return [...inside, ...around].sort((a, b) => a.at - b.at)
}
