import { notAFloat, notFinite } from './error-texts.js'
import type { Bytes } from './reply.js'

/**
 * The sums of INCRBYFLOAT and HINCRBYFLOAT, digit for digit as Redis computes them on x86: numbers with a 64-bit mantissa, written
 * with 17 decimals. Such a number is `mantissa * 2 ** exponent`.
 */
interface Finite {
  readonly mantissa: bigint
  readonly exponent: number
}

export type LongDouble = Finite | 'infinite'

const BITS = 64
const SYNTAX = /^([+-]?)(?:(\d+)(?:\.(\d*))?|\.(\d+))(?:e([+-]?\d+))?$/i
const HEXADECIMAL = /^([+-]?)0x(?=\.?[\da-f])([\da-f]*)(?:\.([\da-f]*))?(?:p([+-]?\d+))?$/i
const INFINITE = /^[+-]?inf(?:inity)?$/i
/** Beyond this exponent, a long double is infinite, which is an error, or 0. */
const LARGEST = 4932
const LARGEST_POWER = 16384
const DECIMALS = 17n
/** Redis reads no number of so many characters. */
const TOO_LONG = 5 * 1024

export const readLongDouble = (text: Bytes): LongDouble => {
  if (text.length >= TOO_LONG) throw notAFloat()
  const match = SYNTAX.exec(text)
  if (match === null) return INFINITE.test(text) ? 'infinite' : readHexadecimal(text)
  const [, sign, whole = '', part = '', bare = '', power = '0'] = match
  const digits = BigInt(whole + part + bare)
  const scale = Number(power) - part.length - bare.length
  if (digits === 0n) return { mantissa: 0n, exponent: 0 }
  const size = digits.toString().length + scale
  if (size > LARGEST + 1) throw notAFloat()
  if (size < -LARGEST) throw notAFloat()
  const value = scale >= 0 ? round(digits * 10n ** BigInt(scale), 0, false) : quotient(digits, 10n ** BigInt(-scale))
  return sign === '-' ? negated(value) : value
}

const readHexadecimal = (text: Bytes): Finite => {
  const [match, sign, whole = '', part = '', power = '0'] = HEXADECIMAL.exec(text) ?? []
  if (match === undefined) throw notAFloat()
  const digits = BigInt(`0x${whole}${part}`)
  if (digits === 0n) return { mantissa: 0n, exponent: 0 }
  const value = round(digits, Number(power) - 4 * part.length, false)
  if (Math.abs(value.exponent + length(value.mantissa)) > LARGEST_POWER) throw notAFloat()
  return sign === '-' ? negated(value) : value
}

export const addLongDoubles = (a: LongDouble, b: LongDouble): Bytes => {
  if (a === 'infinite' || b === 'infinite') throw notFinite()
  const exponent = Math.min(a.exponent, b.exponent)
  const exact = shifted(a, exponent) + shifted(b, exponent)
  const sum = exact < 0n ? negated(round(-exact, exponent, false)) : round(exact, exponent, false)
  return format(sum)
}

const shifted = ({ mantissa, exponent }: Finite, to: number): bigint => mantissa << BigInt(exponent - to)

const negated = ({ mantissa, exponent }: Finite): Finite => ({ mantissa: -mantissa, exponent })

const length = (value: bigint): number => value.toString(2).length

/** Rounds to the nearest mantissa; of two, to the even one. `sticky`: the exact value is slightly above `value`. */
const round = (value: bigint, exponent: number, sticky: boolean): Finite => {
  const excess = length(value) - BITS
  if (excess <= 0) return { mantissa: value, exponent }
  const shift = BigInt(excess)
  const kept = value >> shift
  const rest = value - (kept << shift)
  const half = 1n << (shift - 1n)
  const up = rest > half || (rest === half && (sticky || (kept & 1n) === 1n))
  return { mantissa: up ? kept + 1n : kept, exponent: exponent + excess }
}

const quotient = (dividend: bigint, divisor: bigint): Finite => {
  const shift = Math.max(0, BITS + 2 + length(divisor) - length(dividend))
  const scaled = dividend << BigInt(shift)
  const value = scaled / divisor
  return round(value, -shift, value * divisor !== scaled)
}

/** %.17Lf without trailing zeros. */
const format = ({ mantissa, exponent }: Finite): Bytes => {
  const negative = mantissa < 0n
  const digits = scaledDigits(negative ? -mantissa : mantissa, exponent).padStart(Number(DECIMALS) + 1, '0')
  const whole = digits.slice(0, -Number(DECIMALS))
  const part = digits.slice(-Number(DECIMALS)).replace(/0+$/, '')
  const text = part === '' ? whole : `${whole}.${part}`
  return negative && text !== '0' ? `-${text}` : text
}

/** The value times 10^17, rounded to the nearest integer; of two, to the even one. */
const scaledDigits = (mantissa: bigint, exponent: number): string => {
  const scaled = mantissa * 10n ** DECIMALS
  if (exponent >= 0) return (scaled << BigInt(exponent)).toString()
  const shift = BigInt(-exponent)
  const kept = scaled >> shift
  const rest = scaled - (kept << shift)
  const half = 1n << (shift - 1n)
  return (rest > half || (rest === half && (kept & 1n) === 1n) ? kept + 1n : kept).toString()
}
