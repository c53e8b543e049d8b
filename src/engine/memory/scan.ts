import { syntaxError, untilNul } from './error-texts.js'
import { globMatches } from './glob.js'
import { integer } from './numbers.js'
import { type Bytes, ReplyError } from './reply.js'

export interface ScanOptions {
  readonly count: number
  readonly match: Bytes | undefined
  readonly type: Bytes | undefined
}

/** Reads a cursor like C's strtoul: a sign is allowed, and an empty text is 0. */
const MOST_CURSOR = 2n ** 64n - 1n

/** The cursor of SCAN and similar commands. It is only checked, because most of them answer everything at once. */
export const scanCursor = (text: Bytes): number => {
  const seen = untilNul(text)
  if (seen === '') return 0
  // More digits than any cursor has: reading them as one number would take very long.
  if (!/^[+-]?0*\d{1,20}$/.test(seen) || BigInt(seen.replace(/^[+-]/, '')) > MOST_CURSOR)
    throw new ReplyError('ERR invalid cursor')
  return Number(seen)
}

/** The options after the cursor, from `first` on. Only SCAN has TYPE. */
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

/** FNV-1a: a key's place in the order of a scan, which no other key affects. Never 0, where a scan begins. */
const placeOf = (key: Bytes): number => {
  let hash = 0x811c9dc5
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193)
  return (hash >>> 0) + 1
}

interface Placed {
  readonly place: number
  readonly key: Bytes
}

/** The first key at or after `place`. */
const firstAt = (keys: readonly Placed[], place: number): number => {
  let from = 0
  let to = keys.length
  while (from < to) {
    const middle = (from + to) >> 1
    if ((keys[middle] as Placed).place < place) from = middle + 1
    else to = middle
  }
  return from
}

/**
 * Scans of the key space. A cursor contains the whole state: the place to continue from, in the order of the keys' hashes. So any
 * number of scans may be under way, a cursor may be used twice, and each scan ends. All share one sorted list, made when a scan
 * begins. A key that exists from then on is in it, and in every list made later.
 */
export class ScanCursors {
  #keys: readonly Placed[] | undefined

  /**
   * Continues a scan or begins one. Returns `count` keys and any others at the last one's place, and the cursor for the next ones.
   */
  next(cursor: number, count: number, list: () => Bytes[]): [cursor: number, keys: Bytes[]] {
    if (cursor === 0) this.#keys = undefined
    this.#keys ??= list()
      .map((key) => ({ place: placeOf(key), key }))
      .sort((a, b) => a.place - b.place)
    const keys = this.#keys
    const from = firstAt(keys, cursor)
    let to = Math.min(from + count, keys.length)
    while (to > from && to < keys.length && keys[to]?.place === keys[to - 1]?.place) to++
    const next = keys[to]?.place ?? 0
    // A scan that continues makes the list again, and an abandoned scan keeps no keys alive.
    if (next === 0) this.#keys = undefined
    return [next, keys.slice(from, to).map(({ key }) => key)]
  }
}
