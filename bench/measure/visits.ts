import type { WorkEvent } from '../../test/suites/interop/support/java-lock.js'
import type { Sample } from '../base/load.js'
import { Recorder } from '../base/stats.js'

/** One call of a worker, as the worker reported it; times in ms of the machine's monotonic clock. */
export interface Visit {
  readonly worker: string
  readonly mode: 'read' | 'write'
  readonly asked: number
  had?: number
  left?: number
  /** The call was refused. */
  refused?: true
}

/** The measured part of a run. */
export interface Stretch {
  readonly from: number
  readonly until: number
  /** When the harness stopped listening. */
  readonly end: number
}

/** Events that must not happen to a caller that does not give up and whose process is alive. */
const FAILURES: readonly WorkEvent['event'][] = ['refused', 'failed', 'lost', 'orphan']

/** In words. */
export const failuresOf = (events: readonly WorkEvent[]): string[] =>
  events.filter(({ event }) => FAILURES.includes(event)).map(({ event, reason }) => reason ?? event)

export const visitsOf = (events: readonly WorkEvent[]): Visit[] => {
  const visits: Visit[] = []
  const current = new Map<string, Visit>()
  for (const { worker, event, at, mode = 'write' } of events) {
    if (event === 'invoke') {
      const visit: Visit = { worker, mode, asked: at }
      current.set(worker, visit)
      visits.push(visit)
    }
    const visit = current.get(worker)
    if (visit === undefined) continue
    if (event === 'granted') visit.had = at
    if (event === 'refused') visit.refused = true
    if (event === 'releasing' || event === 'lost') visit.left = at
  }
  return visits
}

/** How many places a visit takes. */
export type Takes = (visit: Visit) => number

const staysOf = (visits: readonly Visit[], takes: Takes, end: number): Float64Array => {
  const stays = new Recorder()
  for (const visit of visits) {
    const { had, left = end } = visit
    if (had === undefined) continue
    for (let place = takes(visit); place > 0; place--) {
      stays.add(1000 * had)
      stays.add(1000 * left)
    }
  }
  return stays.values
}

/** The whole waits of everybody who waited within the measured stretch. A caller that is still waiting has waited until its end. */
const waitsOf = (visits: readonly Visit[], { from, until, end }: Stretch): number[] =>
  visits
    .filter(({ asked, had = end, refused }) => asked < until && had >= from && refused === undefined)
    .map(({ asked, had = end }) => had - asked)

/** What the workers of one process reported, in the shape that the processes of other scenarios report. */
export const sampleOf = (
  visits: readonly Visit[],
  workers: number,
  stretch: Stretch,
  takes: Takes = () => 1,
): Sample => {
  const { from, until, end } = stretch
  const had = visits.filter((visit) => visit.had !== undefined)
  const counted = had.filter((visit) => visit.had! >= from && visit.had! < until)
  const of = (index: number): number => counted.filter(({ worker }) => worker === `w${index}`).length
  return {
    pairs: counted.length,
    total: had.length,
    waits: Float64Array.from(waitsOf(visits, stretch)),
    stays: staysOf(visits, takes, end),
    crowded: 0,
    visits: Array.from({ length: workers }, (_, index) => of(index)),
    held: had.reduce((sum, visit) => sum + (visit.left ?? end) - visit.had!, 0),
    cpu: 0,
    asleep: visits.filter((visit) => visit.had === undefined && visit.refused === undefined).length,
  }
}
