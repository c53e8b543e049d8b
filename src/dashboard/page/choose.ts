import type { ShownLock } from '../page-messages.js'
import type { Levels } from './problems.js'

/** What the person has chosen to see. */
export interface Choice {
  /** In the name, the kind or a label. After `label:`, only in a label. */
  readonly search: string
  readonly kind: string
  readonly blocked: boolean
}

export const ALL: Choice = { search: '', kind: '', blocked: false }

const holds = (text: string | undefined, part: string): boolean => text?.toLowerCase().includes(part) === true

const matches = ({ name, kind, holders, waiting }: ShownLock, search: string): boolean => {
  const label = search.startsWith('label:')
  const part = (label ? search.slice('label:'.length) : search).trim()
  const inLabel = [...holders, ...waiting].some((one) => holds(one.label ?? one.short, part))
  return inLabel || (!label && (holds(name, part) || holds(kind, part)))
}

const byName = new Intl.Collator('en', { numeric: true }).compare
const RANKS = { deadlock: 0, bad: 1, odd: 2 } as const

const rankOf = ({ id, waiters, free }: ShownLock, levels: Levels): number => {
  const level = levels.get(id)
  if (level !== undefined) return RANKS[level]
  return waiters > 0 ? 3 : free === undefined ? 4 : 5
}

/** ms. A lock that calls waited for keeps its place for a while, so that the lanes do not jump at each hand-over. */
const STICKY = 15_000

/** The order of the lanes: what is wrong, what calls wait for, the others; each by name. */
export class Order {
  readonly #blockedAt = new Map<string, number>()
  #ids: readonly string[] = []

  chosen(locks: ReadonlyMap<string, ShownLock>, choice: Choice, levels: Levels, now: number): readonly ShownLock[] {
    for (const [id, at] of this.#blockedAt) if (Math.abs(now - at) >= STICKY) this.#blockedAt.delete(id)
    const search = choice.search.trim().toLowerCase()
    const ranked = this.#asBefore(locks)
      .filter((lock) => choice.kind === '' || lock.kind === choice.kind)
      .filter((lock) => !choice.blocked || lock.waiters > 0)
      .filter((lock) => search === '' || matches(lock, search))
      .map((lock) => ({ lock, rank: this.#rank(lock, levels, now) }))
    const chosen = ranked.sort((a, b) => a.rank - b.rank || byName(a.lock.name, b.lock.name)).map(({ lock }) => lock)
    this.#ids = chosen.map(({ id }) => id)
    return chosen
  }

  /** What is almost sorted is sorted fast: comparing names is most of the work. */
  #asBefore(locks: ReadonlyMap<string, ShownLock>): readonly ShownLock[] {
    const before = this.#ids.flatMap((id) => locks.get(id) ?? [])
    if (before.length === locks.size) return before
    const there = new Set(this.#ids)
    return [...before, ...[...locks.values()].filter(({ id }) => !there.has(id))]
  }

  #rank(lock: ShownLock, levels: Levels, now: number): number {
    const rank = rankOf(lock, levels)
    if (rank === 3) this.#blockedAt.set(lock.id, now)
    return rank >= 3 && this.#blockedAt.has(lock.id) ? 3 : rank
  }
}
