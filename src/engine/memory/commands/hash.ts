import type { CommandContext, CommandTable } from '../command.js'
import type { Database } from '../database.js'
import { incrementOverflow, wrongArity } from '../error-texts.js'
import { addLongDoubles, type LongDouble, readLongDouble } from '../long-double.js'
import { add, integer, readInteger } from '../numbers.js'
import { type Bytes, type Reply, ReplyError } from '../reply.js'
import { scanCursor, scanMatches, scanOptions } from '../scan.js'
import { chargeItems } from '../command-cost.js'
import { randomFields } from './hash-random.js'
import { OK } from './string.js'

type Fields = Map<Bytes, Bytes>

const fieldsOf = (database: Database, key: Bytes): Fields | undefined => database.typed(key, 'hash')?.fields

const fieldsToWrite = (database: Database, key: Bytes): Fields => {
  const known = fieldsOf(database, key)
  if (known !== undefined) return known
  const fields: Fields = new Map()
  database.set(key, { type: 'hash', fields })
  return fields
}

/** Returns how many fields are new. */
const setAll = (name: string, argv: readonly Bytes[], database: Database): number => {
  if (argv.length % 2 === 1) throw wrongArity(name)
  const fields = fieldsToWrite(database, argv[1] as Bytes)
  const before = fields.size
  for (let i = 2; i < argv.length; i += 2) fields.set(argv[i] as Bytes, argv[i + 1] as Bytes)
  return fields.size - before
}

const setNew = (argv: readonly Bytes[], { database }: CommandContext): Reply => {
  const field = argv[2] as Bytes
  if (fieldsOf(database, argv[1] as Bytes)?.has(field) === true) return 0
  fieldsToWrite(database, argv[1] as Bytes).set(field, argv[3] as Bytes)
  return 1
}

const getSome = (argv: readonly Bytes[], { database }: CommandContext): Reply => {
  const fields = fieldsOf(database, argv[1] as Bytes)
  const texts: Reply[] = []
  for (let i = 2; i < argv.length; i++) texts.push(fields?.get(argv[i] as Bytes) ?? null)
  return texts
}

const pairs = (fields: Iterable<readonly [Bytes, Bytes]>): Bytes[] => {
  const flat: Bytes[] = []
  for (const [field, text] of fields) flat.push(field, text)
  return flat
}

const remove = (argv: readonly Bytes[], { database }: CommandContext): Reply => {
  const key = argv[1] as Bytes
  const fields = fieldsOf(database, key)
  if (fields === undefined) return 0
  let removed = 0
  for (let i = 2; i < argv.length; i++) if (fields.delete(argv[i] as Bytes)) removed++
  if (fields.size === 0) database.delete(key)
  return removed
}

const increase = (argv: readonly Bytes[], { database }: CommandContext): Reply => {
  const field = argv[2] as Bytes
  const by = integer(argv[3] as Bytes)
  const text = fieldsOf(database, argv[1] as Bytes)?.get(field)
  const before = text === undefined ? 0 : readInteger(text)
  if (before === undefined) throw new ReplyError('ERR hash value is not an integer')
  const sum = add(before, by)
  if (sum === undefined) throw incrementOverflow()
  fieldsToWrite(database, argv[1] as Bytes).set(field, String(sum))
  return Number(sum)
}

const increaseByFloat = (argv: readonly Bytes[], { database }: CommandContext): Reply => {
  const field = argv[2] as Bytes
  const by = readLongDouble(argv[3] as Bytes)
  if (by === 'infinite') throw new ReplyError('ERR value is NaN or Infinity')
  const text = fieldsOf(database, argv[1] as Bytes)?.get(field)
  const sum = addLongDoubles(text === undefined ? readLongDouble('0') : storedFloat(text), by)
  fieldsToWrite(database, argv[1] as Bytes).set(field, sum)
  return sum
}

const storedFloat = (text: Bytes): LongDouble => {
  try {
    return readLongDouble(text)
  } catch {
    throw new ReplyError('ERR hash value is not a float')
  }
}

const scan = (argv: readonly Bytes[], { database }: CommandContext): Reply => {
  scanCursor(argv[2] as Bytes)
  const fields = fieldsOf(database, argv[1] as Bytes)
  if (fields === undefined) return ['0', []]
  const { match } = scanOptions(argv, 3)
  chargeItems(fields.size * 2)
  const found: Bytes[] = []
  for (const [field, text] of fields) if (scanMatches(match, field)) found.push(field, text)
  return ['0', found]
}

export const hashCommands: CommandTable = {
  hset: { arity: -4, write: true, handle: (argv, { database }) => setAll('hset', argv, database) },
  hmset: {
    arity: -4,
    write: true,
    handle(argv, { database }) {
      setAll('hmset', argv, database)
      return OK
    },
  },
  hsetnx: { arity: 4, write: true, handle: setNew },
  hget: {
    arity: 3,
    handle: (argv, { database }) => fieldsOf(database, argv[1] as Bytes)?.get(argv[2] as Bytes) ?? null,
  },
  hmget: { arity: -3, handle: getSome },
  hgetall: { arity: 2, handle: (argv, { database }) => pairs(fieldsOf(database, argv[1] as Bytes) ?? []) },
  hkeys: { arity: 2, handle: (argv, { database }) => [...(fieldsOf(database, argv[1] as Bytes)?.keys() ?? [])] },
  hvals: { arity: 2, handle: (argv, { database }) => [...(fieldsOf(database, argv[1] as Bytes)?.values() ?? [])] },
  hlen: { arity: 2, handle: (argv, { database }) => fieldsOf(database, argv[1] as Bytes)?.size ?? 0 },
  hexists: {
    arity: 3,
    handle: (argv, { database }) => (fieldsOf(database, argv[1] as Bytes)?.has(argv[2] as Bytes) === true ? 1 : 0),
  },
  hstrlen: {
    arity: 3,
    handle: (argv, { database }) => fieldsOf(database, argv[1] as Bytes)?.get(argv[2] as Bytes)?.length ?? 0,
  },
  hdel: { arity: -3, write: true, handle: remove },
  hincrby: { arity: 4, write: true, handle: increase },
  hincrbyfloat: { arity: 4, write: true, handle: increaseByFloat },
  hrandfield: {
    arity: -2,
    handle: (argv, { database, server }) =>
      randomFields(
        argv,
        () => fieldsOf(database, argv[1] as Bytes),
        () => server.random(),
      ),
  },
  hscan: { arity: -3, handle: scan },
}
