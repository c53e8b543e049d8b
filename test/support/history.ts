import * as testing from 'holdfast/testing'
import { assertNone } from './violations.js'

/** One stay inside: nanoseconds of the machine's monotonic clock, comparable between its processes. */
export interface Stay {
  readonly who: string
  readonly from: bigint
  readonly to: bigint
  /** Together with others of the kind. */
  readonly shared?: boolean
}

/** No two stays overlap, unless both are shared. */
export const checkHistory = (stays: readonly Stay[]): void => {
  const [first] = stays
  const events = stays.flatMap(({ who, from, to, shared }): testing.HistoryEvent[] => {
    const mode = shared === true ? ('shared' as const) : ('exclusive' as const)
    const step = { process: who, call: who, name: 'inside', mode }
    const [begin, end] = [from, to].map((at) => Number(at - (first?.from ?? 0n)) / 1e6) as [number, number]
    return [
      { at: begin, what: 'invoke', ...step },
      { at: begin, what: 'granted', ...step },
      { at: end, what: 'releasing', ...step },
      { at: end, what: 'released', ...step },
    ]
  })
  assertNone(testing.checkHistory(events))
}
