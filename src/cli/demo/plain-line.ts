import type { Line } from './stage.js'
import { plainMessage, plainText } from '../../plain-text.js'

/**
 * One line for each event, with the seconds since the start first and without escape codes: for pipes, logs and small terminals.
 */
export const plainLine = ({ at, lock, text }: Line): string => {
  const time = (at / 1000).toFixed(2).padStart(6)
  return lock === undefined
    ? `${time}  ## ${plainMessage(text)}`
    : `${time}  ${plainText(lock).padEnd(9)} ${plainMessage(text)}`
}
