import type { HistoryEvent } from 'holdfast/testing'
import { explainWait, longestWait } from '../../soak/report.js'
import { explained } from '../../../support/violations.js'
import type { WorkEvent } from './java-lock.js'
import type { Outcome } from './mixed-soak.js'
import type { Life } from './work-history.js'

/** What must not be, as text for people; empty: all was well. */
export const problemsOf = ({ violations, mishaps, left, facts }: Outcome): string[] => [
  ...(violations.length > 0 ? [`violations of what must be so:\n${explained(violations)}`] : []),
  ...some(mishaps.map((text) => text.split('\n', 1)[0] ?? '')),
  ...facts,
  ...some(left.map((key) => `left on the server: ${key}`)),
]

/** The first few: what fails has to be readable. */
const some = (lines: readonly string[]): string[] =>
  lines.length <= 6 ? [...lines] : [...lines.slice(0, 6), `… ${lines.length - 6} more`]

/** What was seen, as lines. */
export const told = (outcome: Outcome): string[] => {
  const { kind, reads, seconds, seed, lives, faults, violations, left, deadHead } = outcome
  const of = (rule: string): number => violations.filter((violation) => violation.rule === rule).length
  const java = count(livesOf(lives, 'java'), 'granted')
  const node = count(livesOf(lives, 'node'), 'granted')
  const share = (visits: number): string => `${((100 * visits) / (java + node)).toFixed(1)} %`
  return [
    `${kind}${reads === undefined ? '' : `, ${100 * reads} % reads`}, ${seconds} s, seed ${seed}: ` +
      `${java + node} visits, Redisson’s ${java} (${share(java)}), ours ${node} (${share(node)})`,
    `refused ${count(lives, 'refused')}, lost ${count(lives, 'failed') + count(lives, 'lost')}, faults: ${[...faults].map(([what, times]) => `${what} ${times}`).join(', ')}`,
    ...(deadHead === undefined
      ? []
      : [`a dead waiter of Redisson’s was the head of a free lock’s queue for ${deadHead.toFixed(0)} ms at most`]),
    ...waits(outcome),
    `overlaps: ${of('exclusion')}; forgotten waiters: ${of('forgotten')}; other violations: ${violations.length - of('exclusion') - of('forgotten')}; left on the server: ${left.length}`,
  ]
}

/** The longest of all, and why; where there are modes, a writer's: readers wait for one round of writers at most. */
const waits = ({ reads, history, lives }: Outcome): string[] => {
  const some = reads === undefined ? history : history.filter((event) => 'mode' in event && event.mode === 'exclusive')
  const longest = longestWait(some)
  if (longest === undefined) return []
  const text = explainWait(longest, history)
  if (reads === undefined) return text
  const sides = (['java', 'node'] as const).map((side) => {
    const wait = longestWait(some.filter(isOf(livesOf(lives, side))))
    return `${side === 'java' ? 'Redisson’s' : 'ours'} ${wait === undefined ? '–' : (wait.to.at - wait.from.at).toFixed(0)} ms`
  })
  return [`the longest writer’s wait: ${sides.join(', ')}`, ...text]
}

const livesOf = (lives: readonly Life[], side: Life['side']): Life[] => lives.filter((life) => life.side === side)

const isOf = (lives: readonly Life[]): ((event: HistoryEvent) => boolean) => {
  const who = new Set(lives.map((life) => life.who))
  return ({ process }) => process !== undefined && who.has(process)
}

const count = (lives: readonly Life[], event: WorkEvent['event']): number =>
  lives.reduce((sum, { events }) => sum + events.filter((one) => one.event === event).length, 0)

/** How often those of one side were inside, in each mode. */
export const visitsOf = ({ history, lives }: Outcome, side: Life['side'], mode: 'shared' | 'exclusive'): number =>
  history
    .filter(isOf(livesOf(lives, side)))
    .filter((event) => 'call' in event && event.what === 'granted' && event.mode === mode).length
