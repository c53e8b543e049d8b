import { syntaxError } from '../errors.js'
import { MIN_INT, readInteger, roughInteger } from '../numbers.js'
import { type Bytes, ReplyError } from '../reply.js'

/** What the commands of collections read from their arguments, with the server's own errors. */
export const failure = (text: string): ReplyError => new ReplyError(`ERR ${text}`)

/** At least `min`; every other number, and what is none, is answered with `message`. */
export const integerFrom = (min: number, text: Bytes, message: string): number => {
  const value = readInteger(text)
  if (value === undefined || value < min) throw failure(message)
  return Number(value)
}

export const count = (text: Bytes): number => integerFrom(0, text, 'value is out of range, must be positive')

/** Any integer but the lowest one, which has no positive twin. */
export const signedCount = (text: Bytes): number => {
  if (text !== MIN_INT.toString()) return roughInteger(text)
  throw failure('value is out of range, value must between -9223372036854775807 and 9223372036854775807')
}

const SPACES = /^[ \t\n\v\f\r]*/
const DECIMAL = /^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?$/i
const HEXADECIMAL = /^([+-]?)0x(?=\.?[0-9a-f])([0-9a-f]*)(?:\.([0-9a-f]*))?(?:p([+-]?[0-9]+))?$/i
const INFINITE = /^([+-]?)inf(?:inity)?$/i

/** C's strtod over the whole text; undefined when a part of it is no number. */
export const parseDouble = (text: Bytes): number | undefined => {
  if (DECIMAL.test(text)) return Number(text)
  const infinite = INFINITE.exec(text)
  if (infinite) return infinite[1] === '-' ? -Infinity : Infinity
  const parts = HEXADECIMAL.exec(text)
  if (!parts) return undefined
  const [, sign, whole = '', fraction = '', power = '0'] = parts
  const digits = Number(`0x${whole}${fraction}`)
  return (sign === '-' ? -1 : 1) * digits * 2 ** (Number(power) - 4 * fraction.length)
}

/** Too large for a double, or too small: the server refuses both. */
const outOfRange = (text: Bytes, value: number): boolean =>
  Math.abs(value) === Infinity ? !INFINITE.test(text) : value === 0 && /^[^e]*[1-9]/i.test(text)

export const double = (text: Bytes, message = 'value is not a valid float'): number => {
  const value = parseDouble(text)
  if (value === undefined || outOfRange(text, value)) throw failure(message)
  return value
}

/** A bound reads as C strings do: spaces may lead, nothing is 0, and what follows a NUL is not seen. */
export const parseBound = (text: Bytes): number | undefined => {
  const end = text.indexOf('\0')
  const seen = end < 0 ? text : text.slice(0, end)
  return seen === '' ? 0 : parseDouble(seen.replace(SPACES, ''))
}

export interface Slice {
  readonly start: number
  readonly end: number
}

/** Redis's inclusive, possibly negative ranks as a half-open span within a length. */
export const spanOf = (from: number, to: number, length: number): Slice => {
  const start = Math.max(from < 0 ? from + length : from, 0)
  const end = Math.min(to < 0 ? to + length : to, length - 1) + 1
  return start < end ? { start, end } : { start: 0, end: 0 }
}

export const isWord = (text: Bytes | undefined, word: string): boolean => text?.toLowerCase() === word

/** The keys behind a count of keys at `at`, and the index of what follows them. */
export const countedKeys = (argv: readonly Bytes[], at: number): { keys: readonly Bytes[]; next: number } => {
  const amount = integerFrom(1, argv[at] ?? '', 'numkeys should be greater than 0')
  const next = at + 1 + amount
  return { keys: argv.slice(at + 1, next), next }
}

/** `COUNT n` at the end, or nothing. */
export const trailingCount = (argv: readonly Bytes[], at: number): number => {
  if (at >= argv.length) return 1
  const value = argv[at + 1]
  if (!isWord(argv[at], 'count') || value === undefined) throw syntaxError()
  const amount = integerFrom(1, value, 'count should be greater than 0')
  if (at + 2 < argv.length) throw syntaxError()
  return amount
}
