import type { Codec } from '../../api/codec.js'
import { utf8 } from '../../codecs/utf8.js'
import { serverError } from '../../errors.js'
import { show } from '../../check-arguments.js'
import type { Returns } from '../../api/script.js'
import { decodeWith } from '../../codecs/codec-by-name.js'
import type { Reply } from '../../lua/values.js'
import { isError } from '../../thrown.js'

type Readers = { readonly [R in keyof Returns]: (reply: Reply, codec: Codec) => Returns[R] }

const not = (what: keyof Returns, reply: Reply): TypeError =>
  new TypeError(
    `the script must return a value for returns: '${what}', not ${show(reply instanceof Uint8Array ? utf8(reply) : reply)}`,
  )

const value = (reply: Reply, codec: Codec): unknown => {
  if (reply === null) return undefined
  if (reply instanceof Uint8Array) return decoded(reply, codec)
  if (Array.isArray(reply)) return reply.map((item) => value(item, codec))
  return isError(reply) ? serverError(reply.message) : reply
}

/** A status such as `redis.status_reply('OK')`, or the reply of SET, also comes as bytes, but is not a value of the codec. */
const decoded = (data: Uint8Array, codec: Codec): unknown => {
  try {
    return decodeWith(codec, data)
  } catch (error) {
    if (utf8(data) === 'OK') return 'OK'
    throw error
  }
}

/** Readers of a script's answer, by kind. The reply is binary, so all text comes as bytes. */
export const readers: Readers = {
  value,
  boolean: (reply) => reply === 1 || (reply instanceof Uint8Array && utf8(reply) === 'OK'),
  integer(reply) {
    if (reply === null) return undefined
    const number = reply instanceof Uint8Array && /^-?\d+$/.test(utf8(reply)) ? Number(utf8(reply)) : reply
    if (typeof number === 'number' && Number.isSafeInteger(number)) return number
    throw not('integer', reply)
  },
  status(reply) {
    if (reply === null) return undefined
    if (reply instanceof Uint8Array) return utf8(reply)
    throw not('status', reply)
  },
  list(reply, codec) {
    if (reply === null) return []
    if (Array.isArray(reply)) return reply.map((item) => value(item, codec))
    throw not('list', reply)
  },
}

export const checkReturns = (wanted: unknown): keyof Returns => {
  if (typeof wanted === 'string' && Object.hasOwn(readers, wanted)) return wanted as keyof Returns
  throw new TypeError(`returns must be one of '${Object.keys(readers).join("', '")}', not ${show(wanted)}`)
}
