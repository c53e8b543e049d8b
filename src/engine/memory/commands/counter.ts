import type { CommandContext, CommandTable } from '../command.js'
import { incrementOverflow } from '../error-texts.js'
import { addLongDoubles, readLongDouble } from '../long-double.js'
import { add, type Int, integer, MIN_INT } from '../numbers.js'
import { type Bytes, type Reply, ReplyError } from '../reply.js'
import { putText, textOf } from './string.js'

const increase = (key: Bytes, by: Int, { database }: CommandContext): Reply => {
  const value = database.typed(key, 'string')
  const sum = add(value === undefined ? 0 : integer(value.text), by)
  if (sum === undefined) throw incrementOverflow()
  const text = String(sum)
  if (value === undefined) database.set(key, { type: 'string', text })
  else value.text = text
  return Number(sum)
}

const decreaseBy = (argv: readonly Bytes[], context: CommandContext): Reply => {
  const by = integer(argv[2] as Bytes)
  if (by === MIN_INT) throw new ReplyError('ERR decrement would overflow')
  return increase(argv[1] as Bytes, -by, context)
}

const increaseByFloat = (argv: readonly Bytes[], { database }: CommandContext): Reply => {
  const key = argv[1] as Bytes
  const before = textOf(database, key)
  const sum = addLongDoubles(readLongDouble(before ?? '0'), readLongDouble(argv[2] as Bytes))
  putText(database, key, sum)
  return sum
}

export const counterCommands: CommandTable = {
  incr: { arity: 2, write: true, handle: (argv, context) => increase(argv[1] as Bytes, 1, context) },
  decr: { arity: 2, write: true, handle: (argv, context) => increase(argv[1] as Bytes, -1, context) },
  incrby: {
    arity: 3,
    write: true,
    handle: (argv, context) => increase(argv[1] as Bytes, integer(argv[2] as Bytes), context),
  },
  decrby: { arity: 3, write: true, handle: decreaseBy },
  incrbyfloat: { arity: 3, write: true, handle: increaseByFloat },
}
