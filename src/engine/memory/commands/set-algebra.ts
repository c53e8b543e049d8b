import type { Command, CommandContext } from '../command.js'
import { syntaxError } from '../error-texts.js'
import type { Bytes } from '../reply.js'
import { failure, integerFrom, isWord } from './operands.js'
import { chargeCopies, chargeItems } from '../command-cost.js'
import { listed } from './set-order.js'

type Operation = (sets: readonly ReadonlySet<Bytes>[]) => Set<Bytes>

const nothing: ReadonlySet<Bytes> = new Set()

const setsAt = ({ database }: CommandContext, keys: readonly Bytes[]): ReadonlySet<Bytes>[] =>
  keys.map((key) => database.typed(key, 'set')?.members ?? nothing)

const sizeOf = (sets: readonly ReadonlySet<Bytes>[]): number => sets.reduce((sum, { size }) => sum + size, 0)

const intersection: Operation = (sets) => {
  const [smallest = nothing, ...others] = [...sets].sort((a, b) => a.size - b.size)
  chargeItems(smallest.size * sets.length * 2)
  chargeCopies(smallest.size)
  const common = new Set<Bytes>()
  for (const member of smallest) if (others.every((other) => other.has(member))) common.add(member)
  return common
}

const union: Operation = (sets) => {
  chargeCopies(sizeOf(sets))
  const all = new Set<Bytes>()
  for (const set of sets) for (const member of set) all.add(member)
  return all
}

const difference: Operation = ([first = nothing, ...others]) => {
  chargeItems(first.size * others.length * 2)
  chargeCopies(first.size)
  const left = new Set<Bytes>()
  for (const member of first) if (!others.some((other) => other.has(member))) left.add(member)
  return left
}

const reply = (operation: Operation): Command => ({
  arity: -2,
  handle: (argv, context) => listed(operation(setsAt(context, argv.slice(1)))),
})

const store = (operation: Operation): Command => ({
  arity: -3,
  write: true,
  handle: (argv, context) => {
    const [, target = '', ...keys] = argv
    const members = operation(setsAt(context, keys))
    if (members.size === 0) context.database.delete(target)
    else context.database.set(target, { type: 'set', members }, false)
    return members.size
  },
})

const limitOf = (options: readonly Bytes[]): number => {
  let limit = 0
  for (let i = 0; i < options.length; i += 2) {
    const value = options[i + 1]
    if (value === undefined || !isWord(options[i], 'limit')) throw syntaxError()
    limit = integerFrom(0, value, "LIMIT can't be negative")
  }
  return limit
}

const sintercard: Command = {
  arity: -3,
  handle: (argv, context) => {
    const amount = integerFrom(1, argv[1] as Bytes, 'numkeys should be greater than 0')
    if (amount > argv.length - 2) throw failure("Number of keys can't be greater than number of args")
    const limit = limitOf(argv.slice(2 + amount))
    const { size } = intersection(setsAt(context, argv.slice(2, 2 + amount)))
    return limit === 0 ? size : Math.min(size, limit)
  },
}

export const setAlgebraCommands = {
  sinter: reply(intersection),
  sunion: reply(union),
  sdiff: reply(difference),
  sinterstore: store(intersection),
  sunionstore: store(union),
  sdiffstore: store(difference),
  sintercard,
}
