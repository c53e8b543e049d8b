import { writeSync } from 'node:fs'
import { plainMessage } from '../../plain-text.js'

/**
 * Tells the user something. Not through `process.stderr`: that makes a pipe non-blocking, also for the command, which shares it and may not expect
 * that.
 */
export const say = (text: string): void => {
  try {
    writeSync(2, `holdfast: ${plainMessage(text)}\n`)
  } catch {
    // Nobody reads it: the terminal is closed, or the pipe is full.
  }
}
