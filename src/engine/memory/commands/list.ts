import type { Command, CommandContext, CommandTable } from '../command.js'
import { type Database, type ValueOf, wrongType } from '../database.js'
import { type Bytes, type Reply, Status } from '../reply.js'
import { noSuchKey, syntaxError, wrongArity } from '../error-texts.js'
import { roughInteger } from '../numbers.js'
import { chargeItems } from '../command-cost.js'
import { listPosition } from './list-position.js'
import { count, countedKeys, failure, isWord, spanOf, trailingCount } from './operands.js'

type List = ValueOf<'list'>
type Handler = (argv: readonly Bytes[], context: CommandContext) => Reply
type Side = 'left' | 'right'

const reads = (arity: number, handle: Handler): Command => ({ arity, handle })
const writes = (arity: number, handle: Handler): Command => ({ arity, write: true, handle })
const at = (argv: readonly Bytes[], index: number): Bytes => argv[index] as Bytes
const keyOf = (argv: readonly Bytes[]): Bytes => at(argv, 1)
const integerAt = (argv: readonly Bytes[], index: number): number => roughInteger(at(argv, index))

const listAt = ({ database }: CommandContext, argv: readonly Bytes[]): List | undefined =>
  database.typed(keyOf(argv), 'list')

const dropWhenEmpty = (database: Database, key: Bytes, list: List): void => {
  if (list.items.length === 0) database.delete(key)
}

const pushTo = (database: Database, key: Bytes, side: Side, values: readonly Bytes[]): number => {
  let list = database.typed(key, 'list')
  if (list === undefined) database.set(key, (list = { type: 'list', items: [] }))
  if (side === 'left') chargeItems(values.length * (list.items.length >> 5))
  for (const value of values) {
    if (side === 'left') list.items.unshift(value)
    else list.items.push(value)
  }
  return list.items.length
}

const take = (database: Database, key: Bytes, side: Side, amount: number): Bytes[] => {
  const list = database.typed(key, 'list')
  if (list === undefined) return []
  const { items } = list
  chargeItems(
    side === 'left' ? Math.max(Math.min(amount, items.length), items.length >> 5) : Math.min(amount, items.length),
  )
  const taken =
    side === 'left'
      ? items.splice(0, Math.min(amount, items.length))
      : items.splice(Math.max(items.length - amount, 0)).reverse()
  dropWhenEmpty(database, key, list)
  return taken
}

const push = (side: Side, onlyExisting: boolean): Command =>
  writes(-3, (argv, context) => {
    const list = listAt(context, argv)
    if (list === undefined && onlyExisting) return 0
    return pushTo(context.database, keyOf(argv), side, argv.slice(2))
  })

const pop = (side: Side, name: string): Command =>
  writes(-2, (argv, context) => {
    if (argv.length > 3) throw wrongArity(name)
    const amount = argv.length === 3 ? count(at(argv, 2)) : undefined
    const list = listAt(context, argv)
    if (list === undefined) return null
    const taken = take(context.database, keyOf(argv), side, amount ?? 1)
    return amount === undefined ? (taken[0] ?? null) : taken
  })

const lindex: Handler = (argv, context) => {
  const list = listAt(context, argv)
  if (list === undefined) return null
  return list.items.at(integerAt(argv, 2)) ?? null
}

const lset: Handler = (argv, context) => {
  const list = listAt(context, argv)
  if (list === undefined) throw noSuchKey()
  const asked = integerAt(argv, 2)
  const index = asked < 0 ? asked + list.items.length : asked
  if (index < 0 || index >= list.items.length) throw failure('index out of range')
  list.items[index] = at(argv, 3)
  return new Status('OK')
}

const linsert: Handler = (argv, context) => {
  const after = isWord(argv[2], 'after')
  if (!after && !isWord(argv[2], 'before')) throw syntaxError()
  const list = listAt(context, argv)
  if (list === undefined) return 0
  chargeItems(list.items.length)
  const pivot = list.items.indexOf(at(argv, 3))
  if (pivot < 0) return -1
  list.items.splice(after ? pivot + 1 : pivot, 0, at(argv, 4))
  return list.items.length
}

const lrem: Handler = (argv, context) => {
  const limit = integerAt(argv, 2)
  const list = listAt(context, argv)
  if (list === undefined) return 0
  chargeItems(list.items.length * 2)
  const fromEnd = limit < 0
  const items = fromEnd ? list.items.reverse() : list.items
  let left = limit === 0 ? Infinity : Math.abs(limit)
  const kept = items.filter((item) => item !== argv[3] || left-- <= 0)
  const removed = items.length - kept.length
  list.items = fromEnd ? kept.reverse() : kept
  dropWhenEmpty(context.database, keyOf(argv), list)
  return removed
}

const lrange: Handler = (argv, context) => {
  const [from, to] = [integerAt(argv, 2), integerAt(argv, 3)]
  const list = listAt(context, argv)
  if (list === undefined) return []
  const { start, end } = spanOf(from, to, list.items.length)
  chargeItems(end - start)
  return list.items.slice(start, end)
}

const ltrim: Handler = (argv, context) => {
  const [from, to] = [integerAt(argv, 2), integerAt(argv, 3)]
  const list = listAt(context, argv)
  if (list !== undefined) {
    const { start, end } = spanOf(from, to, list.items.length)
    chargeItems(end - start)
    list.items = list.items.slice(start, end)
    dropWhenEmpty(context.database, keyOf(argv), list)
  }
  return new Status('OK')
}

const sideOf = (text: Bytes | undefined): Side => {
  if (isWord(text, 'left')) return 'left'
  if (isWord(text, 'right')) return 'right'
  throw syntaxError()
}

const move = (context: CommandContext, argv: readonly Bytes[], from: Side, to: Side): Reply => {
  const { database } = context
  const source = listAt(context, argv)
  if (source === undefined) return null
  const target = database.get(at(argv, 2))
  if (target !== undefined && target.type !== 'list') throw wrongType()
  // If a list of one item moves onto itself, it must not disappear in between, or it would lose its expiry.
  const values = [(from === 'left' ? source.items.shift() : source.items.pop()) ?? '']
  pushTo(database, at(argv, 2), to, values)
  dropWhenEmpty(database, keyOf(argv), source)
  return values[0] ?? null
}

const lmpop: Handler = (argv, { database }) => {
  const { keys, next } = countedKeys(argv, 1)
  if (next >= argv.length) throw syntaxError()
  const side = sideOf(argv[next])
  const amount = trailingCount(argv, next + 1)
  for (const key of keys) {
    if (database.typed(key, 'list') !== undefined) return [key, take(database, key, side, amount)]
  }
  return null
}

export const listCommands: CommandTable = {
  lpush: push('left', false),
  rpush: push('right', false),
  lpushx: push('left', true),
  rpushx: push('right', true),
  lpop: pop('left', 'lpop'),
  rpop: pop('right', 'rpop'),
  llen: reads(2, (argv, context) => listAt(context, argv)?.items.length ?? 0),
  lrange: reads(4, lrange),
  lindex: reads(3, lindex),
  lset: writes(4, lset),
  linsert: writes(5, linsert),
  lrem: writes(4, lrem),
  ltrim: writes(4, ltrim),
  lpos: reads(-3, listPosition),
  rpoplpush: writes(3, (argv, context) => move(context, argv, 'right', 'left')),
  lmove: writes(5, (argv, context) => move(context, argv, sideOf(argv[3]), sideOf(argv[4]))),
  lmpop: writes(-4, lmpop),
}
