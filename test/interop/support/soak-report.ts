import { explain } from 'holdfast/testing'
import { explainWait, longestWait } from '../../soak/report.js'
import type { Outcome } from './mixed-soak.js'
import type { WorkEvent } from './java-lock.js'

/** What was seen, as lines. */
export const told = ({
  seconds,
  seed,
  lives,
  history,
  faults,
  violations,
  left,
  mishaps,
  deadHead,
}: Outcome): string[] => {
  const of = (rule: string): number => violations.filter((violation) => violation.rule === rule).length
  const granted = (side: string): number =>
    count(
      lives.filter((life) => life.side === side),
      'granted',
    )
  const [java, node] = [granted('java'), granted('node')]
  const share = (visits: number): string => `${((100 * visits) / (java + node)).toFixed(1)} %`
  const wait = longestWait(history)
  return [
    `${seconds} s, seed ${seed}: ${java + node} visits, Redisson’s ${java} (${share(java)}), ours ${node} (${share(node)})`,
    `refused ${count(lives, 'refused')}, lost ${count(lives, 'failed') + count(lives, 'lost')}, faults: ${[...faults].map(([what, times]) => `${what} ${times}`).join(', ')}`,
    `a dead waiter of Redisson’s was the head of a free lock’s queue for ${deadHead.toFixed(0)} ms at most`,
    ...(wait === undefined ? [] : explainWait(wait, history)),
    `overlaps: ${of('exclusion')}; forgotten waiters: ${of('forgotten')}; other violations: ${violations.length - of('exclusion') - of('forgotten')}; left on the server: ${left.length}`,
    ...violations.slice(0, 5).map(explain),
    ...mishaps,
    ...left,
  ]
}

const count = (lives: Outcome['lives'], event: WorkEvent['event']): number =>
  lives.reduce((sum, { events }) => sum + events.filter((one) => one.event === event).length, 0)
