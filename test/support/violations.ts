import assert from 'node:assert/strict'
import { explain, type Violation } from 'holdfast/testing'

/** So many are shown: a failure has to fit a screen or two, and one is often the cause of the rest. */
const SHOWN = 2

/** The first of them, and how many more there are. Empty: none. */
export const explained = (violations: readonly Violation[]): string => {
  const hidden = violations.length - SHOWN
  const shown = violations.slice(0, SHOWN).map(explain)
  return [...shown, ...(hidden > 0 ? [`… ${hidden} more violations …`] : [])].join('\n\n')
}

/** Fails with a short text. */
export const assertNone = (violations: readonly Violation[]): void => {
  if (violations.length > 0) assert.fail(`violations of what must be so:\n${explained(violations)}`)
}
