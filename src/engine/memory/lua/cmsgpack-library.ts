import { argumentError, checkInt, checkString, fail, joined, made, optionalInt, spendText } from './arguments.js'
import { index, newTable, next, setIndex, spend, Table } from './vm.gen.js'
import type { LuaValue, NativeBody, Thread } from './vm.gen.js'

const DEEPEST = 16

const view = new DataView(new ArrayBuffer(8))

const viewBytes = (size: number): string => {
  let text = ''
  for (let i = 0; i < size; i++) text += String.fromCharCode(view.getUint8(i))
  return text
}

const u8 = (value: number): string => String.fromCharCode(value & 255)
const u16 = (value: number): string => u8(value >> 8) + u8(value)
const u32 = (value: number): string => u16(value >>> 16) + u16(value & 0xffff)
const i64 = (value: number): string => {
  view.setBigInt64(0, BigInt.asIntN(64, BigInt(value)))
  return viewBytes(8)
}

const integer = (n: number): string => {
  if (n >= 0) {
    if (n <= 127) return u8(n)
    if (n <= 0xff) return `\xcc${u8(n)}`
    if (n <= 0xffff) return `\xcd${u16(n)}`
    return n <= 0xffffffff ? `\xce${u32(n)}` : `\xcf${i64(n)}`
  }
  if (n >= -32) return u8(n)
  if (n >= -128) return `\xd0${u8(n)}`
  if (n >= -32768) return `\xd1${u16(n)}`
  return n >= -2147483648 ? `\xd2${u32(n)}` : `\xd3${i64(n)}`
}

const number = (n: number): string => {
  if (Math.floor(n) === n && n >= -(2 ** 63) && n < 2 ** 63) return integer(n)
  if (Math.fround(n) === n) {
    view.setFloat32(0, n)
    return `\xca${viewBytes(4)}`
  }
  view.setFloat64(0, n)
  // The processor's NaN has its sign bit set.
  if (n !== n) view.setUint8(0, 0xff)
  return `\xcb${viewBytes(8)}`
}

const string = (text: string): string => {
  const { length } = text
  if (length < 32) return u8(0xa0 | length) + text
  if (length <= 0xff) return `\xd9${u8(length)}${text}`
  return (length <= 0xffff ? `\xda${u16(length)}` : `\xdb${u32(length)}`) + text
}

const head = (count: number, short: number, long: string, longest: string): string => {
  if (count <= 15) return u8(short | count)
  return count <= 0xffff ? long + u16(count) : longest + u32(count)
}

const entries = (L: Thread, table: Table): [LuaValue, LuaValue][] => {
  const pairs: [LuaValue, LuaValue][] = []
  for (let pair = next(L, table, undefined); pair; pair = next(L, table, pair[0])) pairs.push(pair)
  return pairs
}

/** Whether the keys are exactly 1 to n. */
const isArray = (pairs: readonly [LuaValue, LuaValue][]): boolean => {
  let highest = 0
  for (const [key] of pairs) {
    if (typeof key !== 'number' || key <= 0 || (key | 0) !== key) return false
    if (key > highest) highest = key
  }
  return highest === pairs.length
}

const encodeTable = (L: Thread, table: Table, depth: number): string => {
  const pairs = entries(L, table)
  if (isArray(pairs)) {
    let text = head(pairs.length, 0x90, '\xdc', '\xdd')
    for (let i = 1; i <= pairs.length; i++) text += encode(L, index(L, table, i), depth + 1)
    return text
  }
  let text = head(pairs.length, 0x80, '\xde', '\xdf')
  for (const [key, value] of pairs) text += encode(L, key, depth + 1) + encode(L, value, depth + 1)
  return text
}

/** A value without a form in MessagePack, or nested too deeply, becomes nil. */
const encode = (L: Thread, value: LuaValue, depth: number): string => {
  spend(L, 1)
  if (typeof value === 'string') return string(value)
  if (typeof value === 'number') return number(value)
  if (typeof value === 'boolean') return value ? '\xc3' : '\xc2'
  return value instanceof Table && depth < DEEPEST ? encodeTable(L, value, depth) : '\xc0'
}

const pack: NativeBody = (L, args) => {
  if (args.length === 0) return argumentError(L, 0, 'MessagePack pack needs input.')
  let text = ''
  for (const value of args) text = joined(L, text, encode(L, value, 0))
  return made(L, text)
}

class Reader {
  at: number
  readonly #L: Thread
  readonly #data: string

  constructor(L: Thread, data: string, at: number) {
    this.#L = L
    this.#data = data
    this.at = at
  }

  value(): LuaValue {
    spend(this.#L, 1)
    const type = this.#byte()
    if (type <= 0x7f) return type
    if (type >= 0xe0) return type - 256
    if (type >= 0xa0 && type <= 0xbf) return this.#take(type & 31)
    if (type >= 0x90 && type <= 0x9f) return this.#array(type & 15)
    if (type >= 0x80 && type <= 0x8f) return this.#map(type & 15)
    return this.#long(type)
  }

  #long(type: number): LuaValue {
    switch (type) {
      case 0xc0:
        return undefined
      case 0xc2:
        return false
      case 0xc3:
        return true
      case 0xca:
        return this.#numeric(4).getFloat32(0)
      case 0xcb:
        return this.#numeric(8).getFloat64(0)
      case 0xcc:
      case 0xcd:
      case 0xce:
      case 0xcf: // prettier-ignore
        return this.#unsigned(1 << (type - 0xcc))
      case 0xd0:
      case 0xd1:
      case 0xd2:
      case 0xd3: // prettier-ignore
        return this.#signed(1 << (type - 0xd0))
      case 0xc4:
      case 0xc5:
      case 0xc6: // prettier-ignore
        return this.#take(this.#unsigned(1 << (type - 0xc4)))
      case 0xd9:
      case 0xda:
      case 0xdb: // prettier-ignore
        return this.#take(this.#unsigned(1 << (type - 0xd9)))
      case 0xdc:
      case 0xdd: // prettier-ignore
        return this.#array(this.#unsigned(type === 0xdc ? 2 : 4))
      case 0xde:
      case 0xdf: // prettier-ignore
        return this.#map(this.#unsigned(type === 0xde ? 2 : 4))
      default:
        return fail(this.#L, 'Bad data format in input.')
    }
  }

  #byte(): number {
    return this.at < this.#data.length ? this.#data.charCodeAt(this.at++) : fail(this.#L, 'Missing bytes in input.')
  }

  #take(length: number): string {
    if (length > this.#data.length - this.at) fail(this.#L, 'Missing bytes in input.')
    this.at += length
    return this.#data.slice(this.at - length, this.at)
  }

  #numeric(size: number): DataView {
    const bytes = this.#take(size)
    for (let i = 0; i < size; i++) view.setUint8(i, bytes.charCodeAt(i))
    return view
  }

  #unsigned(size: number): number {
    const bytes = this.#numeric(size)
    // The server casts it to a signed integer.
    if (size === 8) return Number(bytes.getBigInt64(0))
    return size === 1 ? bytes.getUint8(0) : size === 2 ? bytes.getUint16(0) : bytes.getUint32(0)
  }

  #signed(size: number): number {
    const bytes = this.#numeric(size)
    if (size === 8) return Number(bytes.getBigInt64(0))
    return size === 1 ? bytes.getInt8(0) : size === 2 ? bytes.getInt16(0) : bytes.getInt32(0)
  }

  #array(length: number): LuaValue {
    const table = newTable(this.#L)
    for (let i = 1; i <= length; i++) setIndex(this.#L, table, i, this.value())
    return table
  }

  #map(length: number): LuaValue {
    const table = newTable(this.#L)
    for (let i = 0; i < length; i++) {
      const key = this.value()
      setIndex(this.#L, table, key, this.value())
    }
    return table
  }
}

const unpackFrom = (L: Thread, data: string, limit: number, offset: number): LuaValue[] => {
  spendText(L, data)
  const everything = limit === 0 && offset === 0
  if (offset < 0 || limit < 0) {
    fail(L, `Invalid request to unpack with offset of ${offset} and limit of ${data.length}.`)
  }
  if (offset > data.length) fail(L, `Start offset ${offset} greater than input length ${data.length}.`)
  const reader = new Reader(L, data, offset)
  const values: LuaValue[] = []
  while (reader.at < data.length && (everything || values.length < limit)) values.push(reader.value())
  if (everything) return values
  return [reader.at === data.length ? -1 : reader.at, ...values]
}

export const cmsgpackConstants: Record<string, LuaValue> = {
  _NAME: 'cmsgpack',
  _VERSION: 'lua-cmsgpack 0.4.0',
  _COPYRIGHT: 'Copyright (C) 2012, Salvatore Sanfilippo',
  _DESCRIPTION: 'MessagePack C implementation for Lua',
}

export const cmsgpackLibrary: Record<string, NativeBody> = {
  pack,
  unpack: (L, args) => unpackFrom(L, checkString(L, args, 1), 0, 0),
  unpack_one: (L, args) => unpackFrom(L, checkString(L, args, 1), 1, optionalInt(L, args, 2, 0)),
  unpack_limit: (L, args) => {
    const limit = checkInt(L, args, 2)
    const offset = optionalInt(L, args, 3, 0)
    return unpackFrom(L, checkString(L, args, 1), limit, offset)
  },
}
