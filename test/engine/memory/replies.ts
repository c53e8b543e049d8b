import { type Reply, ReplyError, Status, toText } from '#src/engine/memory/reply.js'
import type { Argv } from './random-commands.js'

/** A reply of either server: `:1`, `$text`, `-error text`, nil, or a list of these. */
export type Plain = string | null | Plain[]

export const fromMemory = (reply: Reply): Plain => {
  if (reply === null) return null
  if (Array.isArray(reply)) return reply.map(fromMemory)
  if (typeof reply === 'string') return `$${reply}`
  if (reply instanceof ReplyError) return `-${toText(reply.message)}`
  if (reply instanceof Status) return `$${reply.text}`
  return `:${reply}`
}

/** Of a connection that gives bulk strings as buffers and integers as strings. */
export const fromRedis = (reply: unknown): Plain => {
  if (reply === null || reply === undefined) return null
  if (Array.isArray(reply)) return reply.map(fromRedis)
  if (Buffer.isBuffer(reply)) return `$${reply.toString('latin1')}`
  if (reply instanceof Error) return `-${reply.message}`
  // Both sides give integers as JavaScript numbers to their users, beyond 2^53 rounded.
  if (typeof reply === 'string' || typeof reply === 'number') return `:${Number(reply)}`
  throw new Error(`no reply: ${typeof reply}`)
}

const SORTED = new Set(['SMEMBERS', 'SINTER', 'SUNION', 'SDIFF', 'KEYS', 'SPOP'])
/** In order, unless fields are long: then the real server keeps a hash table. */
const SORTED_WHEN_LONG = new Set(['HKEYS', 'HVALS'])
/** How many keys have expired and still count is the server's affair while nobody has asked for them. */
const SHAPED = new Set(['DBSIZE', 'RANDOMKEY', 'SRANDMEMBER', 'ZRANDMEMBER', 'HRANDFIELD'])
const CURSED = new Set(['SCAN', 'SSCAN', 'HSCAN', 'ZSCAN'])
const SPANS = new Set(['TTL', 'PTTL', 'EXPIRETIME', 'PEXPIRETIME'])

const text = (plain: Plain): string => JSON.stringify(plain)
const sorted = (plain: Plain): Plain =>
  Array.isArray(plain) ? [...plain].sort((a, b) => (text(a) < text(b) ? -1 : 1)) : plain

const pairs = (plain: Plain): Plain => {
  if (!Array.isArray(plain)) return plain
  const grouped: Plain[] = []
  for (let i = 0; i < plain.length; i += 2) grouped.push(plain.slice(i, i + 2))
  return sorted(grouped)
}

const shape = (plain: Plain): Plain => {
  if (plain === null || (typeof plain === 'string' && plain.startsWith('-'))) return plain
  return Array.isArray(plain) ? plain.map(shape) : 'one'
}

/** A reply without what the server is free to choose. */
const settled = (name: string, plain: Plain, long: boolean): Plain => {
  if (SHAPED.has(name)) return shape(plain)
  if (SORTED.has(name) || (long && SORTED_WHEN_LONG.has(name))) return sorted(plain)
  if (long && name === 'HGETALL') return pairs(plain)
  if (!CURSED.has(name) || !Array.isArray(plain)) return plain
  const [cursor = null, items = null] = plain
  return [cursor, name.endsWith('HSCAN') || name.startsWith('Z') ? pairs(items) : sorted(items)]
}

const near = (name: string, a: Plain, b: Plain): boolean => {
  if (typeof a !== 'string' || typeof b !== 'string' || !a.startsWith(':') || !b.startsWith(':')) return false
  // A busy machine may let seconds pass between the two servers.
  const slack = name.startsWith('P') ? 5000 : 5
  const [x, y] = [Number(a.slice(1)), Number(b.slice(1))]
  return x > 0 && y > 0 && Math.abs(x - y) <= slack
}

export const agree = (argv: Argv, a: Plain, b: Plain, long: boolean): boolean => {
  const name = (argv[0] ?? '').toUpperCase()
  if (text(settled(name, a, long)) === text(settled(name, b, long))) return true
  return SPANS.has(name) && near(name, a, b)
}
