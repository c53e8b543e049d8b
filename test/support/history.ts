import assert from 'node:assert/strict'

/** One stay inside: nanoseconds of the machine's monotonic clock, comparable between its processes. */
export interface Stay {
  readonly who: string
  readonly from: bigint
  readonly to: bigint
}

/** No two stays overlap. */
export const checkHistory = (stays: readonly Stay[]): void => {
  const sorted = [...stays].sort((a, b) => (a.from < b.from ? -1 : 1))
  for (const [index, stay] of sorted.entries()) {
    assert.ok(stay.from <= stay.to)
    const next = sorted[index + 1]
    if (next === undefined) continue
    assert.ok(next.from > stay.to, `${next.who} entered ${stay.to - next.from} ns before ${stay.who} had left`)
  }
}
