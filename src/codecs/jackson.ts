import { platform } from '#platform'
import { show } from '../check-arguments.js'
import type { Codec } from '../api/codec.js'
import { JacksonReader } from './jackson-reader.js'
import { isPlainArray, JavaValue, type Origin, origins, type Written } from './java-value.js'
import { MOST_LEVELS, contentOf, tooDeep } from './codec-limits.js'

/**
 * The JSON of Redisson's JsonJacksonCodec. Every value except text, booleans, ints and doubles names its Java class:
 * `["java.lang.Long",5]`, `["java.util.ArrayList",[1,2]]`, `{"@class":"java.util.HashMap","a":1}`. A value that was read is
 * written back as it was: its lists, objects and fields keep their classes.
 */
export const jackson: Codec = {
  encode(value) {
    const text = write(value, new Set())
    if (text === undefined) throw new TypeError(`JSON cannot represent ${show(value)}`)
    return text
  },
  decode: (data) => new JacksonReader(contentOf(data)).read(),
}

const typed = (type: string | null, text: string): string => (type === null ? text : `["${type}",${text}]`)

/** The objects that enclose a value. */
type Within = Set<object>

/** `written`: how this value was written when it was read, as part of its object. */
const write = (value: unknown, within: Within, written?: Written): string | undefined => {
  switch (typeof value) {
    case 'string':
    case 'boolean': {
      const text = JSON.stringify(value)
      return typeof written?.value === typeof value ? typed(written?.type ?? null, text) : text
    }
    case 'number':
      if (!Number.isFinite(value)) throw new TypeError(`JSON cannot represent ${value}`)
      return writeNumber(value, written) ?? JSON.stringify(value)
    case 'bigint': {
      const type = BigInt.asIntN(64, value) === value ? 'java.lang.Long' : 'java.math.BigInteger'
      return writeNumber(value, written) ?? typed(type, String(value))
    }
    case 'object':
      return value === null ? 'null' : nested(value, within)
    default:
      return undefined
  }
}

/** Writes a number with the class that it was read with, if that class can hold it. */
const writeNumber = (value: number | bigint, written: Written | undefined): string | undefined => {
  if (written === undefined || !['number', 'bigint'].includes(typeof written.value)) return undefined
  const { type, digits } = written
  if (Object.is(value, written.value)) return typed(type, digits ?? String(value))
  const takesFractions = type === null || /\.(?:BigDecimal|Double|Float)$/.test(type)
  if (!takesFractions && typeof value === 'number' && !Number.isSafeInteger(value)) return undefined
  return typed(type, String(value))
}

const nested = (value: object, within: Within): string | undefined => {
  if (within.has(value)) throw new TypeError('JSON cannot represent an object that contains itself')
  if (within.size >= MOST_LEVELS) throw tooDeep()
  within.add(value)
  const text = writeObject(value, within)
  within.delete(value)
  return text
}

const writeObject = (value: object, within: Within): string | undefined => {
  if (value instanceof JavaValue) return writeJava(value, within)
  // eslint-disable-next-line no-restricted-globals -- a value of the caller's, not the time
  if (value instanceof Date) return typed('java.util.Date', String(checkDate(value.getTime())))
  // Like Java's own byte[]: nothing names its class.
  if (value instanceof Uint8Array) return JSON.stringify(platform.toBase64(value))
  if (Array.isArray(value)) return writeArray(value as unknown[], within)
  if (value instanceof Set) return typed('java.util.HashSet', writeItems([...(value as Set<unknown>)], within))
  if (value instanceof Map) return writeFields([...(value as Map<unknown, unknown>)], within, MAP)
  if ('toJSON' in value && typeof value.toJSON === 'function') return write((value.toJSON as () => unknown)(), within)
  const origin = origins.get(value)
  const text = writeFields(Object.entries(value), within, origin === undefined ? MAP : (origin.type ?? null), origin)
  return typed(origin?.wrapper ?? null, text)
}

const MAP = 'java.util.HashMap'

const checkDate = (time: number): number => {
  if (Number.isNaN(time)) throw new TypeError('JSON cannot represent an invalid date')
  return time
}

const writeArray = (items: readonly unknown[], within: Within): string => {
  const origin = origins.get(items)
  if (origin === undefined) return typed('java.util.ArrayList', writeItems(items, within))
  const type = origin.wrapper ?? null
  return typed(type, writeItems(items, within, isPlainArray(type), origin))
}

/** `plain`: all items have one class that Java knows, so whole numbers do not name theirs. */
const writeItems = (items: readonly unknown[], within: Within, plain = false, origin?: Origin): string =>
  `[${Array.from(items, (item, place) => {
    const bare = plain && typeof item === 'bigint' ? String(item) : undefined
    return bare ?? write(item, within, origin?.fields?.get(place)) ?? 'null'
  }).join()}]`

/** An object that names its class keeps it. Any other gets `type`, or names no class if that is null. */
const writeFields = (
  entries: readonly (readonly [unknown, unknown])[],
  within: Within,
  type: string | null,
  origin?: Origin,
): string => {
  const own = entries.find(([name]) => name === '@class')?.[1]
  const of = typeof own === 'string' ? own : type
  const fields = of === null ? [] : [`"@class":${JSON.stringify(of)}`]
  for (const [name, value] of entries) {
    const text = name === '@class' ? undefined : write(value, within, origin?.fields?.get(String(name)))
    if (text !== undefined) fields.push(`${JSON.stringify(String(name))}:${text}`)
  }
  return `{${fields.join()}}`
}

const NUMERIC = /\.(?:Long|Integer|Short|Byte|Double|Float|BigDecimal|BigInteger|AtomicLong|AtomicInteger)$/
const DIGITS = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/

const writeJava = ({ type, value }: JavaValue, within: Within): string | undefined => {
  if (Array.isArray(value) || value instanceof Set)
    return typed(type, writeItems([...(value as Iterable<unknown>)], within, isPlainArray(type)))
  if (typeof value === 'bigint') return typed(type, String(value))
  // A value that a JavaScript number cannot hold is passed as text.
  const isNumber = type !== null && typeof value === 'string' && NUMERIC.test(type) && DIGITS.test(value)
  if (isNumber) return typed(type, value)
  if (value instanceof Map) return writeFields([...(value as Map<unknown, unknown>)], within, type)
  const isPlain = typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
  if (isPlain) return writeFields(Object.entries(value), within, type)
  const text = write(value, within)
  return text === undefined ? undefined : typed(type, text)
}
