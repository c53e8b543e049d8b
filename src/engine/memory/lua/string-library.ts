import {
  argumentError,
  checkInt,
  checkInteger,
  checkNumber,
  checkString,
  fail,
  joined,
  made,
  NOTHING,
} from './arguments.js'
import { optionalInt, optionalInteger, spendText, toInt64, typeError } from './arguments.js'
import { format } from './string-format.js'
import { PatternMatch } from './string-pattern.js'
import { call, index, LuaFunction, native, numberToString, spend, Table, typeName } from './vm.gen.js'
import { LONGEST } from '../reply.js'
import type { LuaValue, NativeBody, Thread } from './vm.gen.js'

/** A position; a negative one counts from the end. Never below 0. */
const position = (value: number, length: number): number => Math.max(0, value < 0 ? value + length + 1 : value)

const sub: NativeBody = (L, args) => {
  const text = checkString(L, args, 1)
  const from = position(checkInteger(L, args, 2), text.length)
  const to = position(optionalInteger(L, args, 3, -1), text.length)
  return text.slice(Math.max(0, from - 1), Math.max(to, 0))
}

const byte: NativeBody = (L, args) => {
  const text = checkString(L, args, 1)
  const from = position(optionalInteger(L, args, 2, 1), text.length)
  const to = Math.min(position(optionalInteger(L, args, 3, from), text.length), text.length)
  const first = from <= 0 ? 1 : from
  if (first > to) return NOTHING
  const bytes: LuaValue[] = []
  for (let i = first; i <= to; i++) bytes.push(text.charCodeAt(i - 1))
  return bytes.length > 7990 ? fail(L, 'stack overflow (string slice too long)') : bytes
}

const char: NativeBody = (L, args) => {
  let text = ''
  for (let at = 1; at <= args.length; at++) {
    const code = checkInt(L, args, at)
    if ((code & 255) !== code) return argumentError(L, at, 'invalid value')
    text += String.fromCharCode(code)
  }
  return text
}

const rep: NativeBody = (L, args) => {
  const text = checkString(L, args, 1)
  const times = checkInt(L, args, 2)
  if (times <= 0) return ''
  return text.length * times > LONGEST ? fail(L, 'not enough memory') : made(L, text.repeat(times))
}

const upper = (text: string): string => text.replace(/[a-z]+/g, (part) => part.toUpperCase())
const lower = (text: string): string => text.replace(/[A-Z]+/g, (part) => part.toLowerCase())

const reverse = (text: string): string => {
  let result = ''
  for (let i = text.length - 1; i >= 0; i--) result += text.charAt(i)
  return result
}

const SPECIALS = /[\^$*+?.([%-]/

/** string.find and string.match differ only in their results. */
const search = (L: Thread, args: LuaValue[], find: boolean): LuaValue | LuaValue[] => {
  const text = checkString(L, args, 1)
  const pattern = checkString(L, args, 2)
  let init = position(optionalInteger(L, args, 3, 1), text.length) - 1
  if (args[2] !== undefined && toInt64(checkNumber(L, args, 3)) < 0 && init < 0) init = 0
  init = Math.min(Math.max(init, 0), text.length)
  const plain = args[3] !== undefined && args[3] !== false
  const cut = pattern.indexOf('\0')
  if (find && (plain || !SPECIALS.test(cut < 0 ? pattern : pattern.slice(0, cut)))) {
    spendText(L, text)
    spendText(L, pattern)
    const found = text.indexOf(pattern, init)
    return found < 0 ? undefined : [found + 1, found + pattern.length]
  }
  const anchored = pattern.startsWith('^')
  for (let s = init; s <= text.length; s++) {
    const match = new PatternMatch(L, text, pattern)
    const end = match.match(s, anchored ? 1 : 0)
    if (end >= 0) return find ? [s + 1, end, ...match.all(s, end, false)] : match.all(s, end, true)
    if (anchored) break
  }
  return undefined
}

const gmatch: NativeBody = (L, args) => {
  const text = checkString(L, args, 1)
  const pattern = checkString(L, args, 2)
  let from = 0
  return native((state) => {
    for (let s = from; s <= text.length; s++) {
      const match = new PatternMatch(state, text, pattern)
      const end = match.match(s, 0)
      if (end < 0) continue
      from = end === s ? end + 1 : end
      return match.all(s, end, true)
    }
    return NOTHING
  })
}

/** The replacement text, with captures for %0–%9. */
const expand = (match: PatternMatch, template: string, start: number, end: number): string =>
  template.replace(/%([^])?/g, (_, c: string | undefined) => {
    if (c === undefined) return '\0'
    if (c < '0' || c > '9') return c
    if (c === '0') return match.text.slice(start, end)
    const value = match.capture(Number(c) - 1, start, end)
    return typeof value === 'number' ? numberToString(value) : (value as string)
  })

const replacement = (L: Thread, match: PatternMatch, by: LuaValue, start: number, end: number): string => {
  let value: LuaValue
  if (by instanceof Table) value = index(L, by, match.capture(0, start, end))
  else if (typeof by === 'function' || by instanceof LuaFunction) value = call(L, by, match.all(start, end, true))[0]
  else return expand(match, typeof by === 'number' ? numberToString(by) : (by as string), start, end)
  if (value === undefined || value === false) return match.text.slice(start, end)
  if (typeof value === 'number') return numberToString(value)
  return typeof value === 'string' ? value : fail(L, `invalid replacement value (a ${typeName(value)})`)
}

const isReplacement = (value: LuaValue): boolean =>
  ['string', 'number', 'function'].includes(typeof value) || value instanceof Table || value instanceof LuaFunction

const gsub: NativeBody = (L, args) => {
  const text = checkString(L, args, 1)
  const pattern = checkString(L, args, 2)
  const by = args[2]
  if (!isReplacement(by)) {
    checkInt(L, [undefined, undefined, undefined, args[3] ?? text.length + 1], 4)
    return argumentError(L, 3, 'string/function/table expected')
  }
  const most = optionalInt(L, args, 4, text.length + 1)
  const anchored = pattern.startsWith('^')
  let result = ''
  let s = 0
  let count = 0
  while (count < most) {
    const match = new PatternMatch(L, text, pattern)
    const end = match.match(s, anchored ? 1 : 0)
    if (end >= 0) {
      count++
      const put = replacement(L, match, by, s, end)
      spendText(L, put)
      result = joined(L, result, put)
    }
    if (end >= 0 && end > s) s = end
    else if (s < text.length) result += text.charAt(s++)
    else break
    if (anchored) break
  }
  return [made(L, joined(L, result, text.slice(s))), count]
}

export const stringLibrary: Record<string, NativeBody> = {
  byte,
  char,
  dump: (L, args) =>
    args[0] instanceof LuaFunction ? fail(L, 'unable to dump given function') : typeError(L, args, 1, 'function'),
  find: (L, args) => search(L, args, true),
  format: (L, args) => made(L, format(L, args)),
  gfind: gmatch,
  gmatch,
  gsub,
  len: (L, args) => checkString(L, args, 1).length,
  lower: (L, args) => made(L, lower(checkString(L, args, 1))),
  match: (L, args) => search(L, args, false),
  rep,
  reverse: (L, args) => {
    const text = checkString(L, args, 1)
    spend(L, text.length)
    return made(L, reverse(text))
  },
  sub,
  upper: (L, args) => made(L, upper(checkString(L, args, 1))),
}
