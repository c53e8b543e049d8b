import { writeSync } from 'node:fs'
import { plainMessage } from '../../plain-text.js'
import { traceOf } from '../../thrown.js'
import { EXIT } from './exit-code.js'

/**
 * Writes to stderr. Not through `process.stderr`: that makes a pipe non-blocking, also for the command, which shares it and may not expect that.
 */
const write = (text: string): void => {
  try {
    writeSync(2, `holdfast: ${text}\n`)
  } catch {
    // Nobody reads it: the terminal is closed, or the pipe is full.
  }
}

/** One line for the user. */
export const say = (text: string): void => write(plainMessage(text))

/** A bug. The guardian sees this process end, and ends the command. */
export const crash = (error: unknown): never => {
  write(traceOf(error))
  process.exit(EXIT.bug)
}
