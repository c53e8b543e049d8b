import type * as Croner from 'croner'
import { dateAt } from '../base/clock.js'
import { quoted } from '../plain-text.js'
import { textOf } from '../thrown.js'

/** When a schedule is due. All times are ms since the epoch. */
export interface Cron {
  /** The first slot after this moment. */
  next(after: number): number | undefined
  /** The newest slots up to this moment, inclusive; the oldest first. */
  before(until: number, most: number): number[]
}

const load = async (): Promise<typeof Croner> => {
  try {
    return await import('croner')
  } catch (cause) {
    throw new Error("holdfast/schedule needs the package croner: run 'npm install croner'", { cause })
  }
}

/** The slots of a pattern, computed by croner. */
export const cronOf = async (pattern: string, timezone: string): Promise<Cron> => {
  const { Cron: Pattern } = await load()
  let found: Croner.Cron
  try {
    found = new Pattern(pattern, { timezone, paused: true, fixedTimeRule: 'no-wildcard' })
    // croner checks the time zone only when it computes a date.
    if (found.nextRun(dateAt(0)) === null) throw new Error('no date matches the pattern')
  } catch (cause) {
    const what = `cannot compute slots for ${quoted(pattern)} in ${quoted(timezone)}`
    throw new TypeError(`${what}: ${textOf(cause)}`, { cause })
  }
  return {
    next: (after) => found.nextRun(dateAt(after))?.getTime(),
    // A slot that is due at this very moment counts as past; croner leaves it out.
    before: (until, most) =>
      found
        .previousRuns(most, dateAt(until + 1))
        .map((date) => date.getTime())
        .reverse(),
  }
}
