import { systemClock } from '../base/clock.js'
import type { EngineError } from '../errors.js'
import { tell, textOf } from '../thrown.js'
import { isAway } from '../away-or-refusing.js'

/** How long trouble of one kind is not reported again, ms. */
const AGAIN = 60_000

export interface ReportOptions {
  /** Begins the warnings: `rate limit 'x'`. */
  readonly who: string
  /** What becomes of the requests. */
  readonly effect: (error: EngineError) => string
  readonly onError: ((error: unknown) => void) | undefined
}

/** Reports that the server cannot be asked, or refuses: trouble of each kind once a minute. Otherwise, nobody would learn why requests are refused or not counted. */
export const troubleReport = ({ who, effect, onError }: ReportOptions): ((error: EngineError) => void) => {
  const reportedAt = new Map<string, number>()
  const warn = (what: string, thrown: unknown): void =>
    process.emitWarning(`${who}: ${what}: ${textOf(thrown)}`, 'HoldfastWarning')
  return (error) => {
    const now = systemClock.monotonic()
    if (now - (reportedAt.get(error.code) ?? -Infinity) < AGAIN) return
    reportedAt.set(error.code, now)
    const what = isAway(error) ? 'the server cannot be asked' : 'the server refuses'
    if (onError === undefined) warn(`${what}, so ${effect(error)}`, error)
    else
      tell(
        () => onError(error),
        (thrown) => warn('onError threw', thrown),
      )
  }
}
