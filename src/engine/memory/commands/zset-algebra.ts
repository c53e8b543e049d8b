import type { Command, CommandContext } from '../command.js'
import { wrongType } from '../database.js'
import { syntaxError } from '../error-texts.js'
import { roughInteger } from '../numbers.js'
import type { Bytes, Reply } from '../reply.js'
import { compareScored, type Scored, SortedSet } from '../sorted-set.js'
import { double, failure, integerFrom, isWord } from './operands.js'
import { chargeCopies, chargeItems } from '../command-cost.js'
import { flat } from './zset-operands.js'
import { storeSorted } from './zset-range.js'

type Operation = 'union' | 'inter' | 'diff'
type Form = 'reply' | 'store' | 'card'

interface Kind {
  readonly name: Bytes
  readonly operation: Operation
  readonly form: Form
}

/** One input: a sorted set, or a set whose members all have the score 1. */
interface Source {
  readonly scores: ReadonlyMap<Bytes, number>
  weight: number
}

interface Query {
  readonly sources: readonly Source[]
  aggregate: (a: number, b: number) => number
  withScores: boolean
  limit: number
}

const orZero = (score: number): number => (Number.isNaN(score) ? 0 : score)
const sum = (a: number, b: number): number => orZero(a + b)
const lesser = (a: number, b: number): number => (b < a ? b : a)
const greater = (a: number, b: number): number => (b > a ? b : a)

const sourceAt = ({ database }: CommandContext, key: Bytes): Source => {
  const value = database.get(key)
  const scores = new Map<Bytes, number>()
  chargeCopies(value?.type === 'zset' ? value.sorted.size : value?.type === 'set' ? value.members.size : 0)
  if (value?.type === 'zset') for (const { member, score } of value.sorted) scores.set(member, score)
  else if (value?.type === 'set') for (const member of value.members) scores.set(member, 1)
  else if (value !== undefined) throw wrongType()
  return { scores, weight: 1 }
}

const aggregateOf = (word: Bytes): Query['aggregate'] => {
  if (isWord(word, 'sum')) return sum
  if (isWord(word, 'min')) return lesser
  if (isWord(word, 'max')) return greater
  throw syntaxError()
}

/** Reads the option at `at`, and returns the index of the next one. */
const readOption = (options: readonly Bytes[], at: number, query: Query, { operation, form }: Kind): number => {
  const option = options[at]
  const values = options.slice(at + 1)
  const [value] = values
  const weighed = operation !== 'diff' && form !== 'card'
  if (weighed && isWord(option, 'weights') && values.length >= query.sources.length) {
    query.sources.forEach((source, i) => (source.weight = double(values[i] as Bytes, 'weight value is not a float')))
    return at + 1 + query.sources.length
  }
  if (form === 'reply' && isWord(option, 'withscores')) {
    query.withScores = true
    return at + 1
  }
  if (value === undefined) throw syntaxError()
  if (weighed && isWord(option, 'aggregate')) query.aggregate = aggregateOf(value)
  else if (form === 'card' && isWord(option, 'limit')) query.limit = integerFrom(0, value, "LIMIT can't be negative")
  else throw syntaxError()
  return at + 2
}

const parse = (context: CommandContext, argv: readonly Bytes[], kind: Kind): Query => {
  const [counted = '', ...rest] = argv
  const amount = roughInteger(counted)
  if (amount < 1) throw failure(`at least 1 input key is needed for '${kind.name}' command`)
  if (amount > rest.length) throw syntaxError()
  const sources = rest.slice(0, amount).map((key) => sourceAt(context, key))
  const query: Query = { sources, aggregate: sum, withScores: false, limit: 0 }
  for (let at = amount; at < rest.length;) at = readOption(rest, at, query, kind)
  return query
}

/** The smallest first, like the server: the order of additions affects the last digits. */
const bySize = (sources: readonly Source[]): Source[] => [...sources].sort((a, b) => a.scores.size - b.scores.size)

const union = ({ sources, aggregate }: Query): Map<Bytes, number> => {
  const all = new Map<Bytes, number>()
  for (const { scores, weight } of bySize(sources)) {
    for (const [member, score] of scores) {
      const weighed = orZero(score * weight)
      const known = all.get(member)
      all.set(member, known === undefined ? weighed : aggregate(known, weighed))
    }
  }
  return all
}

const intersection = ({ sources, aggregate }: Query): Map<Bytes, number> => {
  const common = new Map<Bytes, number>()
  const [smallest, ...others] = bySize(sources)
  for (const [member, score] of smallest?.scores ?? []) {
    let total: number | undefined = orZero(score * (smallest?.weight ?? 1))
    for (const { scores, weight } of others) {
      const other = scores.get(member)
      total = other === undefined || total === undefined ? undefined : aggregate(total, other * weight)
    }
    if (total !== undefined) common.set(member, total)
  }
  return common
}

const difference = ({ sources }: Query): Map<Bytes, number> => {
  const [first, ...others] = sources
  const left = new Map(first?.scores)
  for (const { scores } of others) for (const member of scores.keys()) left.delete(member)
  return left
}

const compute = { union, inter: intersection, diff: difference }

const command = (operation: Operation, form: Form): Command => {
  const name = `z${operation}${form === 'reply' ? '' : form}`
  const first = form === 'store' ? 2 : 1
  const handle = (argv: readonly Bytes[], context: CommandContext): Reply => {
    const query = parse(context, argv.slice(first), { name, operation, form })
    // They are joined, and sorted.
    chargeItems(query.sources.reduce((sum, { scores }) => sum + scores.size, 0) * 8)
    const result = compute[operation](query)
    if (form === 'card') return query.limit === 0 ? result.size : Math.min(result.size, query.limit)
    const entries: Scored[] = [...result].map(([member, score]) => ({ member, score })).sort(compareScored)
    if (form === 'reply') return flat(entries, query.withScores)
    return storeSorted(context, argv[1] as Bytes, SortedSet.of(entries))
  }
  return { arity: form === 'store' ? -4 : -3, write: form === 'store', handle }
}

export const zsetAlgebraCommands = {
  zunion: command('union', 'reply'),
  zinter: command('inter', 'reply'),
  zdiff: command('diff', 'reply'),
  zunionstore: command('union', 'store'),
  zinterstore: command('inter', 'store'),
  zdiffstore: command('diff', 'store'),
  zintercard: command('inter', 'card'),
}
