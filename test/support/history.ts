import assert from 'node:assert/strict'
import type { HistoryEvent } from 'holdfast/testing'
import { checkHistory, explain } from 'holdfast/testing'

/** One stay inside, on a clock that all share. */
export interface Stay {
  readonly who: string
  readonly from: number
  readonly to: number
}

/** No two stays overlap. */
export const neverTwo = (stays: readonly Stay[]): void => {
  const events = stays.flatMap(({ who, from, to }): HistoryEvent[] => {
    const step = { process: who, call: who, name: 'inside' }
    return [
      { at: from, what: 'invoke', ...step },
      { at: from, what: 'granted', ...step },
      { at: to, what: 'releasing', ...step },
      { at: to, what: 'released', ...step },
    ]
  })
  assert.equal(checkHistory(events).map(explain).join('\n\n'), '')
}
