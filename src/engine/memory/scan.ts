import { syntaxError, untilNul } from './errors.js'
import { globMatches } from './glob.js'
import { integer } from './numbers.js'
import { type Bytes, ReplyError } from './reply.js'

export interface ScanOptions {
  readonly count: number
  readonly match: Bytes | undefined
  readonly type: Bytes | undefined
}

/** A cursor is read as C's strtoul reads: a sign is no fault, nothing at all is 0. */
const MOST_CURSOR = 2n ** 64n - 1n

/** The cursor of SCAN and its kin; only checked, as most of them answer all at once. */
export const scanCursor = (text: Bytes): number => {
  const seen = untilNul(text)
  if (seen === '') return 0
  if (!/^[+-]?\d+$/.test(seen) || BigInt(seen.replace(/^[+-]/, '')) > MOST_CURSOR)
    throw new ReplyError('ERR invalid cursor')
  return Number(seen)
}

/** What follows the cursor, from `first` on. TYPE is for SCAN alone. */
export const scanOptions = (argv: readonly Bytes[], first: number, withType = false): ScanOptions => {
  let count = 10
  let match: Bytes | undefined
  let type: Bytes | undefined
  for (let i = first; i < argv.length; i += 2) {
    const value = argv[i + 1]
    const option = (argv[i] as Bytes).toUpperCase()
    if (value === undefined) throw syntaxError()
    if (option === 'COUNT') {
      count = Number(integer(value))
      if (count < 1) throw syntaxError()
    } else if (option === 'MATCH') match = value
    else if (option === 'TYPE' && withType) type = value.toLowerCase()
    else throw syntaxError()
  }
  return { count, match, type }
}

export const scanMatches = (match: Bytes | undefined, text: Bytes): boolean =>
  match === undefined || match === '*' || globMatches(match, text)

/** A scan under way: the keys that were there when it began, from the back. */
type Rest = Bytes[]

const MOST_SCANS = 100
const MOST_KEYS = 1_000_000

/**
 * Where the scans of the key space are. What is there from a scan's beginning to its end is in its list; what came later
 * need not be told. (An iterator of the Map would do as well, but one that was left half-way keeps alive every table that
 * the Map has outgrown since.) Scans not asked for in a long time are forgotten, and begin again when asked for.
 */
export class ScanCursors {
  readonly #scans = new Map<number, Rest>()
  #keys = 0
  #last = 0

  /** Continues a scan, or begins one: up to `count` keys, and the cursor for the next ones. */
  next(cursor: number, count: number, begin: () => Bytes[]): [cursor: number, keys: Bytes[]] {
    const rest = this.#take(cursor) ?? begin().reverse()
    const keys = rest.splice(Math.max(0, rest.length - count)).reverse()
    return [rest.length === 0 ? 0 : this.#keep(rest), keys]
  }

  #take(cursor: number): Rest | undefined {
    const rest = this.#scans.get(cursor)
    if (rest === undefined) return undefined
    this.#scans.delete(cursor)
    this.#keys -= rest.length
    return rest
  }

  #keep(rest: Rest): number {
    for (const oldest of this.#scans.keys()) {
      if (this.#scans.size < MOST_SCANS && this.#keys + rest.length <= MOST_KEYS) break
      this.#take(oldest)
    }
    this.#scans.set((this.#last += 1), rest)
    this.#keys += rest.length
    return this.#last
  }
}
