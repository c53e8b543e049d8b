import type { Command, CommandContext, CommandTable } from '../command.js'
import { syntaxError } from '../error-texts.js'
import { roughInteger } from '../numbers.js'
import type { Bytes, Reply } from '../reply.js'
import { scanCursor, scanMatches, scanOptions } from '../scan.js'
import type { Scored, SortedSet, Span } from '../sorted-set.js'
import { chooseDistinct, chooseWithRepeats } from './random-choice.js'
import { count, countedKeys, failure, isWord, signedCount, spanOf, trailingCount } from './operands.js'
import { chargeItems } from '../command-cost.js'
import { zsetAddCommands } from './zset-add.js'
import { zsetAlgebraCommands } from './zset-algebra.js'
import { flat, lexRange, scannedScoreText, scoreRange, scoreText } from './zset-operands.js'
import { zsetRangeCommands } from './zset-range.js'

type Handler = (argv: readonly Bytes[], context: CommandContext) => Reply
/** Reads two bounds, and finds the members between them. */
type Between = (from: Bytes, to: Bytes) => (sorted: SortedSet) => Span

const reads = (arity: number, handle: Handler): Command => ({ arity, handle })
const writes = (arity: number, handle: Handler): Command => ({ arity, write: true, handle })
const at = (argv: readonly Bytes[], index: number): Bytes => argv[index] as Bytes

const sortedAt = ({ database }: CommandContext, key: Bytes): SortedSet | undefined =>
  database.typed(key, 'zset')?.sorted

/** Runs a change that removes members, and removes the key if no member is left. */
const shrink = <T>({ database }: CommandContext, key: Bytes, sorted: SortedSet, change: () => T): T => {
  const result = change()
  if (sorted.size === 0) database.delete(key)
  return result
}

const byRank: Between = (from, to) => {
  const [first, last] = [roughInteger(from), roughInteger(to)]
  return ({ size }) => spanOf(first, last, size)
}

const byScore: Between = (from, to) => {
  const range = scoreRange(from, to)
  return (sorted) => sorted.scoreSpan(range)
}

const byLex: Between = (from, to) => {
  const range = lexRange(from, to)
  return (sorted) => sorted.lexSpan(range)
}

const removeRange = (between: Between): Command =>
  writes(4, (argv, context) => {
    const find = between(at(argv, 2), at(argv, 3))
    const sorted = sortedAt(context, at(argv, 1))
    if (sorted === undefined) return 0
    return shrink(context, at(argv, 1), sorted, () => sorted.removeSpan(find(sorted))).length
  })

const countRange = (between: Between): Command =>
  reads(4, (argv, context) => {
    const find = between(at(argv, 2), at(argv, 3))
    const sorted = sortedAt(context, at(argv, 1))
    if (sorted === undefined) return 0
    const { start, end } = find(sorted)
    return end - start
  })

const zrem: Handler = (argv, context) => {
  const sorted = sortedAt(context, at(argv, 1))
  if (sorted === undefined) return 0
  const members = argv.slice(2)
  return shrink(context, at(argv, 1), sorted, () => members.filter((member) => sorted.remove(member)).length)
}

const scoreOrNil = (sorted: SortedSet | undefined, member: Bytes): Reply => {
  const score = sorted?.score(member)
  return score === undefined ? null : scoreText(score)
}

const pop = (fromEnd: boolean): Command =>
  writes(-2, (argv, context) => {
    if (argv.length > 3) throw syntaxError()
    const amount = argv.length === 3 ? count(at(argv, 2)) : 1
    const sorted = sortedAt(context, at(argv, 1))
    if (sorted === undefined) return []
    return flat(
      shrink(context, at(argv, 1), sorted, () => sorted.pop(amount, fromEnd)),
      true,
    )
  })

const zmpop: Handler = (argv, context) => {
  const { keys, next } = countedKeys(argv, 1)
  const fromEnd = isWord(argv[next], 'max')
  if (!fromEnd && !isWord(argv[next], 'min')) throw syntaxError()
  const amount = trailingCount(argv, next + 1)
  for (const key of keys) {
    const sorted = sortedAt(context, key)
    if (sorted === undefined) continue
    const popped = shrink(context, key, sorted, () => sorted.pop(amount, fromEnd))
    return [key, popped.map(({ member, score }) => [member, scoreText(score)])]
  }
  return null
}

/** The reply has twice as many items, and its length must be a valid count, too. */
const MOST_PAIRS = 2 ** 62

const withScoresOf = (argv: readonly Bytes[], amount: number): boolean => {
  if (argv.length === 3) return false
  if (argv.length > 4 || !isWord(argv[3], 'withscores')) throw syntaxError()
  if (Math.abs(amount) > MOST_PAIRS) throw failure('value is out of range')
  return true
}

const zrandmember: Handler = (argv, context) => {
  const random = (): number => context.server.random()
  const amount = argv.length > 2 ? signedCount(at(argv, 2)) : undefined
  const withScores = amount !== undefined && withScoresOf(argv, amount)
  const sorted = sortedAt(context, at(argv, 1))
  chargeItems(sorted?.size ?? 0)
  const entries: Scored[] = sorted === undefined ? [] : [...sorted]
  if (amount === undefined) return chooseWithRepeats(entries, 1, random)[0]?.member ?? null
  const chosen = amount < 0 ? chooseWithRepeats(entries, -amount, random) : chooseDistinct(entries, amount, random)
  return flat(chosen, withScores)
}

const zscan: Handler = (argv, context) => {
  scanCursor(at(argv, 2))
  const sorted = sortedAt(context, at(argv, 1))
  if (sorted === undefined) return ['0', []]
  const { match } = scanOptions(argv, 3)
  chargeItems(sorted.size * 2)
  const found = [...sorted].filter(({ member }) => scanMatches(match, member))
  return ['0', found.flatMap(({ member, score }) => [member, scannedScoreText(score, sorted.compact)])]
}

const rank = (sorted: SortedSet | undefined, member: Bytes, fromEnd: boolean): Reply => {
  const found = sorted?.rank(member)
  if (sorted === undefined || found === undefined) return null
  return fromEnd ? sorted.size - 1 - found : found
}

export const zsetCommands: CommandTable = {
  zrem: writes(-3, zrem),
  zcard: reads(2, (argv, context) => sortedAt(context, at(argv, 1))?.size ?? 0),
  zscore: reads(3, (argv, context) => scoreOrNil(sortedAt(context, at(argv, 1)), at(argv, 2))),
  zmscore: reads(-3, (argv, context) => {
    const sorted = sortedAt(context, at(argv, 1))
    return argv.slice(2).map((member) => scoreOrNil(sorted, member))
  }),
  zrank: reads(3, (argv, context) => rank(sortedAt(context, at(argv, 1)), at(argv, 2), false)),
  zrevrank: reads(3, (argv, context) => rank(sortedAt(context, at(argv, 1)), at(argv, 2), true)),
  zcount: countRange(byScore),
  zlexcount: countRange(byLex),
  zremrangebyrank: removeRange(byRank),
  zremrangebyscore: removeRange(byScore),
  zremrangebylex: removeRange(byLex),
  zpopmin: pop(false),
  zpopmax: pop(true),
  zmpop: writes(-4, zmpop),
  zrandmember: reads(-2, zrandmember),
  zscan: reads(-3, zscan),
  ...zsetAddCommands,
  ...zsetRangeCommands,
  ...zsetAlgebraCommands,
}
