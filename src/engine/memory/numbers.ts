import { notAnInteger } from './error-texts.js'
import type { Bytes } from './reply.js'

/** A 64-bit integer: a number if a number is exact, else a bigint. */
export type Int = number | bigint

export const MAX_INT = 2n ** 63n - 1n
export const MIN_INT = -(2n ** 63n)

/** The shortest form of an exact integer; undefined if it does not fit into 64 bits. */
export const toInt = (exact: bigint): Int | undefined => {
  if (exact > MAX_INT || exact < MIN_INT) return undefined
  const value = Number(exact)
  return Number.isSafeInteger(value) ? value : exact
}

/** As strict as Redis: no sign but a minus, no leading zeros, no spaces. */
export const readInteger = (text: Bytes): Int | undefined => {
  const negative = text.charCodeAt(0) === 45
  const first = negative ? 1 : 0
  const digits = text.length - first
  if (digits === 0 || digits > 19) return undefined
  if (text.charCodeAt(first) === 48) return text === '0' ? 0 : undefined
  let value = 0
  for (let i = first; i < text.length; i++) {
    const digit = text.charCodeAt(i) - 48
    if (digit < 0 || digit > 9) return undefined
    value = value * 10 + digit
  }
  if (digits > 15) return toInt(BigInt(text))
  return negative ? -value : value
}

export const integer = (text: Bytes): Int => {
  const value = readInteger(text)
  if (value === undefined) throw notAnInteger()
  return value
}

/** For offsets and counts: a value that a number cannot hold exactly is out of every range anyway. */
export const roughInteger = (text: Bytes): number => Number(integer(text))

/** undefined if the sum does not fit into 64 bits. */
export const add = (a: Int, b: Int): Int | undefined => {
  if (typeof a === 'number' && typeof b === 'number') {
    const sum = a + b
    if (Number.isSafeInteger(sum)) return sum
  }
  return toInt(BigInt(a) + BigInt(b))
}

/** undefined if the product does not fit into 64 bits. */
export const multiply = (a: Int, b: Int): Int | undefined => {
  if (typeof a === 'number' && typeof b === 'number') {
    const product = a * b
    if (Number.isSafeInteger(product)) return product
  }
  return toInt(BigInt(a) * BigInt(b))
}
