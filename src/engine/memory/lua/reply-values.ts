import { ReplyError, Status } from '../reply.js'
import { toInt64 } from './arguments.js'
import { formatGeneral } from './number-format.js'
import { index, newTable, next, rawGet, rawSet, spend, Table } from './vm.gen.js'
import type { Reply } from '../reply.js'
import type { LuaValue, Thread } from './vm.gen.js'

const trimNewlines = (text: string): string => text.replace(/^[\r\n]+|[\r\n]+$/g, '')

const cString = (text: string): string => {
  const end = text.indexOf('\0')
  return end < 0 ? text : text.slice(0, end)
}

/** Makes the table {err = 'CODE text'} from "-CODE text", "-text" or "text", like Redis. */
export const errorTable = (L: Thread, raw: string): Table => {
  const text = cString(raw)
  const table = newTable(L)
  const space = text.indexOf(' ')
  const message = text.startsWith('-')
    ? space < 0
      ? `ERR ${trimNewlines(text.slice(1))}`
      : `${text.slice(1, space)} ${trimNewlines(text.slice(space + 1))}`
    : `ERR ${trimNewlines(text)}`
  rawSet(L, table, 'err', message)
  return table
}

/** Converts a server's reply to a Lua value. */
export const replyToLua = (L: Thread, reply: Reply): LuaValue => {
  if (reply === null) return false
  if (typeof reply !== 'object') return reply
  if (reply instanceof ReplyError) {
    const table = errorTable(L, `-${reply.message}`)
    rawSet(L, table, 'ignore_error_stats_update', true)
    return table
  }
  const table = newTable(L, reply instanceof Status ? 0 : reply.length)
  if (!(reply instanceof Status)) spend(L, reply.length)
  if (reply instanceof Status) rawSet(L, table, 'ok', reply.text)
  else for (let i = 0; i < reply.length; i++) rawSet(L, table, i + 1, replyToLua(L, reply[i] ?? null))
  return table
}

const pairsOf = (L: Thread, table: Table): [LuaValue, LuaValue][] => {
  const pairs: [LuaValue, LuaValue][] = []
  for (let pair = next(L, table, undefined); pair; pair = next(L, table, pair[0])) pairs.push(pair)
  return pairs
}

const doubleText = (value: number): string => formatGeneral(value, 17)

/** Converts tables that stand for RESP3 types to their flat forms, which a RESP2 client sees. */
const typedTable = (L: Thread, table: Table): Reply | undefined => {
  const double = rawGet(L, table, 'double')
  if (typeof double === 'number') return doubleText(double)
  const map = rawGet(L, table, 'map')
  if (map instanceof Table) {
    return pairsOf(L, map).flatMap(([key, value]) => [luaToReply(L, key), luaToReply(L, value)])
  }
  const set = rawGet(L, table, 'set')
  if (set instanceof Table) return pairsOf(L, set).map(([key]) => luaToReply(L, key))
  const big = rawGet(L, table, 'big_number')
  if (typeof big === 'string') return big.replace(/[\r\n]/g, ' ')
  const verbatim = rawGet(L, table, 'verbatim_string')
  if (!(verbatim instanceof Table)) return undefined
  const text = rawGet(L, verbatim, 'string')
  return typeof text === 'string' && typeof rawGet(L, verbatim, 'format') === 'string' ? text : undefined
}

const tableToReply = (L: Thread, table: Table): Reply => {
  const error = rawGet(L, table, 'err')
  if (typeof error === 'string') return new ReplyError(errorText(error))
  const ok = rawGet(L, table, 'ok')
  if (typeof ok === 'string') return new Status(cString(ok).replace(/[\r\n]/g, ' '))
  const typed = typedTable(L, table)
  if (typed !== undefined) return typed
  const items: Reply[] = []
  for (let i = 1; ; i++) {
    const item = index(L, table, i)
    if (item === undefined) return items
    items.push(luaToReply(L, item))
  }
}

/** The text of an error on one line, as it is sent. */
export const errorText = (text: string): string =>
  cString(text)
    .replace(/[\r\n]+$/, '')
    .replace(/[\r\n]/g, ' ')

/** Converts a script's result to a reply. */
export const luaToReply = (L: Thread, value: LuaValue): Reply => {
  spend(L, 1)
  switch (typeof value) {
    case 'string':
      return value
    case 'number':
      return toInt64(value)
    case 'boolean':
      return value ? 1 : null
    default:
      return value instanceof Table ? tableToReply(L, value) : null
  }
}
