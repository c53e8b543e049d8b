import type { CallEvent, HistoryEvent, Violation, WorldEvent } from './events.js'
import { isCall } from './events.js'

/** A call's event and its place in the whole history: what happens in one millisecond has an order too. */
export interface Seen {
  readonly event: CallEvent
  readonly rank: number
}

/** One call and what became of it. */
export interface Call {
  readonly id: string
  readonly process: string
  readonly owner: string
  readonly shared: boolean
  readonly invoke: Seen
  lease: number
  queued: Seen | undefined
  /** `granted`, and each `checked` behind it. */
  readonly said: Seen[]
  releasing: Seen | undefined
  end: Seen | undefined
}

/** One lock. */
export interface LockRecord {
  readonly name: string
  /** In the order of their `invoke`. */
  readonly calls: Call[]
  readonly events: Seen[]
}

export interface HistoryRecord {
  readonly locks: ReadonlyMap<string, LockRecord>
  readonly world: readonly WorldEvent[]
  readonly last: CallEvent | undefined
}

/** A violation as a rule finds it. */
export type Finding = Omit<Violation, 'between'>

/** Takes a finding; false: enough of this rule. */
export type Report = (finding: Finding) => boolean

/** Which steps may stand before a step. */
const BEFORE: Readonly<Record<CallEvent['what'], readonly CallEvent['what'][]>> = {
  invoke: [],
  queued: ['invoke'],
  granted: ['invoke', 'queued'],
  checked: ['granted', 'checked'],
  releasing: ['granted', 'checked'],
  released: ['releasing'],
  lost: ['granted', 'checked', 'releasing'],
  refused: ['invoke', 'queued'],
  crashed: ['invoke', 'queued', 'granted', 'checked', 'releasing'],
}

/** Sorts the events by time, those of one moment as given, and gathers them by lock and call. */
export const recordOf = (events: readonly HistoryEvent[], report: Report): HistoryRecord => {
  const world: WorldEvent[] = []
  const steps: CallEvent[] = []
  for (const event of events) {
    if (isCall(event)) steps.push(event)
    else world.push(event)
  }
  const byTime = (a: HistoryEvent, b: HistoryEvent): number => a.at - b.at
  world.sort(byTime)
  steps.sort(byTime)
  const locks = new Map<string, LockRecord>()
  const calls = new Map<string, { readonly call: Call; latest: CallEvent }>()
  steps.forEach((event, rank) => {
    const lock = lockOf(locks, event.name)
    const seen = { event, rank }
    lock.events.push(seen)
    const known = calls.get(event.call)
    const wrong = mistake(known?.latest, event)
    if (wrong !== undefined) {
      report({ rule: 'order', name: event.name, first: known?.latest ?? event, second: event, why: wrong })
    } else if (known === undefined) {
      const call = begin(seen)
      calls.set(event.call, { call, latest: event })
      lock.calls.push(call)
    } else {
      note(known.call, seen)
      known.latest = event
    }
  })
  return { locks, world, last: steps.at(-1) }
}

const lockOf = (locks: Map<string, LockRecord>, name: string): LockRecord => {
  const known = locks.get(name)
  if (known !== undefined) return known
  const lock = { name, calls: [], events: [] }
  locks.set(name, lock)
  return lock
}

const mistake = (latest: CallEvent | undefined, event: CallEvent): string | undefined => {
  if (latest === undefined) return event.what === 'invoke' ? undefined : `The call is '${event.what}' but never began.`
  if (latest.name !== event.name) return `The call began for '${latest.name}' and goes on for '${event.name}'.`
  if (latest.process !== event.process) return `The call began in ${latest.process} and goes on in ${event.process}.`
  if (BEFORE[event.what].includes(latest.what)) return undefined
  return `A call that is '${latest.what}' cannot be '${event.what}' next.`
}

const begin = (invoke: Seen): Call => {
  const { call: id, process, owner, mode, lease } = invoke.event
  return {
    id,
    process,
    owner: owner ?? id,
    shared: mode === 'shared',
    invoke,
    lease: lease ?? 0,
    queued: undefined,
    said: [],
    releasing: undefined,
    end: undefined,
  }
}

const note = (call: Call, seen: Seen): void => {
  const { what, at, until, lease } = seen.event
  if (what === 'queued') call.queued = seen
  else if (what === 'granted' || what === 'checked') call.said.push(seen)
  else if (what === 'releasing') call.releasing = seen
  else call.end = seen
  if (lease !== undefined) call.lease = Math.max(call.lease, lease)
  else if (until !== undefined && until < Infinity) call.lease = Math.max(call.lease, until - at)
}

export const lastWhere = <T>(list: readonly T[], condition: (one: T) => boolean): T | undefined => {
  for (let index = list.length - 1; index >= 0; index--) {
    if (condition(list[index] as T)) return list[index]
  }
  return undefined
}
