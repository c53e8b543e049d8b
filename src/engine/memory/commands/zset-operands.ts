import { formatGeneral } from '../lua/number-format.js'
import type { Bytes } from '../reply.js'
import type { LexBound, LexRange, Scored, ScoreRange } from '../sorted-set.js'
import { chargeItems } from '../command-cost.js'
import { failure, parseBound } from './operands.js'

/** A score as the server prints it: with enough digits to identify it, but not the fewest possible. */
export const scoreText = (score: number): Bytes => formatGeneral(score, 17)

const LARGEST_COMPACT = 2 ** 62

/** In scans, the compact form prints large integers with all their digits. */
export const scannedScoreText = (score: number, compact: boolean): Bytes =>
  compact && Number.isInteger(score) && Math.abs(score) <= LARGEST_COMPACT ? String(BigInt(score)) : scoreText(score)

export const flat = (entries: readonly Scored[], withScores: boolean): Bytes[] => {
  if (!withScores) return entries.map(({ member }) => member)
  // Writing a number takes long.
  chargeItems(entries.length * 64)
  return entries.flatMap(({ member, score }) => [member, scoreText(score)])
}

const scoreBound = (text: Bytes): { value: number; exclusive: boolean } => {
  const exclusive = text.startsWith('(')
  const value = parseBound(exclusive ? text.slice(1) : text)
  if (value === undefined) throw failure('min or max is not a float')
  return { value, exclusive }
}

export const scoreRange = (min: Bytes, max: Bytes): ScoreRange => {
  const [low, high] = [scoreBound(min), scoreBound(max)]
  return { min: low.value, max: high.value, minExclusive: low.exclusive, maxExclusive: high.exclusive }
}

const lexBound = (text: Bytes): LexBound => {
  if (text === '-') return { at: 'first' }
  if (text === '+') return { at: 'last' }
  const sign = text[0]
  if (sign !== '(' && sign !== '[') throw failure('min or max not valid string range item')
  return { at: 'member', member: text.slice(1), exclusive: sign === '(' }
}

export const lexRange = (min: Bytes, max: Bytes): LexRange => ({ min: lexBound(min), max: lexBound(max) })
