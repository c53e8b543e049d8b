import assert from 'node:assert/strict'
import * as testing from 'holdfast/testing'

/** One stay inside: nanoseconds of the machine's monotonic clock, comparable between its processes. */
export interface Stay {
  readonly who: string
  readonly from: bigint
  readonly to: bigint
}

/** No two stays overlap. */
export const checkHistory = (stays: readonly Stay[]): void => {
  const [first] = stays
  const events = stays.flatMap(({ who, from, to }): testing.HistoryEvent[] => {
    const step = { process: who, call: who, name: 'inside' }
    const [begin, end] = [from, to].map((at) => Number(at - (first?.from ?? 0n)) / 1e6) as [number, number]
    return [
      { at: begin, what: 'invoke', ...step },
      { at: begin, what: 'granted', ...step },
      { at: end, what: 'releasing', ...step },
      { at: end, what: 'released', ...step },
    ]
  })
  assert.equal(testing.checkHistory(events).map(testing.explain).join('\n\n'), '')
}
