import { parseArgs, type ParseArgsConfig } from 'node:util'
import { textOf } from '../thrown.js'

/** The command line was wrong: only the message is shown, and the exit code is 2. */
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
