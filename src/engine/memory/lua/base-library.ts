import { argumentError, checkAny, checkInt, checkString, checkTable, fail, NOTHING, optionalInt } from './arguments.js'
import { optionalString, spendText, toNumber, typeError } from './arguments.js'
import { addressOf } from './address.js'
import * as vm from './vm.gen.js'
import { Failure, LuaFunction, Table, raise, where } from './vm.gen.js'
import type { LuaValue, NativeBody, Thread } from './vm.gen.js'

const isFunction = (value: LuaValue): boolean => typeof value === 'function' || value instanceof LuaFunction

/** tostring, with __tostring. */
export const toText = (L: Thread, value: LuaValue): LuaValue => {
  const meta = vm.metafield(L, value, '__tostring')
  if (meta !== undefined) return vm.call(L, meta, [value])[0]
  if (typeof value === 'string') return value
  if (typeof value === 'number') return vm.numberToString(value)
  if (value === undefined) return 'nil'
  return typeof value === 'boolean' ? String(value) : `${vm.typeName(value)}: ${addressOf(value)}`
}

const tostring: NativeBody = (L, args) => toText(L, checkAny(L, args, 1))

const DIGITS = /^[ \t\n\v\f\r]*([+-]?)([0-9a-zA-Z]+)[ \t\n\v\f\r]*$/

/** strtoul in a base. A value beyond 64 bits does not wrap; it becomes the highest one. */
const parseInBase = (text: string, base: number): LuaValue => {
  const zero = text.indexOf('\0')
  const match = DIGITS.exec(zero < 0 ? text : text.slice(0, zero))
  if (!match) return undefined
  const digits = base === 16 ? match[2]?.replace(/^0[xX](?=[0-9a-fA-F])/, '') : match[2]
  let value = 0
  for (const digit of digits ?? '?') {
    const number = Number.parseInt(digit, 36)
    if (!(number < base)) return undefined
    value = value * base + number
  }
  if (value >= 2 ** 64) return 2 ** 64
  return match[1] === '-' && value > 0 ? 2 ** 64 - value : value
}

const tonumber: NativeBody = (L, args) => {
  const base = optionalInt(L, args, 2, 10)
  const value = checkAny(L, args, 1)
  if (typeof value === 'string') spendText(L, value)
  if (base === 10) return toNumber(value)
  const text = checkString(L, args, 1)
  if (base < 2 || base > 36) return argumentError(L, 2, 'base out of range')
  return parseInBase(text, base)
}

const error: NativeBody = (L, args) => {
  const level = optionalInt(L, args, 2, 1)
  const value = args[0]
  if (level <= 0 || (typeof value !== 'string' && typeof value !== 'number')) return raise(L, value)
  return raise(L, where(L, level) + (typeof value === 'number' ? vm.numberToString(value) : value))
}

const assert: NativeBody = (L, args) => {
  const value = checkAny(L, args, 1)
  if (value === undefined || value === false) return fail(L, optionalString(L, args, 2, 'assertion failed!'))
  return args
}

/** Redis's own pcall: an error that is a table with an `err` text is returned as that text. */
const pcall: NativeBody = (L, args) => {
  if (args.length === 0) return [false, 'attempt to call a boolean value']
  const result = vm.protectedCall(L, args[0], args.slice(1))
  if (!(result instanceof Failure)) return [true, ...result]
  const text = result.value instanceof Table ? vm.index(L, result.value, 'err') : undefined
  return [false, typeof text === 'string' || typeof text === 'number' ? text : result.value]
}

const xpcall: NativeBody = (L, args) => {
  if (args.length < 2) return argumentError(L, 2, 'value expected')
  const result = vm.protectedCall(L, args[0], [], args[1])
  return result instanceof Failure ? [false, result.value] : [true, ...result]
}

const select: NativeBody = (L, args) => {
  if (typeof args[0] === 'string' && args[0].startsWith('#')) return args.length - 1
  const wanted = checkInt(L, args, 1)
  const from = wanted < 0 ? args.length + wanted : Math.min(wanted, args.length)
  if (from < 1) return argumentError(L, 1, 'index out of range')
  return args.slice(from)
}

/** LUAI_MAXCSTACK, minus the slots that a call already uses. */
const MOST_RESULTS = 8000

const unpack: NativeBody = (L, args) => {
  const table = checkTable(L, args, 1)
  const from = optionalInt(L, args, 2, 1)
  const to = args[2] === undefined ? vm.rawLength(table) : checkInt(L, args, 3)
  if (from > to) return NOTHING
  const count = to - from + 1
  if (count + args.length >= MOST_RESULTS || count > 0x7fffffff) return fail(L, 'too many results to unpack')
  vm.spend(L, count >> 2)
  const values: LuaValue[] = new Array<LuaValue>(count)
  for (let i = 0; i < count; i++) values[i] = vm.rawGet(L, table, from + i)
  return values
}

const setmetatable: NativeBody = (L, args) => {
  const table = checkTable(L, args, 1)
  const meta = args[1]
  if (!(meta instanceof Table) && (meta !== undefined || args.length < 2)) {
    return argumentError(L, 2, 'nil or table expected')
  }
  if (vm.metafield(L, table, '__metatable') !== undefined) return fail(L, 'cannot change a protected metatable')
  if (table.readonly) return vm.runError(L, 'Attempt to modify a readonly table')
  table.metatable = meta ?? null
  return table
}

const getmetatable: NativeBody = (L, args) => {
  const value = checkAny(L, args, 1)
  const meta = vm.typeMetatable(L, value)
  if (!meta) return undefined
  return vm.rawGet(L, meta, '__metatable') ?? meta
}

const next: NativeBody = (L, args) => vm.next(L, checkTable(L, args, 1), args[1])
const nativeNext = vm.native(next)
const pairs: NativeBody = (L, args) => [nativeNext, checkTable(L, args, 1), undefined]

const nextItem = vm.native((L, args) => {
  const table = checkTable(L, args, 1)
  const at = checkInt(L, args, 2) + 1
  const value = vm.rawGet(L, table, at)
  return value === undefined ? NOTHING : [at, value]
})
const ipairs: NativeBody = (L, args) => [nextItem, checkTable(L, args, 1), 0]

const rawget: NativeBody = (L, args) => {
  const table = checkTable(L, args, 1)
  checkAny(L, args, 2)
  return vm.rawGet(L, table, args[1])
}

const rawset: NativeBody = (L, args) => {
  const table = checkTable(L, args, 1)
  checkAny(L, args, 2)
  checkAny(L, args, 3)
  vm.rawSet(L, table, args[1], args[2])
  return table
}

const rawequal: NativeBody = (L, args) => checkAny(L, args, 1) === checkAny(L, args, 2)

const compiled = (L: Thread, source: string, name: string, globals: Table): LuaValue | LuaValue[] => {
  vm.spend(L, source.length)
  const result = vm.compile(L, source, name, globals)
  return typeof result === 'string' ? [undefined, result] : result
}

const loadstring =
  (globals: Table): NativeBody =>
  (L, args) => {
    const source = checkString(L, args, 1)
    return compiled(L, source, optionalString(L, args, 2, source), globals)
  }

/** load: reads the pieces that a function returns, until it returns nil or nothing. */
const load =
  (globals: Table): NativeBody =>
  (L, args) => {
    const name = optionalString(L, args, 2, '=(load)')
    if (!isFunction(args[0])) return typeError(L, args, 1, 'function')
    let source = ''
    for (;;) {
      const piece = vm.protectedCall(L, args[0], [])
      if (piece instanceof Failure) return [undefined, piece.value]
      const text = piece[0]
      vm.spend(L, 1)
      if (text === undefined || text === '') return compiled(L, source, name, globals)
      if (typeof text !== 'string' && typeof text !== 'number')
        return [undefined, 'reader function must return a string']
      source += String(text)
    }
  }

const collectOptions = ['stop', 'restart', 'collect', 'count', 'step', 'setpause', 'setstepmul']

const collectgarbage: NativeBody = (L, args) => {
  const option = optionalString(L, args, 1, 'collect')
  if (!collectOptions.includes(option)) return argumentError(L, 1, `invalid option '${option}'`)
  return option === 'step' ? false : 0
}

export const baseLibrary = (globals: Table): Record<string, NativeBody> => ({
  assert, collectgarbage, error, gcinfo: () => 0, getmetatable, ipairs, load: load(globals),
  loadstring: loadstring(globals), next, pairs, pcall, rawequal, rawget, rawset, select, setmetatable, tonumber,
  tostring, type: (L, args) => vm.typeName(checkAny(L, args, 1)), unpack, xpcall,
}) // prettier-ignore
