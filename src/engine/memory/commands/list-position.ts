import type { CommandContext } from '../command.js'
import { syntaxError } from '../error-texts.js'
import type { Bytes, Reply } from '../reply.js'
import { chargeItems } from '../command-cost.js'
import { failure, integerFrom, isWord, signedCount } from './operands.js'

interface Search {
  /** Counts from 1; a negative rank counts from the end. */
  rank: number
  /** Undefined: reply with one position instead of a list. 0: all positions. */
  count: number | undefined
  /** How many items to look at; 0: all. */
  limit: number
}

const ZERO_RANK =
  "RANK can't be zero: use 1 to start from the first match, 2 from the second ... " +
  'or use negative to start from the end of the list'

const parse = (argv: readonly Bytes[]): Search => {
  const search: Search = { rank: 1, count: undefined, limit: 0 }
  for (let i = 3; i < argv.length; i += 2) {
    const value = argv[i + 1]
    if (value === undefined) throw syntaxError()
    if (isWord(argv[i], 'rank')) search.rank = signedCount(value)
    else if (isWord(argv[i], 'count')) search.count = integerFrom(0, value, "COUNT can't be negative")
    else if (isWord(argv[i], 'maxlen')) search.limit = integerFrom(0, value, "MAXLEN can't be negative")
    else throw syntaxError()
    if (search.rank === 0) throw failure(ZERO_RANK)
  }
  return search
}

const find = (items: readonly Bytes[], wanted: Bytes, { rank, count = 1, limit }: Search): number[] => {
  const found: number[] = []
  const most = count === 0 ? Infinity : count
  const looked = limit === 0 ? items.length : Math.min(limit, items.length)
  chargeItems(looked)
  let skip = Math.abs(rank) - 1
  for (let i = 0; i < looked && found.length < most; i++) {
    const index = rank > 0 ? i : items.length - 1 - i
    if (items[index] === wanted && skip-- <= 0) found.push(index)
  }
  return found
}

/** LPOS */
export const listPosition = (argv: readonly Bytes[], { database }: CommandContext): Reply => {
  const search = parse(argv)
  const found = find(database.typed(argv[1] ?? '', 'list')?.items ?? [], argv[2] ?? '', search)
  return search.count === undefined ? (found[0] ?? null) : found
}
