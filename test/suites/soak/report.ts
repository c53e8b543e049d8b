import type { CallEvent, HistoryEvent, Violation, WorldEvent } from 'holdfast/testing'
import { explain } from 'holdfast/testing'
import { isFair, RECOVERY } from './settings.js'

const isCall = (event: HistoryEvent): event is CallEvent => 'call' in event

export interface Outcome {
  readonly seed: number
  readonly minutes: number
  readonly history: readonly HistoryEvent[]
  readonly faults: ReadonlyMap<string, number>
  readonly violations: readonly Violation[]
  /** Keys and channels that stay on the server. */
  readonly left: readonly string[]
  readonly mishaps: readonly string[]
}

interface Wait {
  readonly from: CallEvent
  readonly to: CallEvent
}

export const longestWait = (history: readonly HistoryEvent[]): Wait | undefined => {
  const began = new Map<string, CallEvent>()
  let longest: Wait | undefined
  for (const event of history) {
    if (!isCall(event)) continue
    if (event.what === 'invoke') began.set(event.call, event)
    const from = event.what === 'granted' ? began.get(event.call) : undefined
    if (from === undefined) continue
    if (longest === undefined || event.at - from.at > longest.to.at - longest.from.at) longest = { from, to: event }
  }
  return longest
}

interface Obstacle {
  readonly from: number
  readonly to: number
  readonly what: string
}

const isFor = (event: WorldEvent, { process, name }: CallEvent): boolean =>
  (event.process ?? process) === process && (event.name ?? name) === name

/** Holds that nobody gave back: the server kept them until their leases were over. */
const leasesOf = (calls: readonly CallEvent[]): Obstacle[] => {
  const held = new Map<string, { from: number; until: number }>()
  const leases: Obstacle[] = []
  for (const { what, call, at, until = at } of calls) {
    if (what === 'granted') held.set(call, { from: at, until })
    const hold = held.get(call)
    if (hold === undefined) continue
    hold.until = Math.max(hold.until, until)
    if (what !== 'lost' && what !== 'crashed') continue
    leases.push({ from: hold.from, to: hold.until, what: `held by ${call}, ${what}` })
  }
  return leases
}

/** Why it took so long: who had the lock meanwhile, and what was in the way. */
export const explainWait = ({ from, to }: Wait, history: readonly HistoryEvent[]): string[] => {
  const since = (at: number): string => `+${Math.max(0, at - from.at).toFixed(0)}`.padStart(7)
  const calls = history.filter(isCall).filter(({ name }) => name === from.name)
  const others = calls.filter(({ at, what }) => what === 'granted' && at > from.at && at < to.at)
  const own = others.filter(({ process }) => process === from.process).length
  const times = [from.at, ...others.map(({ at }) => at).sort((a, b) => a - b), to.at]
  const gap = Math.max(...times.slice(1).map((at, index) => at - (times[index] ?? at)))
  const world = history.filter((event): event is WorldEvent => !isCall(event)).filter((event) => isFor(event, from))
  const obstacles = world
    .map((event): Obstacle => {
      const what = `${event.process ?? 'all'}: ${event.note ?? event.what}`
      return { from: event.at, to: event.to - (event.what === 'trouble' ? RECOVERY : 0), what }
    })
    .concat(leasesOf(calls))
    .filter((one) => one.from < to.at && one.to > from.at)
    .sort((a, b) => a.from - b.from)
  return [
    `longest wait: ${(to.at - from.at).toFixed(0)} ms, call ${from.call} for '${from.name}'`,
    `  meanwhile ${others.length} others had it (${own} of its own process); at most ${gap.toFixed(0)} ms between two grants`,
    ...obstacles.slice(0, 16).map((one) => `  ${since(one.from)} to ${since(one.to)} ms  ${one.what}`),
    ...(obstacles.length > 16 ? [`  … ${obstacles.length - 16} more`] : []),
  ]
}

const counted = <T>(list: readonly T[], key: (one: T) => string): [string, number][] => {
  const counts = new Map<string, number>()
  for (const one of list) counts.set(key(one), (counts.get(key(one)) ?? 0) + 1)
  return [...counts].sort((a, b) => b[1] - a[1])
}

const row = (name: string, value: string | number): string => `  ${name.padEnd(30)}${String(value).padStart(9)}`

const RULES = ['exclusion', 'trust', 'fencing', 'order', 'fairness', 'forgotten', 'endless'] as const

/** Prints what came of it; true: all was as it should be. */
export const report = ({ seed, minutes, history, faults, violations, left, mishaps }: Outcome): boolean => {
  const calls = history.filter(isCall)
  const of = (what: CallEvent['what']): number => calls.filter((event) => event.what === what).length
  const refusals = calls.filter(({ what }) => what === 'refused') as (CallEvent & { why?: string })[]
  const waits = [false, true].flatMap(
    (fair) => longestWait(history.filter(({ name }) => isFair(name ?? '') === fair)) ?? [],
  )
  const injected = [...faults.values()].reduce((sum, count) => sum + count, 0)
  for (const violation of violations.slice(0, 5)) console.log(`\n✘ ${explain(violation)}`)
  for (const mishap of mishaps) console.log(`\n✘ ${mishap}`)
  if (left.length > 0) console.log(`\n✘ left on the server: ${left.join(' ')}`)
  const lines = [
    '',
    `soak of ${minutes} minutes, seed ${seed}`,
    ...(['queued', 'granted', 'checked', 'released', 'lost', 'crashed'] as const).map((what) => row(what, of(what))),
    ...counted(refusals, ({ why }) => why ?? '').map(([why, count]) => row(`refused: ${why}`.slice(0, 30), count)),
    `faults: ${injected}`,
    ...[...faults].sort((a, b) => b[1] - a[1]).map(([kind, count]) => row(kind, count)),
    ...waits.flatMap((wait) => explainWait(wait, history)),
    `violations: ${violations.length}; left on the server: ${left.length}${left.length > 0 ? ` (${left.join(' ')})` : ''}`,
  ]
  console.log(lines.join('\n'))
  const broken = new Set<string>(violations.map(({ rule }) => rule))
  const failed =
    broken.size +
    (left.length > 0 ? 1 : 0) +
    (mishaps.length > 0 ? 1 : 0) +
    (of('granted') === 0 || of('queued') === 0 ? 1 : 0)
  console.log(`\n${RULES.length + 3 - failed} passed, ${failed} failed`)
  return failed === 0
}
