import { EngineError, HoldfastError } from './errors.js'
import { textOf } from './thrown.js'

const AWAY: ReadonlySet<string> = new Set(['OFFLINE', 'NO_REPLY'])
const FOR_GOOD: ReadonlySet<string> = new Set(['WRONG_KIND', 'WRONGTYPE', 'NOPERM', 'NOAUTH', 'WRONGPASS', 'CROSSSLOT'])

/** The server cannot be reached, or does not answer. That concerns all calls, while other trouble may concern one call only. */
export const isAway = (trouble: unknown): boolean => trouble instanceof EngineError && AWAY.has(trouble.code)

/** The server refuses, and waiting cannot fix that. It may get memory, disk or replicas back, and an unknown error may come from a proxy. */
export const refusesForGood = (trouble: unknown): boolean =>
  trouble instanceof EngineError && FOR_GOOD.has(trouble.code)

/** What kind of trouble an error is, so that each kind is reported once. */
export const troubleOf = (error: unknown): string => (error instanceof HoldfastError ? error.code : textOf(error))

/** An error with what it is about. That of the server keeps its code. */
export const explained = (error: unknown, what: string): Error => {
  const text = `${what}: ${textOf(error)}`
  if (!(error instanceof EngineError)) return new Error(text, { cause: error })
  return new EngineError(error.code, text, { target: error.target, cause: error })
}
