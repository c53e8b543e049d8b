import { show } from '../options.js'
import type { Codec } from './codec.js'
import { utf8 } from './utf8.js'

/**
 * The JSON of Redisson's JsonJacksonCodec, where all but text, truth values, ints and doubles says of what Java class it is:
 * `["java.lang.Long",5]`, `["java.util.ArrayList",[1,2]]`, `{"@class":"java.util.HashMap","a":1}`.
 */
export const jackson: Codec = {
  encode(value) {
    const text = write(value, [])
    if (text === undefined) throw new TypeError(`there is no JSON of ${show(value)}`)
    return text
  },
  decode: (data) => read(JSON.parse(withoutRounding(utf8(data)))),
}

const typed = (type: string, text: string): string => `["${type}",${text}]`

/** `within`: the objects that this one is in. */
const write = (value: unknown, within: readonly object[]): string | undefined => {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return JSON.stringify(value)
    case 'number':
      if (!Number.isFinite(value)) throw new TypeError(`there is no JSON of ${value}`)
      return JSON.stringify(value)
    case 'bigint':
      return typed(BigInt.asIntN(64, value) === value ? 'java.lang.Long' : 'java.math.BigInteger', String(value))
    case 'object':
      return value === null ? 'null' : writeObject(value, within)
    default:
      return undefined
  }
}

const writeObject = (value: object, within: readonly object[]): string | undefined => {
  if (within.includes(value)) throw new TypeError('there is no JSON of an object that contains itself')
  const inner = [...within, value]
  // eslint-disable-next-line no-restricted-globals -- a value of the caller's, not the time
  if (value instanceof Date) return typed('java.util.Date', String(value.getTime()))
  // As Java's own byte[]: nothing says that it is one.
  if (value instanceof Uint8Array) return JSON.stringify(base64(value))
  if (Array.isArray(value)) return typed('java.util.ArrayList', writeItems(value, inner))
  if (value instanceof Set) return typed('java.util.HashSet', writeItems([...(value as Set<unknown>)], inner))
  if (value instanceof Map) return writeFields([...(value as Map<unknown, unknown>)], inner)
  if ('toJSON' in value && typeof value.toJSON === 'function') return write((value.toJSON as () => unknown)(), inner)
  return writeFields(Object.entries(value), inner)
}

const writeItems = (items: readonly unknown[], within: readonly object[]): string =>
  `[${items.map((item) => write(item, within) ?? 'null').join()}]`

/** Whatever names its class is of that; all else is a map. */
const writeFields = (entries: readonly (readonly [unknown, unknown])[], within: readonly object[]): string => {
  const own = entries.find(([name]) => name === '@class')?.[1]
  const fields = [`"@class":${JSON.stringify(typeof own === 'string' ? own : 'java.util.HashMap')}`]
  for (const [name, value] of entries) {
    const text = name === '@class' ? undefined : write(value, within)
    if (text !== undefined) fields.push(`${JSON.stringify(String(name))}:${text}`)
  }
  return `{${fields.join()}}`
}

const base64 = (data: Uint8Array): string => {
  let text = ''
  for (const byte of data) text += String.fromCharCode(byte)
  return btoa(text)
}

const LONG = /\d{16}/
const TEXT_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g
const LONG_INTEGER = /^-?\d{16,}$/

/** JSON.parse would round long integers: they become text that says what it is. */
const withoutRounding = (text: string): string =>
  LONG.test(text)
    ? text.replace(TEXT_OR_NUMBER, (token) => (LONG_INTEGER.test(token) ? typed(INTEGER, `"${token}"`) : token))
    : text

const INTEGER = 'java.math.BigInteger'
/** By Java's custom for names, so that two texts of an array are not taken for one of a class. */
const CLASS = /^(?:[a-z_][\w$]*\.)+[A-Z][\w$]*$|^\[+(?:[BCDFIJSZ]|L[\w.$]+;)$/
const MAP = /^java\.util\.\S*Map/

const isMarked = ([type, digits]: readonly unknown[]): boolean =>
  type === INTEGER && typeof digits === 'string' && LONG_INTEGER.test(digits)

const integer = (value: unknown): number | bigint => {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : BigInt(value as string)
}

/** Changes what JSON.parse made, in its place: no name of a field can do harm so. */
const read = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return readArray(value as unknown[])
  const fields = value as Record<string, unknown>
  for (const name of Object.keys(fields)) fields[name] = read(fields[name])
  const type = fields['@class']
  if (typeof type === 'string' && MAP.test(type)) delete fields['@class']
  return fields
}

const readArray = (items: unknown[]): unknown => {
  const [type, value] = items
  if (items.length !== 2 || typeof type !== 'string' || !CLASS.test(type)) return items.map(read)
  const plain = Array.isArray(value) && !isMarked(value) ? value.map(read) : read(value)
  switch (type) {
    case 'java.lang.Long':
    case INTEGER:
      return integer(plain)
    case 'java.math.BigDecimal':
      return Number(plain)
    case 'java.util.Date':
      // eslint-disable-next-line no-restricted-globals -- the sender's value, not the time
      return new Date(Number(plain))
    default:
      return plain
  }
}
