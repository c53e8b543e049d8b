import type { CommandContext, CommandTable } from '../command.js'
import type { Value } from '../database.js'
import { noSuchKey, syntaxError } from '../error-texts.js'
import { roughInteger } from '../numbers.js'
import { type Bytes, type Reply, ReplyError, Status } from '../reply.js'
import { scanCursor, scanMatches, scanOptions } from '../scan.js'
import { charge, chargeCopies, chargeItems } from '../command-cost.js'
import { OK } from './string.js'

const remove = (argv: readonly Bytes[], { database }: CommandContext): Reply => {
  let removed = 0
  for (let i = 1; i < argv.length; i++) if (database.delete(argv[i] as Bytes)) removed++
  return removed
}

const exists = (argv: readonly Bytes[], { database }: CommandContext): Reply => {
  let found = 0
  for (let i = 1; i < argv.length; i++) if (database.get(argv[i] as Bytes) !== undefined) found++
  return found
}

const rename =
  (onlyNew: boolean) =>
  (argv: readonly Bytes[], { database }: CommandContext): Reply => {
    const from = argv[1] as Bytes
    const to = argv[2] as Bytes
    const value = database.get(from)
    if (value === undefined) throw noSuchKey()
    if (onlyNew && database.get(to) !== undefined) return 0
    if (from !== to) {
      const at = database.expiry(from)
      database.delete(from)
      database.set(to, value, false)
      database.setExpiry(to, at)
    }
    return onlyNew ? 1 : OK
  }

const sizeOf = (value: Value): number => {
  switch (value.type) {
    case 'string':
      return 0
    case 'hash':
      return value.fields.size
    case 'list':
      return value.items.length
    case 'set':
      return value.members.size
    case 'zset':
      return value.sorted.size
  }
}

const copyOf = (value: Value): Value => {
  chargeCopies(sizeOf(value))
  switch (value.type) {
    case 'string':
      return { type: 'string', text: value.text }
    case 'hash':
      return { type: 'hash', fields: new Map(value.fields) }
    case 'list':
      return { type: 'list', items: [...value.items] }
    case 'set':
      return { type: 'set', members: new Set(value.members) }
    case 'zset':
      return { type: 'zset', sorted: value.sorted.copy() }
  }
}

const checkIndex = (text: Bytes): void => {
  if (roughInteger(text) !== 0) throw new ReplyError('ERR DB index is out of range')
}

const copy = (argv: readonly Bytes[], { database }: CommandContext): Reply => {
  const from = argv[1] as Bytes
  const to = argv[2] as Bytes
  let replace = false
  for (let i = 3; i < argv.length; i++) {
    const option = (argv[i] as Bytes).toUpperCase()
    if (option === 'REPLACE') replace = true
    else if (option === 'DB' && i + 1 < argv.length) checkIndex(argv[(i += 1)] as Bytes)
    else throw syntaxError()
  }
  if (from === to) throw new ReplyError('ERR source and destination objects are the same')
  const value = database.get(from)
  if (value === undefined || (!replace && database.get(to) !== undefined)) return 0
  database.set(to, copyOf(value), false)
  database.setExpiry(to, database.expiry(from))
  return 1
}

const keys = (argv: readonly Bytes[], { database }: CommandContext): Reply => {
  const pattern = argv[1] as Bytes
  chargeItems(database.size * 2)
  return database.keys().filter((key) => scanMatches(pattern, key))
}

const scan = (argv: readonly Bytes[], { database, server: { cursors } }: CommandContext): Reply => {
  const cursor = scanCursor(argv[1] as Bytes)
  const { count, match, type } = scanOptions(argv, 2, true)
  const [next, keys] = cursors.next(cursor, count, () => {
    // They are hashed, and sorted.
    charge(database.size)
    return database.keys()
  })
  const found: Bytes[] = []
  for (const key of keys) {
    const value = database.get(key)
    if (value === undefined || (type !== undefined && value.type !== type)) continue
    if (scanMatches(match, key)) found.push(key)
  }
  return [String(next), found]
}

const randomKey = (_argv: readonly Bytes[], { database, server }: CommandContext): Reply => {
  chargeItems(database.size)
  let skip = Math.floor(server.random() * database.size)
  for (const key of database.walk()) if (skip-- === 0) return key
  return null
}

const flush = (argv: readonly Bytes[], { database }: CommandContext): Reply => {
  const how = argv[1]?.toUpperCase() ?? 'SYNC'
  if (argv.length > 2 || (how !== 'SYNC' && how !== 'ASYNC')) throw syntaxError()
  database.clear()
  return OK
}

const NO_TYPE = new Status('none')
const TYPES = {
  string: new Status('string'),
  hash: new Status('hash'),
  list: new Status('list'),
  set: new Status('set'),
  zset: new Status('zset'),
}

const typeOf = (argv: readonly Bytes[], { database }: CommandContext): Reply => {
  const value = database.get(argv[1] as Bytes)
  return value === undefined ? NO_TYPE : TYPES[value.type]
}

export const genericCommands: CommandTable = {
  del: { arity: -2, write: true, handle: remove },
  unlink: { arity: -2, write: true, handle: remove },
  exists: { arity: -2, handle: exists },
  touch: { arity: -2, handle: exists },
  type: { arity: 2, handle: typeOf },
  rename: { arity: 3, write: true, handle: rename(false) },
  renamenx: { arity: 3, write: true, handle: rename(true) },
  copy: { arity: -3, write: true, handle: copy },
  keys: { arity: 2, handle: keys },
  scan: { arity: -2, handle: scan },
  randomkey: { arity: 1, handle: randomKey },
  dbsize: { arity: 1, handle: (_argv, { database }) => database.size },
  flushdb: { arity: -1, write: true, handle: flush },
  flushall: { arity: -1, write: true, handle: flush },
  select: {
    arity: 2,
    handle(argv) {
      checkIndex(argv[1] as Bytes)
      return OK
    },
  },
}
