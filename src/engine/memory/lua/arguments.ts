import { calledAs, numberToString, raise, spend, stringToNumber, Table, takeText, typeName, where } from './vm.gen.js'
import { LONGEST } from '../reply.js'
import type { LuaValue, Thread } from './vm.gen.js'

/** The result of a native function that returns nothing, which in Lua is not the same as nil. */
export const NOTHING: LuaValue[] = []

/** luaL_error: the message starts with the place in the script that called the native function. */
export const fail = (L: Thread, message: string): never => raise(L, where(L, 1) + message)

/** The cost of reading or making a text once. */
export const spendText = (L: Thread, text: string): void => {
  if (text.length > 256) spend(L, text.length >> 5)
}

/** Joins two texts, unless the result would be too long for any string. */
export const joined = (L: Thread, a: string, b: string): string =>
  a.length + b.length > LONGEST ? fail(L, 'not enough memory') : a + b

/** Accounts for a text that a native function made. */
export const made = (L: Thread, text: string): string => {
  spendText(L, text)
  takeText(text)
  return text
}

/** luaL_argerror; `at` counts from 1. */
export const argumentError = (L: Thread, at: number, message: string): never => {
  const known = calledAs(L)
  const name = known?.name ?? '?'
  let position = at
  if (known?.kind === 'method' && --position === 0) return fail(L, `calling '${name}' on bad self (${message})`)
  return fail(L, `bad argument #${position} to '${name}' (${message})`)
}

const nameOf = (args: readonly LuaValue[], at: number): string =>
  at > args.length ? 'no value' : typeName(args[at - 1])

export const typeError = (L: Thread, args: readonly LuaValue[], at: number, expected: string): never =>
  argumentError(L, at, `${expected} expected, got ${nameOf(args, at)}`)

export const checkAny = (L: Thread, args: readonly LuaValue[], at: number): LuaValue =>
  at > args.length ? argumentError(L, at, 'value expected') : args[at - 1]

/** A number, or a string that reads as one; else undefined. */
export const toNumber = (value: LuaValue): number | undefined => {
  if (typeof value === 'number') return value
  if (typeof value !== 'string') return undefined
  const number = stringToNumber(value)
  return number === false ? undefined : number
}

export const checkNumber = (L: Thread, args: readonly LuaValue[], at: number): number => {
  const value = args[at - 1]
  if (typeof value === 'number') return value
  return toNumber(value) ?? typeError(L, args, at, 'number')
}

export const optionalNumber = (L: Thread, args: readonly LuaValue[], at: number, otherwise: number): number =>
  args[at - 1] === undefined ? otherwise : checkNumber(L, args, at)

const TWO_63 = 2 ** 63

/** C's cast from double to a 64-bit integer on x86: a value that does not fit becomes the lowest one. */
export const toInt64 = (value: number): number => (value >= -TWO_63 && value < TWO_63 ? Math.trunc(value) + 0 : -TWO_63)

/** C's cast from double to int by way of a 64-bit integer. */
export const toInt32 = (value: number): number => (value >= -TWO_63 && value < TWO_63 ? value | 0 : 0)

/** luaL_checkint */
export const checkInt = (L: Thread, args: readonly LuaValue[], at: number): number => toInt32(checkNumber(L, args, at))

/** luaL_checkinteger */
export const checkInteger = (L: Thread, args: readonly LuaValue[], at: number): number =>
  toInt64(checkNumber(L, args, at))

export const optionalInt = (L: Thread, args: readonly LuaValue[], at: number, otherwise: number): number =>
  args[at - 1] === undefined ? otherwise : checkInt(L, args, at)

export const optionalInteger = (L: Thread, args: readonly LuaValue[], at: number, otherwise: number): number =>
  args[at - 1] === undefined ? otherwise : checkInteger(L, args, at)

export const checkString = (L: Thread, args: readonly LuaValue[], at: number): string => {
  const value = args[at - 1]
  if (typeof value === 'string') return value
  return typeof value === 'number' ? numberToString(value) : typeError(L, args, at, 'string')
}

export const optionalString = (L: Thread, args: readonly LuaValue[], at: number, otherwise: string): string =>
  args[at - 1] === undefined ? otherwise : checkString(L, args, at)

export const checkTable = (L: Thread, args: readonly LuaValue[], at: number): Table => {
  const value = args[at - 1]
  return value instanceof Table ? value : typeError(L, args, at, 'table')
}
