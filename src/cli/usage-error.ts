import { parseArgs, type ParseArgsConfig } from 'node:util'
import { plainText } from '../plain-text.js'
import { isA, textOf } from '../thrown.js'

/** The command line is wrong: the message and the usage of the command are shown, and the exit code is 64. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** `parseArgs`, with its errors as a `UsageError`. */
export const parse = <T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> => {
  try {
    return parseArgs(config)
  } catch (error) {
    throw new UsageError(textOf(error))
  }
}

/** The checks of the library say what is wrong with a name, a key or a number of the command line. */
export const usageOf = (error: unknown): unknown =>
  isA(error, TypeError) || isA(error, RangeError) ? new UsageError(textOf(error)) : error

export const asUsage = <T>(make: () => T): T => {
  try {
    return make()
  } catch (error) {
    throw usageOf(error)
  }
}

/** The one argument of a command about one lock, or other thing. */
export const nameIn = ([name, ...more]: readonly string[], thing = 'lock'): string => {
  if (name === undefined || name === '') throw new UsageError(`the name of the ${thing} is missing`)
  if (more.length === 0) return name
  throw new UsageError(`this command takes one name, not also ${more.map((one) => `"${plainText(one)}"`).join(', ')}`)
}
