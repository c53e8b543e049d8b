import type { Database } from '../database.js'
import { invalidExpire } from '../errors.js'
import { add, type Int, integer, multiply } from '../numbers.js'
import type { Bytes } from '../reply.js'

/** How an expiry is given: in seconds or in ms, from now on or as a moment. */
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

/** The moment that an option of SET or GETEX means; only what lies ahead of 0 is allowed there. */
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

/** A command that sets an expiry of this very millisecond removes the key, though one set before is still there in it. */
export const hasPassed = (database: Database, at: Int): boolean => at <= database.now()
