import type { Database } from '../database.js'
import { invalidExpire } from '../error-texts.js'
import { add, type Int, integer, multiply } from '../numbers.js'
import type { Bytes } from '../reply.js'

/** How an expiry is given: in seconds or ms, relative to now or as a point in time. */
export interface ExpiryUnit {
  readonly factor: 1 | 1000
  readonly relative: boolean
}

export const EXPIRY_UNITS: Readonly<Record<string, ExpiryUnit>> = {
  EX: { factor: 1000, relative: true },
  PX: { factor: 1, relative: true },
  EXAT: { factor: 1000, relative: false },
  PXAT: { factor: 1, relative: false },
}

/** The point in time that an option of SET or GETEX means; only positive numbers are allowed there. */
export const optionMoment = (database: Database, text: Bytes, unit: ExpiryUnit, command: string): Int => {
  const value = integer(text)
  if (value <= 0) throw invalidExpire(command)
  return moment(database, value, unit, command)
}

export const moment = (database: Database, value: Int, unit: ExpiryUnit, command: string): Int => {
  const ms = multiply(value, unit.factor)
  const at = ms === undefined || !unit.relative ? ms : add(ms, database.now())
  if (at === undefined) throw invalidExpire(command)
  return at
}

/**
 * A command that sets an expiry of the current millisecond removes the key at once. A key whose expiry was set earlier still exists
 * in that millisecond.
 */
export const hasPassed = (database: Database, at: Int): boolean => at <= database.now()
