import type { ListedKind } from '../../api/listing.js'
import { globMatches } from '../../base/glob.js'
import type { LockEvent } from '../../api/watching.js'
import { isTransient } from '../../core/server/transient-or-unsure-errors.js'
import type { EngineError } from '../../errors.js'
import { type Claim, PublishedClaims } from './published-claims.js'
import { isLeftOut, isPartAway } from './skipped-locks.js'
import type { Ended } from './why-holds-ended.js'
import { isShared, type Listable, listable, lockKindOf } from './kinds-in-one-row.js'
import { addState, nobody, type HoldersAndWaiters } from './holders-and-waiters.js'
import { inspected, type ListHome, nameOf } from './listed-lock.js'
import { lookAt } from './scan-keys.js'

/** How many locks are watched at most, and how many keys of one group. */
const MOST_LOCKS = 10_000
const MOST_KEYS = 1000
/** What a lock with a name may be, if its clients have not published more: any lock with keys of its own. */
const ANY = ['lock', 'fairLock', 'readWriteLock'] as const

/** What to watch. */
export interface Wanted {
  readonly name?: string | undefined
  readonly pattern?: string | undefined
  readonly kind?: ListedKind | undefined
}

/** An event, or one whose type is not known yet. */
export interface News {
  event: LockEvent
  ended: Ended | undefined
}

const claimOf = (shown: Listable, key: string, name: string): Claim => ({
  ...{ key, shown, names: new Set([name]), keys: new Set<string>(), more: false },
  spells: new Map(),
})

/** A lock that is watched: as it was when the server was last asked, and the news that wait to be told in their order. */
export class WatchedLock {
  readonly key: string
  name: string
  people: HoldersAndWaiters = nobody()
  /** When the server was last asked: by its clock, after that, and on the monotonic one, before. */
  looked: { readonly at: number; readonly mono: number } | undefined
  /** It could not be looked at since. */
  missed = false
  news: News[] = []
  /** What clients say about it, by layout; and what they said when they were read before that. */
  claims: ReadonlyMap<number, Claim> = new Map()
  claimsBefore: ReadonlyMap<number, Claim> = new Map()
  kind: ListedKind
  /** Layouts whose keys this user may read. */
  readonly #readable = new Set<number>()

  constructor(key: string, name: string, kind: ListedKind) {
    this.key = key
    this.name = name
    this.kind = kind
  }

  get idle(): boolean {
    return this.people.holders.size === 0 && this.people.waiting.size === 0 && this.news.length === 0
  }

  /** Asks the server. `asked`: its time before that. Undefined: it cannot be known how the lock stands. */
  async read(home: ListHome, asked: Promise<number>, refusals: EngineError[]): Promise<HoldersAndWaiters | undefined> {
    const people = nobody()
    const states = await Promise.all([...this.claims.values()].map((claim) => this.#state(home, claim)))
    const at = await asked
    let known = false
    for (const { layout, kind, state, refused } of states) {
      if (refused !== undefined) {
        refusals.push(refused)
        if (this.#readable.has(layout) || isTransient(refused)) return undefined
        continue
      }
      known = true
      this.#readable.add(layout)
      if (state === undefined) continue
      // Without waiters, a fair lock looks like a plain one.
      if (people.holders.size === 0 || (state.waiting ?? []).length > 0) this.#found(kind, layout)
      addState(people, state, at)
    }
    return known ? people : undefined
  }

  #found(kind: ListedKind, layout: number): void {
    if (layout !== listable('lock')?.layout || listable(this.kind)?.layout !== listable('fairLock')?.layout)
      this.kind = kind
  }

  async #state(home: ListHome, claim: Claim) {
    const { layout, kind } = claim.shown
    const refusals: EngineError[] = []
    const state = await inspected(home, { ...claim, keys: this.#keysOf(claim) }, refusals)
    return { layout, kind: lockKindOf(kind) ?? this.kind, state, refused: refusals[0] }
  }

  /** Of a group: also those that were held or waited for at the last look. */
  #keysOf({ shown, keys }: Claim): Set<string> {
    if (shown.kind !== 'keyedLock') return keys
    const all = new Set(keys)
    for (const some of [this.people.holders, this.people.waiting])
      for (const { keys: held = [] } of some.values()) for (const key of held) if (all.size < MOST_KEYS) all.add(key)
    return all
  }
}

/** The locks that are watched. */
export class WatchedLocks {
  readonly #home: ListHome
  readonly #wanted: Wanted
  readonly #all = new Map<string, WatchedLock>()

  constructor(home: ListHome, wanted: Wanted) {
    this.#home = home
    this.#wanted = wanted
  }

  get all(): readonly WatchedLock[] {
    return [...this.#all.values()]
  }

  /** Reads what clients have published, and so finds locks that are new. */
  async refresh(): Promise<void> {
    const { runtime } = this.#home
    const { name } = this.#wanted
    const claims = new PublishedClaims(runtime)
    await claims.read().catch((error: unknown) => {
      // A lock with a name is looked at even if this user may not read what clients publish; and each that is known, even if the register is away.
      const named = name !== undefined && isLeftOut(error)
      if (!named && !(this.#knowsSome && isPartAway(runtime, error))) throw error
    })
    if (name !== undefined) await lookAt(runtime, claims, name)
    const byKey = new Map<string, Map<number, Claim>>()
    for (const claim of [...claims.all.filter((one) => this.#isWanted(one)), ...this.#ofName]) {
      const there = byKey.get(claim.key) ?? new Map<number, Claim>()
      byKey.set(claim.key, there)
      if (!there.has(claim.shown.layout)) there.set(claim.shown.layout, claim)
    }
    for (const [key, target] of this.#all) if (!byKey.has(key) && target.idle) this.#all.delete(key)
    for (const [key, found] of byKey) this.#add(key, found)
  }

  get #knowsSome(): boolean {
    return this.#wanted.name !== undefined || this.#all.size > 0
  }

  #add(key: string, claims: Map<number, Claim>): void {
    const [first] = claims.values() as Iterable<Claim>
    let target = this.#all.get(key)
    if (first === undefined || (target === undefined && this.#all.size >= MOST_LOCKS)) return
    target ??= new WatchedLock(key, '', lockKindOf(first.shown.kind) ?? 'lock')
    this.#all.set(key, target)
    target.claimsBefore = target.claims
    // The client that said what it is may be out of reach.
    target.claims = target.idle ? claims : new Map([...target.claims, ...claims])
    const names = [...claims.values()].map((claim) => nameOf(claim, this.#home))
    target.name = this.#wanted.name ?? names.find((name) => name !== key) ?? key
  }

  #isWanted(claim: Claim): boolean {
    const { name, pattern, kind } = this.#wanted
    // Nobody holds these, so there is nothing to watch.
    if (isShared(claim.shown.kind)) return false
    if (kind !== undefined && claim.shown.kind !== kind) return false
    if (name !== undefined) return claim.key === this.#home.runtime.keyOf(name)
    return globMatches(pattern ?? '*', nameOf(claim, this.#home))
  }

  /** A lock with a name is always looked at, of whatever kind. */
  get #ofName(): readonly Claim[] {
    const { name, kind } = this.#wanted
    if (name === undefined) return []
    const key = this.#home.runtime.keyOf(name)
    const kinds = kind === undefined ? ANY : kind === 'keyedLock' ? [] : [kind]
    return kinds.flatMap((one) => {
      const shown = listable(one)
      return shown === undefined ? [] : [claimOf(shown, key, name)]
    })
  }
}
