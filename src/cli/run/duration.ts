import { plainText } from '../../plain-text.js'
import { UsageError } from '../usage-error.js'

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const FORM = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/
/** The longest lease that a client accepts is longer: this is a bound for typing errors. */
const LONGEST = 365 * 86_400_000

/** ms of a duration such as `500ms`, `10s` or `2m`. A number without a unit is refused, because tools disagree on what it means. */
export const durationOf = (text: string, option: string): number => {
  if (text === '0') return 0
  const [, number, unit = ''] = FORM.exec(text) ?? []
  const factor = UNITS[unit]
  if (number === undefined || factor === undefined) {
    const hint = /^\d+(\.\d+)?$/.test(text) ? `, so write ${text}s for seconds` : ''
    throw new UsageError(`${option} must be a duration such as 500ms, 10s or 2m, not "${plainText(text)}"${hint}`)
  }
  const ms = Math.round(Number(number) * factor)
  if (ms > LONGEST) throw new UsageError(`${option} must be at most 365d, not "${plainText(text)}"`)
  return ms
}
