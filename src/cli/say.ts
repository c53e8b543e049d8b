import { writeSync } from 'node:fs'
import { plainMessage } from '../plain-text.js'
import { traceOf } from '../thrown.js'
import { EXIT } from './exit-code.js'

/**
 * Writes to stderr, as it is. Not through `process.stderr`: that makes a pipe non-blocking, also for the command, which shares it and may not expect that.
 */
export const toStderr = (text: string): void => {
  try {
    writeSync(2, text)
  } catch {
    // Nobody reads it: the terminal is closed, or the pipe is full.
  }
}

/** One line for the user. */
export const say = (text: string): void => toStderr(`holdfast: ${plainMessage(text)}\n`)

/** A bug. The guardian sees this process end, and ends the command. */
export const crash = (error: unknown): never => {
  toStderr(`holdfast: ${traceOf(error)}\n`)
  process.exit(EXIT.bug)
}
