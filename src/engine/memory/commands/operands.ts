import { syntaxError } from '../error-texts.js'
import { MIN_INT, readInteger, roughInteger } from '../numbers.js'
import { type Bytes, ReplyError } from '../reply.js'

/** Readers for the arguments of collection commands, with the server's own errors. */
export const failure = (text: string): ReplyError => new ReplyError(`ERR ${text}`)

/** An integer of at least `min`. Anything else is answered with the error `message`. */
export const integerFrom = (min: number, text: Bytes, message: string): number => {
  const value = readInteger(text)
  if (value === undefined || value < min) throw failure(message)
  return Number(value)
}

export const count = (text: Bytes): number => integerFrom(0, text, 'value is out of range, must be positive')

/** Any integer except the lowest one, which has no positive counterpart. */
export const signedCount = (text: Bytes): number => {
  if (text !== MIN_INT.toString()) return roughInteger(text)
  throw failure('value is out of range, value must between -9223372036854775807 and 9223372036854775807')
}

const SPACES = /^[ \t\n\v\f\r]*/
const DECIMAL = /^[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?$/i
const HEXADECIMAL = /^([+-]?)0x(?=\.?[0-9a-f])([0-9a-f]*)(?:\.([0-9a-f]*))?(?:p([+-]?[0-9]+))?$/i
const INFINITE = /^([+-]?)inf(?:inity)?$/i

/** C's strtod over the whole text; undefined if a part of it is not a number. */
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

/** Too large or too small for a double: the server refuses both. */
const outOfRange = (text: Bytes, value: number): boolean =>
  Math.abs(value) === Infinity ? !INFINITE.test(text) : value === 0 && /^[^e]*[1-9]/i.test(text)

export const double = (text: Bytes, message = 'value is not a valid float'): number => {
  const value = parseDouble(text)
  if (value === undefined || outOfRange(text, value)) throw failure(message)
  return value
}

/** Reads a bound like a C string: leading spaces are allowed, an empty text is 0, and a NUL ends the text. */
export const parseBound = (text: Bytes): number | undefined => {
  const end = text.indexOf('\0')
  const seen = end < 0 ? text : text.slice(0, end)
  return seen === '' ? 0 : parseDouble(seen.replace(SPACES, ''))
}

export interface Slice {
  readonly start: number
  readonly end: number
}

/** Converts Redis's inclusive, possibly negative ranks to a half-open span within a length. */
export const spanOf = (from: number, to: number, length: number): Slice => {
  const start = Math.max(from < 0 ? from + length : from, 0)
  const end = Math.min(to < 0 ? to + length : to, length - 1) + 1
  return start < end ? { start, end } : { start: 0, end: 0 }
}

export const isWord = (text: Bytes | undefined, word: string): boolean => text?.toLowerCase() === word

/** Reads the keys after a count of keys at `at`, and the index of the next argument. */
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
