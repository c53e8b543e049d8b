import type { Command, CommandContext } from '../command.js'
import { syntaxError } from '../error-texts.js'
import type { Bytes, Reply } from '../reply.js'
import { SortedSet } from '../sorted-set.js'
import { double, failure } from './operands.js'
import { scoreText } from './zset-operands.js'

const WORDS = ['nx', 'xx', 'gt', 'lt', 'ch', 'incr'] as const
type Flags = ReadonlySet<Bytes>

interface Addition {
  readonly flags: Flags
  readonly pairs: readonly { readonly score: number; readonly member: Bytes }[]
}

const check = (flags: Flags, pairs: number): void => {
  const has = (...words: (typeof WORDS)[number][]): boolean => words.every((word) => flags.has(word))
  if (has('nx', 'xx')) throw failure('XX and NX options at the same time are not compatible')
  if (has('gt', 'nx') || has('lt', 'nx') || has('gt', 'lt')) {
    throw failure('GT, LT, and/or NX options at the same time are not compatible')
  }
  if (has('incr') && pairs > 1) throw failure('INCR option supports a single increment-element pair')
}

const parse = (argv: readonly Bytes[], ...preset: (typeof WORDS)[number][]): Addition => {
  const flags = new Set<Bytes>(preset)
  let at = 2
  for (; at < argv.length; at++) {
    const word = (argv[at] as Bytes).toLowerCase()
    if (!(WORDS as readonly string[]).includes(word)) break
    flags.add(word)
  }
  const rest = argv.slice(at)
  if (rest.length === 0 || rest.length % 2 === 1) throw syntaxError()
  check(flags, rest.length / 2)
  const pairs = []
  for (let i = 0; i < rest.length; i += 2) {
    pairs.push({ score: double(rest[i] as Bytes), member: rest[i + 1] as Bytes })
  }
  return { flags, pairs }
}

/** The member's new score; undefined if the flags leave it unchanged. */
const target = (sorted: SortedSet, member: Bytes, given: number, flags: Flags): number | undefined => {
  const current = sorted.score(member)
  if (current === undefined) return flags.has('xx') ? undefined : given
  if (flags.has('nx')) return undefined
  const score = flags.has('incr') ? current + given : given
  if (Number.isNaN(score)) throw failure('resulting score is not a number (NaN)')
  if ((flags.has('lt') && score >= current) || (flags.has('gt') && score <= current)) return undefined
  return score
}

const sortedAt = ({ database }: CommandContext, key: Bytes, flags: Flags): SortedSet | undefined => {
  const value = database.typed(key, 'zset')
  if (value !== undefined || flags.has('xx')) return value?.sorted
  const sorted = new SortedSet()
  database.set(key, { type: 'zset', sorted })
  return sorted
}

const apply = (context: CommandContext, key: Bytes, { flags, pairs }: Addition): Reply => {
  const sorted = sortedAt(context, key, flags)
  const changes = { added: 0, updated: 0 }
  let last: number | undefined
  for (const { member, score: given } of sorted === undefined ? [] : pairs) {
    last = sorted && target(sorted, member, given, flags)
    if (sorted === undefined || last === undefined) continue
    const before = sorted.score(member)
    if (sorted.add(member, last)) changes.added++
    else if (before !== last) changes.updated++
  }
  if (flags.has('incr')) return last === undefined ? null : scoreText(last)
  return flags.has('ch') ? changes.added + changes.updated : changes.added
}

export const zsetAddCommands = {
  zadd: {
    arity: -4,
    write: true,
    handle: (argv, context) => apply(context, argv[1] as Bytes, parse(argv)),
  },
  zincrby: {
    arity: 4,
    write: true,
    // If the increment looks like an option, the server takes it for one.
    handle: (argv, context) => apply(context, argv[1] as Bytes, parse(argv, 'incr')),
  },
} satisfies Record<string, Command>
