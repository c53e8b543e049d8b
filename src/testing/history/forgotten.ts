import type { CallEvent } from './events.js'
import type { Call, LockRecord, Report } from './history-record.js'
import type { Span, OutsideEvents } from './outside-events.js'
import { firstAfter, merged } from './outside-events.js'

/** Every call ends, and every hold. */
export const checkEnds = (lock: LockRecord, last: CallEvent, report: Report): void => {
  for (const call of lock.calls) {
    if (call.end !== undefined) continue
    const latest = (call.releasing ?? call.said.at(-1) ?? call.queued ?? call.invoke).event
    const why = `Call ${call.id} of ${call.process} never ended: it was last '${latest.what}'.`
    if (!report({ rule: 'endless', name: lock.name, first: latest, second: last, why })) return
  }
}

/** A call that waits for a free lock has it soon, while its process is in no trouble. */
export const checkForgotten = (lock: LockRecord, world: OutsideEvents, after: number, report: Report): void => {
  const free = freeSpans(lock, world).filter(({ from, to }) => to - from > after)
  for (const call of free.length === 0 ? [] : lock.calls) {
    const ended = (call.said[0] ?? call.end)?.event
    if (ended === undefined) continue
    const [from, to] = [call.invoke.event.at, ended.at]
    for (let index = firstAfter(free, from); (free[index]?.from ?? Infinity) < to; index++) {
      const gap = free[index] as Span
      const waited = { from: Math.max(gap.from, from), to: Math.min(gap.to, to) }
      const idle = longestWithout(world.troubles(call.process), waited)
      if (idle.to - idle.from <= after) continue
      const first = gap.from > from ? openerOf(lock, gap) : call.invoke.event
      const why = `Call ${call.id} waited ${(idle.to - idle.from).toFixed(0)} ms for a free lock, although its process was in no trouble.`
      if (!report({ rule: 'forgotten', name: lock.name, first, second: ended, why })) return
    }
  }
}

/** When the server had it for nobody, for all that is known. */
const freeSpans = (lock: LockRecord, world: OutsideEvents): Span[] => {
  const free: Span[] = []
  let from = -Infinity
  for (const taken of merged(lock.calls.flatMap((call) => takenBy(call, world)))) {
    free.push({ from, to: taken.from })
    from = taken.to
  }
  free.push({ from, to: Infinity })
  return free
}

/** While the server may have it for this call: up to its release, or a lease longer than anything was heard of it. */
const takenBy = (call: Call, world: OutsideEvents): Span[] => {
  const end = call.end?.event
  const granted = call.said[0]?.event
  if (granted !== undefined) {
    const until = call.said.at(-1)?.event.until ?? Infinity
    if (end === undefined) return [{ from: granted.at, to: until + call.lease }]
    if (end.what === 'released') return [{ from: granted.at, to: end.at }]
    return [{ from: granted.at, to: end.at + call.lease }]
  }
  if (end === undefined) return []
  const from = call.invoke.event.at
  // An attempt that nobody heard the answer of.
  const unheard = end.what === 'crashed' || world.troubled(call.process, { from, to: end.at })
  return unheard ? [{ from: end.at, to: end.at + call.lease }] : []
}

/** Whose word it was that it is free from then on. */
const openerOf = (lock: LockRecord, gap: Span): CallEvent => {
  let opener = lock.events[0]?.event as CallEvent
  for (const { event } of lock.events) {
    if (event.at > gap.from) break
    if (event.what === 'released' || event.what === 'lost' || event.what === 'crashed') opener = event
  }
  return opener
}

const longestWithout = (troubles: readonly Span[], { from, to }: Span): Span => {
  let longest: Span = { from, to: from }
  let start = from
  for (let index = firstAfter(troubles, from); start < to; index++) {
    const trouble = troubles[index]
    const end = Math.min(trouble?.from ?? to, to)
    if (end - start > longest.to - longest.from) longest = { from: start, to: end }
    if (trouble === undefined) break
    start = trouble.to
  }
  return longest
}
