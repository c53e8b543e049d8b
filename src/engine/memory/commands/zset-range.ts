import type { Command, CommandContext } from '../command.js'
import { syntaxError } from '../error-texts.js'
import { roughInteger } from '../numbers.js'
import type { Bytes, Reply } from '../reply.js'
import { type Scored, SortedSet, type Span } from '../sorted-set.js'
import { chargeCopies, chargeItems } from '../command-cost.js'
import { failure, isWord, spanOf } from './operands.js'
import { flat, lexRange, scoreRange } from './zset-operands.js'

type Kind = 'rank' | 'score' | 'lex'

/** What the command's name already decides; the options decide the rest. */
interface Preset {
  readonly kind?: Kind
  readonly reverse?: boolean
  readonly store?: boolean
}

interface Query {
  readonly kind: Kind
  readonly reverse: boolean
  readonly withScores: boolean
  readonly offset: number
  readonly limit: number
}

interface Options {
  kind?: Kind | undefined
  reverse?: boolean | undefined
  withScores: boolean
  offset: number
  limit: number
}

/** Reads the option at `at`, and returns the index of the next one. */
const readOption = (options: readonly Bytes[], at: number, into: Options, preset: Preset): number => {
  const option = options[at]
  const [offset, limit] = options.slice(at + 1, at + 3)
  if (preset.store !== true && isWord(option, 'withscores')) into.withScores = true
  else if (isWord(option, 'limit') && offset !== undefined && limit !== undefined) {
    into.offset = roughInteger(offset)
    into.limit = roughInteger(limit)
    return at + 3
  } else if (into.reverse === undefined && isWord(option, 'rev')) into.reverse = true
  else if (into.kind === undefined && isWord(option, 'bylex')) into.kind = 'lex'
  else if (into.kind === undefined && isWord(option, 'byscore')) into.kind = 'score'
  else throw syntaxError()
  return at + 1
}

const parse = (options: readonly Bytes[], preset: Preset): Query => {
  const read: Options = { kind: preset.kind, reverse: preset.reverse, withScores: false, offset: 0, limit: -1 }
  for (let at = 0; at < options.length;) at = readOption(options, at, read, preset)
  const { kind = 'rank', reverse = false, withScores, offset, limit } = read
  if (limit !== -1 && kind === 'rank') {
    throw failure('syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX')
  }
  if (withScores && kind === 'lex') {
    throw failure('syntax error, WITHSCORES not supported in combination with BYLEX')
  }
  return { kind, reverse, withScores, offset: kind === 'rank' ? 0 : offset, limit }
}

/** Finds the span between the bounds, once there is a sorted set. Invalid bounds are an error even if there is none. */
const spanFinder = (query: Query, from: Bytes, to: Bytes): ((sorted: SortedSet) => Span) => {
  const [min, max] = query.reverse ? [to, from] : [from, to]
  if (query.kind === 'score') {
    const range = scoreRange(min, max)
    return (sorted) => sorted.scoreSpan(range)
  }
  if (query.kind === 'lex') {
    const range = lexRange(min, max)
    return (sorted) => sorted.lexSpan(range, query.reverse, query.offset)
  }
  const [first, last] = [roughInteger(from), roughInteger(to)]
  return ({ size }) => {
    const { start, end } = spanOf(first, last, size)
    return query.reverse ? { start: size - end, end: size - start } : { start, end }
  }
}

/** The part of the span that LIMIT leaves. */
const limited = ({ start, end }: Span, { kind, offset, limit, reverse }: Query): Span => {
  const skipped = kind === 'score' ? offset : 0
  const most = Math.max(0, limit < 0 ? end - start - skipped : Math.min(limit, end - start - skipped))
  return reverse
    ? { start: Math.max(start, end - skipped - most), end: Math.max(start, end - skipped) }
    : { start: Math.min(end, start + skipped), end: Math.min(end, start + skipped + most) }
}

const select = (context: CommandContext, key: Bytes, query: Query, bounds: readonly [Bytes, Bytes]): Scored[] => {
  const find = spanFinder(query, ...bounds)
  const sorted = context.database.typed(key, 'zset')?.sorted
  if (sorted === undefined || query.offset < 0) return []
  const span = limited(find(sorted), query)
  chargeItems((span.end - span.start) * 2)
  const entries = sorted.slice(span)
  if (query.reverse) entries.reverse()
  return entries
}

const range = (preset: Preset): Command => ({
  arity: -4,
  handle: (argv, context): Reply => {
    const [, key = '', from = '', to = '', ...options] = argv
    const query = parse(options, preset)
    return flat(select(context, key, query, [from, to]), query.withScores)
  },
})

/** Stores the set under the key, or removes the key if the set is empty. */
export const storeSorted = ({ database }: CommandContext, key: Bytes, sorted: SortedSet): number => {
  if (sorted.size === 0) database.delete(key)
  else database.set(key, { type: 'zset', sorted }, false)
  return sorted.size
}

const zrangestore: Command = {
  arity: -5,
  write: true,
  handle: (argv, context) => {
    const [, target = '', key = '', from = '', to = '', ...options] = argv
    const found = select(context, key, parse(options, { store: true }), [from, to])
    // Each is looked up in what is stored so far.
    chargeCopies(found.length * 4)
    const sorted = new SortedSet()
    // Added one by one, like the server: members before a long one may still be stored in the compact form.
    for (const { member, score } of found) sorted.add(member, score)
    return storeSorted(context, target, sorted)
  },
}

export const zsetRangeCommands = {
  zrange: range({}),
  zrevrange: range({ kind: 'rank', reverse: true }),
  zrangebyscore: range({ kind: 'score', reverse: false }),
  zrevrangebyscore: range({ kind: 'score', reverse: true }),
  zrangebylex: range({ kind: 'lex', reverse: false }),
  zrevrangebylex: range({ kind: 'lex', reverse: true }),
  zrangestore,
}
