import { EngineError } from '../errors.js'
import { textOf } from '../thrown.js'

/** What kind of trouble an error is. */
export const kindOf = (error: unknown): string => (error instanceof EngineError ? error.code : textOf(error))

/** The server cannot be reached, or does not answer: it may do so again. */
export const isAway = (error: unknown): boolean => ['OFFLINE', 'NO_REPLY'].includes(kindOf(error))
