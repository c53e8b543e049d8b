import type { Bytes } from './reply.js'

export interface Scored {
  readonly member: Bytes
  readonly score: number
}

export interface ScoreRange {
  readonly min: number
  readonly max: number
  readonly minExclusive: boolean
  readonly maxExclusive: boolean
}

/** One end of a lexicographical range: before every member, after every member, or at a member. */
export type LexBound =
  | { readonly at: 'first' }
  | { readonly at: 'last' }
  | { readonly at: 'member'; readonly member: Bytes; readonly exclusive: boolean }

export interface LexRange {
  readonly min: LexBound
  readonly max: LexBound
}

/** Ranks from `start` up to, but not including, `end`. */
export interface Span {
  readonly start: number
  readonly end: number
}

/** The limits of the server's compact form: this many members, of this many bytes each. */
const COMPACT_SIZE = 128
const COMPACT_MEMBER = 64

const empty: Span = { start: 0, end: 0 }

/** -0 equals 0, as in the server: such members are sorted by their bytes. */
const before = (a: Scored, b: Scored): boolean => a.score < b.score || (a.score === b.score && a.member < b.member)

export const compareScored = (a: Scored, b: Scored): number => (before(a, b) ? -1 : 1)

const reaches = (member: Bytes, min: LexBound): boolean =>
  min.at === 'first' || (min.at === 'member' && (member > min.member || (member === min.member && !min.exclusive)))

const within = (member: Bytes, max: LexBound): boolean =>
  max.at === 'last' || (max.at === 'member' && (member < max.member || (member === max.member && !max.exclusive)))

const isEmptyRange = (min: LexBound, max: LexBound): boolean => {
  if (min.at === 'last' || max.at === 'first') return true
  if (min.at === 'first' || max.at === 'last') return false
  return min.member > max.member || (min.member === max.member && (min.exclusive || max.exclusive))
}

/**
 * Members ordered by score, then by their bytes. An insertion moves the tail of one array, which is cheap up to some 10,000
 * members.
 */
export class SortedSet {
  readonly #entries = new Map<Bytes, Scored>()
  #order: Scored[] = []

  #compact = true

  static of(given: Iterable<Scored>): SortedSet {
    const entries = [...given]
    const sorted = new SortedSet()
    for (const { member } of entries) sorted.#grow(entries.length, member)
    for (const { member, score } of entries) sorted.#entries.set(member, { member, score: sorted.#stored(score) })
    sorted.#order = [...sorted.#entries.values()].sort(compareScored)
    return sorted
  }

  copy(): SortedSet {
    const copy = new SortedSet()
    copy.#compact = this.#compact
    copy.#order = [...this.#order]
    for (const entry of this.#order) copy.#entries.set(entry.member, entry)
    return copy
  }

  /** Whether the server would still use the compact form. Once given up, it does not return. */
  get compact(): boolean {
    return this.#compact
  }

  get size(): number {
    return this.#order.length
  }

  [Symbol.iterator](): IterableIterator<Scored> {
    return this.#order.values()
  }

  has(member: Bytes): boolean {
    return this.#entries.has(member)
  }

  score(member: Bytes): number | undefined {
    return this.#entries.get(member)?.score
  }

  /** Adds the member or changes its score; true if it is new. */
  add(member: Bytes, score: number): boolean {
    const old = this.#entries.get(member)
    if (old?.score === score) return false
    if (old !== undefined) this.#order.splice(this.#position(old), 1)
    this.#grow(this.size + 1, member)
    const entry = { member, score: this.#stored(score) }
    this.#entries.set(member, entry)
    const position = this.#position(entry)
    if (position === this.#order.length) this.#order.push(entry)
    else this.#order.splice(position, 0, entry)
    return old === undefined
  }

  remove(member: Bytes): boolean {
    const entry = this.#entries.get(member)
    if (entry === undefined) return false
    this.#entries.delete(member)
    const position = this.#position(entry)
    if (position === 0) this.#order.shift()
    else this.#order.splice(position, 1)
    return true
  }

  /** Removes the ranks of the span, and returns them. */
  removeSpan(span: Span): Scored[] {
    const removed = this.#order.splice(span.start, span.end - span.start)
    for (const entry of removed) this.#entries.delete(entry.member)
    return removed
  }

  /** Removes the lowest members, or with `fromEnd` the highest ones first. */
  pop(count: number, fromEnd = false): Scored[] {
    const amount = Math.min(count, this.size)
    if (!fromEnd) return this.removeSpan({ start: 0, end: amount })
    return this.removeSpan({ start: this.size - amount, end: this.size }).reverse()
  }

  rank(member: Bytes): number | undefined {
    const entry = this.#entries.get(member)
    return entry && this.#position(entry)
  }

  at(rank: number): Scored | undefined {
    return this.#order[rank]
  }

  slice(span: Span): Scored[] {
    return this.#order.slice(span.start, span.end)
  }

  /** The ranks whose scores are in the range. */
  scoreSpan(range: ScoreRange): Span {
    const { min, max, minExclusive, maxExclusive } = range
    const start = this.#first(({ score }) => (minExclusive ? score > min : score >= min))
    const end = this.#first(({ score }) => (maxExclusive ? score >= max : score > max))
    return start < end ? { start, end } : empty
  }

  /**
   * The ranks whose members are in the range, without the first `skip` of them. The range makes sense only if all scores are equal.
   * If they differ, this walks like the server in its small sets, starting at the end that `fromEnd` names.
   */
  lexSpan({ min, max }: LexRange, fromEnd = false, skip = 0): Span {
    const [first, last] = [this.#order[0], this.#order[this.size - 1]]
    if (first === undefined || last === undefined || isEmptyRange(min, max)) return empty
    if (!reaches(last.member, min) || !within(first.member, max)) return empty
    if (fromEnd) {
      const found = this.#walk(this.size, -1, (member) => !within(member, max))
      if (!reaches(this.#order[found - 1]?.member ?? '', min)) return empty
      const end = Math.max(found - skip, 0)
      return { start: this.#walk(end, -1, (member) => reaches(member, min)), end }
    }
    const found = this.#walk(0, 1, (member) => !reaches(member, min))
    if (!within(this.#order[found]?.member ?? '', max)) return empty
    const start = Math.min(found + skip, this.size)
    return { start, end: this.#walk(start, 1, (member) => within(member, max)) }
  }

  /** Walks over members while they pass, in steps of 1 or -1 from the gap before rank `from`, and returns the gap. */
  #walk(from: number, step: 1 | -1, passes: (member: Bytes) => boolean): number {
    let gap = from
    for (;;) {
      const entry = this.#order[step > 0 ? gap : gap - 1]
      if (entry === undefined || !passes(entry.member)) return gap
      gap += step
    }
  }

  /** The entry's rank, or where it would be. */
  #position(entry: Scored): number {
    return this.#first((other) => !before(other, entry))
  }

  /** The first rank for which the test holds. It must hold for all ranks after it, too. */
  #first(test: (entry: Scored) => boolean): number {
    let low = 0
    let high = this.#order.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const entry = this.#order[middle]
      if (entry !== undefined && test(entry)) high = middle
      else low = middle + 1
    }
    return low
  }

  #grow(size: number, member: Bytes): void {
    if (size > COMPACT_SIZE || member.length > COMPACT_MEMBER) this.#compact = false
  }

  /** The compact form does not have -0. */
  #stored(score: number): number {
    return this.#compact ? score + 0 : score
  }
}
