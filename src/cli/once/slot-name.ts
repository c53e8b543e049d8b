import { plainText } from '../../plain-text.js'
import { durationOf } from '../run/duration.js'
import { UsageError } from '../usage-error.js'

/** The name of the slot at a moment of the server's clock, ms since the epoch. */
export type SlotAt = (now: number) => string

const MINUTE = 60_000
const DAY = 86_400_000

/**
 * The minute in which cron started the command. cron does so at whole minutes, by a clock that may differ from the server's: the nearest whole minute is the right one, if that is
 * less than half a minute.
 */
const startOf = (now: number): number => Math.round(now / MINUTE) * MINUTE

const isoOf = (ms: number): string => `${new Date(ms).toISOString().slice(0, 16)}Z`

/** Periods are counted from the epoch, so that all machines have the same ones. */
const periodAt =
  (ms: number): SlotAt =>
  (now) =>
    isoOf(Math.floor(startOf(now) / ms) * ms)

const dayAt = (timezone: string): SlotAt => {
  const format = formatOf(timezone)
  return (now) => {
    const parts = new Map(format.formatToParts(startOf(now)).map(({ type, value }) => [type, value]))
    return `${parts.get('year')}-${parts.get('month')}-${parts.get('day')}`
  }
}

const formatOf = (timeZone: string): Intl.DateTimeFormat => {
  const digits = { year: 'numeric', month: '2-digit', day: '2-digit' } as const
  try {
    return new Intl.DateTimeFormat('en', { timeZone, calendar: 'gregory', numberingSystem: 'latn', ...digits })
  } catch {
    throw new UsageError(`--timezone must be a time zone such as Europe/Berlin, not "${plainText(timeZone)}"`)
  }
}

const everyOf = (text: string): number => {
  const ms = durationOf(text, '--every')
  if (ms >= MINUTE && ms % MINUTE === 0) return ms
  throw new UsageError(`--every must be whole minutes, such as 5m or 1h, not "${plainText(text)}"`)
}

interface Wanted {
  readonly slot?: string | undefined
  readonly every?: string | undefined
  readonly timezone?: string | undefined
}

/** As texts, these would run once, and not again while the server remembers it. */
const LIKE_A_PERIOD =
  /^(?:\d+(?:\.\d+)?\s*(?:ms|s|m|h|d|w)|(?:minute|hour|day|night|week|month|year)s?|(?:minute|hour|night|week|month|year)ly|daily)$/i

/** What `--slot`, `--every` and `--timezone` say. `period`: ms. */
export interface Slotted {
  readonly slotAt: SlotAt
  readonly period: number
}

export const slottedOf = ({ slot, every, timezone }: Wanted): Slotted => {
  if (timezone !== undefined && slot !== 'day') throw new UsageError('--timezone is for --slot day only')
  if (slot !== undefined && every !== undefined) throw new UsageError('--slot and --every exclude each other')
  if (every !== undefined) return periodOf(everyOf(every))
  switch (slot) {
    case undefined:
    case '':
      throw new UsageError('the slot is missing: write --slot minute, hour, day or any text, or --every 5m')
    case 'minute':
      return periodOf(MINUTE)
    case 'hour':
      return periodOf(60 * MINUTE)
    case 'day':
      // A day of UTC may have two nights of the crontab's zone when its clock changes, and the second would be skipped.
      if (timezone === undefined)
        throw new UsageError('--slot day needs --timezone: that of the crontab, such as Europe/Berlin or UTC')
      return { slotAt: dayAt(timezone), period: DAY }
    default:
      if (LIKE_A_PERIOD.test(slot))
        throw new UsageError(
          `--slot "${plainText(slot)}" would be the same slot for ever; write minute, hour or day, or --every 5m`,
        )
      return { slotAt: () => slot, period: 0 }
  }
}

const periodOf = (period: number): Slotted => ({ slotAt: periodAt(period), period })
