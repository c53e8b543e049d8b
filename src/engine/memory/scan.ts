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

const MOST_CURSORS = 1000

/**
 * Where the scans of the key space are. A Map's iterator yields every key that is there all the time, whatever comes
 * and goes: just what SCAN promises. The oldest scans are forgotten; such a one begins again, which keeps the promise.
 */
export class ScanCursors {
  readonly #walks = new Map<number, Iterator<Bytes>>()
  #last = 0

  /** Continues a scan, or begins one. */
  take(cursor: number, begin: () => Iterator<Bytes>): Iterator<Bytes> {
    const walk = this.#walks.get(cursor)
    this.#walks.delete(cursor)
    return walk ?? begin()
  }

  /** Keeps a scan for its next call; the cursor to give out. */
  keep(walk: Iterator<Bytes>): number {
    this.#walks.set((this.#last += 1), walk)
    if (this.#walks.size > MOST_CURSORS) {
      for (const oldest of this.#walks.keys()) {
        this.#walks.delete(oldest)
        break
      }
    }
    return this.#last
  }
}
