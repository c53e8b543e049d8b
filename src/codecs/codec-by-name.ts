import { show } from '../check-arguments.js'
import { jackson } from './jackson.js'
import { checkLevels, contentOf } from './codec-limits.js'
import { utf8 } from './utf8.js'
import type { Codec, CodecName } from '../api/codec.js'
import { isA, isPromise, textOf } from '../thrown.js'

/** Writes text and numbers as text, and bytes unchanged; always reads text. Redisson's StringCodec. */
const string: Codec = {
  encode(value) {
    if (typeof value === 'string' || value instanceof Uint8Array) return value
    if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return String(value)
    throw new TypeError(`the string codec takes only text, numbers, true, false and bytes, not ${show(value)}`)
  },
  decode: utf8,
}

const jsonOf = (value: unknown): string | undefined => {
  try {
    return JSON.stringify(value)
  } catch (cause) {
    const why = `JSON cannot represent ${show(value)}: ${textOf(cause)}`
    throw new TypeError(`${why}. Convert it to text, for example, or choose another codec`, { cause })
  }
}

const json: Codec = {
  encode(value) {
    const text = jsonOf(value)
    if (text === undefined) throw new TypeError(`JSON cannot represent ${show(value)}`)
    return text
  },
  decode(data): unknown {
    const text = checkLevels(contentOf(data))
    try {
      return JSON.parse(text)
    } catch (error) {
      // eslint-disable-next-line preserve-caught-error -- it shows a part of the text, as it is
      throw new SyntaxError(textOf(error))
    }
  },
}

const INTEGER = /^-?\d{1,19}$/
const LONGEST = 20

/** Reads a number beyond the safe integers as a bigint. Redisson's LongCodec. */
const long: Codec = {
  encode(value) {
    const fits = typeof value === 'bigint' ? BigInt.asIntN(64, value) === value : Number.isSafeInteger(value)
    if (!fits) throw new TypeError(`the long codec takes only whole numbers of 64 bits, not ${show(value)}`)
    return String(value)
  },
  decode(data) {
    const text = utf8(data.subarray(0, LONGEST + 1))
    if (!INTEGER.test(text)) throw new TypeError(`not a whole number: ${show(text)}`)
    const number = Number(text)
    return Number.isSafeInteger(number) ? number : BigInt(text)
  },
}

/** Redisson's ByteArrayCodec. */
const bytes: Codec = {
  encode(value) {
    if (value instanceof Uint8Array) return value
    throw new TypeError(`the bytes codec takes only a Uint8Array, not ${show(value)}`)
  },
  // A copy, because the bytes received share their memory with other replies.
  decode: (data) => new Uint8Array(data),
}

const NAMED: Readonly<Record<CodecName, Codec>> = { json, jackson, string, long, bytes }

/** Whether it is one of the named codecs, not one that the caller passed. */
export const isNamed = (codec: Codec): boolean => Object.values(NAMED).includes(codec)

/**
 * Whether this codec writes a text as its own bytes. Redisson has no plain JSON codec; with `'json'`, keys are written as plain
 * text all the same.
 */
export const keepsText = (codec: Codec): boolean => isNamed(codec) && codec !== jackson

/** `what`: the name of the argument, for the error message. */
export const codecOf = (wanted: unknown, what = 'codec'): Codec => {
  if (typeof wanted === 'string' && Object.hasOwn(NAMED, wanted)) return NAMED[wanted as CodecName]
  const own = (typeof wanted === 'object' && wanted !== null ? wanted : {}) as Partial<Codec>
  if (typeof own.encode === 'function' && typeof own.decode === 'function') return own as Codec
  const names = Object.keys(NAMED).join("', '")
  throw new TypeError(`${what} must be '${names}', or have encode() and decode(), not ${show(wanted)}`)
}

/** Encodes a value with the codec; `what` names the value in an error message. */
export const encodeWith = (codec: Codec, value: unknown, what: string): string | Uint8Array => {
  const data: unknown = codec.encode(value)
  if (typeof data === 'string' || isA(data, Uint8Array)) return data
  if (isPromise(data)) throw new TypeError(`codec.encode() must return text or bytes for ${what}, not a promise`)
  throw new TypeError(`codec.encode() must return text or bytes for ${what}, not ${show(data)}`)
}

/** Decodes the bytes with the codec. */
export const decodeWith = (codec: Codec, data: Uint8Array): unknown => {
  const value = codec.decode(data)
  if (isPromise(value)) throw new TypeError('codec.decode() must return the value, not a promise')
  return value
}
