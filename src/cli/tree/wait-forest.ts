import type { ListedHolder, ListedLock, ListedWait, ListedWaiter } from '../../api/listing.js'

/** A lock that calls wait for. */
export interface BlockedLock {
  readonly lock: ListedLock
  readonly waiters: readonly Waiting[]
  /** Where its waiters are shown, if not here. */
  readonly elsewhere?: 'above' | 'below' | undefined
}

/** A waiter, and the locks that it keeps others waiting for meanwhile. */
export interface Waiting {
  readonly waiter: ListedWaiter
  readonly locks: readonly BlockedLock[]
}

/** One call of a deadlock: it holds a lock, and waits for one that the next call holds. */
export interface Stuck {
  readonly lock: ListedLock
  readonly holder: ListedHolder
  readonly wait: ListedWait
}

export type Cycle = readonly Stuck[]

/** Which call waits for which. */
export interface Forest {
  readonly roots: readonly BlockedLock[]
  /** Calls that wait for one another. Each lock is in one of them at most. */
  readonly cycles: readonly Cycle[]
}

/** A hold, with what its call waits for. */
interface Hold {
  readonly lock: ListedLock
  readonly holder: ListedHolder
}

/** A terminal has only so many columns: what is deeper gets a tree of its own. */
const DEEPEST = 16

/** All locks of one reading, and who holds what meanwhile. */
class Locks {
  readonly blocked: readonly ListedLock[]
  readonly #byKey = new Map<string, ListedLock[]>()
  readonly #all: readonly ListedLock[]
  /** By the lock that is waited for, and the client that waits: the locks that it holds meanwhile. */
  readonly #meanwhile = new Map<ListedLock, Map<string, Set<ListedLock>>>()

  constructor(all: readonly ListedLock[]) {
    this.#all = all
    this.blocked = all.filter(({ waiting }) => waiting.length > 0)
    for (const lock of all) {
      const there = this.#byKey.get(lock.key)
      if (there === undefined) this.#byKey.set(lock.key, [lock])
      else there.push(lock)
    }
    for (const lock of this.blocked) for (const holder of lock.holders) this.#note(lock, holder)
  }

  #note(lock: ListedLock, { client, waitsFor = [] }: ListedHolder): void {
    for (const wanted of waitsFor.flatMap((wait) => this.wanted(wait) ?? [])) {
      const byClient = this.#meanwhile.get(wanted) ?? new Map<string, Set<ListedLock>>()
      this.#meanwhile.set(wanted, byClient.set(client, (byClient.get(client) ?? new Set()).add(lock)))
    }
  }

  /** The lock that a call waits for. Kinds that share a key look alike, unless there are several. */
  wanted({ key, kind }: ListedWait): ListedLock | undefined {
    const there = this.#byKey.get(key) ?? []
    return there.find((lock) => lock.kind === kind) ?? there[0]
  }

  /** The locks that the calls of this client hold while they wait for this one. */
  heldMeanwhile(client: string, wanted: ListedLock): readonly ListedLock[] {
    return [...(this.#meanwhile.get(wanted)?.get(client) ?? [])]
  }

  get holds(): readonly Hold[] {
    return this.#all.flatMap((lock) => lock.holders.map((holder) => ({ lock, holder })))
  }
}

/** The holders that must release before this wait can end. */
const blockersOf = (wait: ListedWait, { holders }: ListedLock): readonly ListedHolder[] => {
  const writers = holders.filter(({ mode }) => mode === 'write')
  if (wait.mode === 'read' && writers.length > 0) return writers
  const { keys } = wait
  return keys === undefined ? holders : holders.filter((one) => one.keys?.some((key) => keys.includes(key)) === true)
}

/** Finds the calls that cannot go on, because each waits for another one of them. A call that waits for nothing, or whose client says nothing, can go on. */
class StuckHolds {
  readonly #locks: Locks
  readonly #stuck: Map<ListedHolder, Hold>

  constructor(locks: Locks) {
    this.#locks = locks
    const waiting = locks.holds.filter(({ holder }) => holder.waitsFor !== undefined)
    this.#stuck = new Map(waiting.map((hold) => [hold.holder, hold]))
    const behind = this.#behind()
    const unsure = [...this.#stuck.keys()]
    // A call that waits for one that can go on is looked at again: the list grows.
    for (const holder of unsure) {
      if (!this.#stuck.has(holder) || this.#isStuck(holder)) continue
      this.#stuck.delete(holder)
      unsure.push(...(behind.get(holder) ?? []))
    }
  }

  /** By a holder: those who wait for it. */
  #behind(): ReadonlyMap<ListedHolder, readonly ListedHolder[]> {
    const behind = new Map<ListedHolder, ListedHolder[]>()
    for (const { holder } of this.#stuck.values())
      for (const blocker of (holder.waitsFor ?? []).flatMap((wait) => this.#blockersOf(wait)))
        if (behind.get(blocker)?.push(holder) === undefined) behind.set(blocker, [holder])
    return behind
  }

  #blockersOf(wait: ListedWait): readonly ListedHolder[] {
    const lock = this.#locks.wanted(wait)
    return lock === undefined ? [] : blockersOf(wait, lock)
  }

  /** Of several calls that one hold lasts for, any may be enough for the code to go on. */
  #isStuck({ waitsFor = [] }: ListedHolder): boolean {
    return waitsFor.every((wait) => this.#stuckBlocker(wait) !== undefined)
  }

  #stuckBlocker(wait: ListedWait): Hold | undefined {
    return this.#blockersOf(wait)
      .map((holder) => this.#stuck.get(holder))
      .find((hold) => hold !== undefined)
  }

  cycles(): readonly Cycle[] {
    const done = new Set<ListedHolder>()
    return [...this.#stuck.values()].flatMap((hold) => {
      const cycle = this.#from(hold, done)
      return cycle.length === 0 ? [] : [cycle]
    })
  }

  /** Follows the waits until a call comes again. Empty: they lead to calls that were followed before. */
  #from(start: Hold, done: Set<ListedHolder>): Cycle {
    const path: Stuck[] = []
    for (let hold: Hold | undefined = start; hold !== undefined && !done.has(hold.holder);) {
      const { holder }: Hold = hold
      const [wait] = holder.waitsFor ?? []
      if (wait === undefined) return []
      done.add(holder)
      path.push({ ...hold, wait })
      const next = this.#stuckBlocker(wait)
      const again = path.findIndex((step) => step.holder === next?.holder)
      if (again >= 0) return path.slice(again)
      hold = next
    }
    return []
  }
}

/** Draws each lock once, and below a waiter the locks for which it keeps others waiting. */
class Trees {
  readonly #locks: Locks
  readonly #shown = new Set<ListedLock>()

  constructor(locks: Locks) {
    this.#locks = locks
  }

  isShown(lock: ListedLock): boolean {
    return this.#shown.has(lock)
  }

  at(lock: ListedLock, depth = 0): BlockedLock {
    if (this.#shown.has(lock)) return { lock, waiters: [], elsewhere: 'above' }
    if (depth === DEEPEST) return { lock, waiters: [], elsewhere: 'below' }
    this.#shown.add(lock)
    // Of a client that has several places, the first one shows what its calls hold.
    const seen = new Set<string>()
    const waiters = lock.waiting.map((waiter): Waiting => {
      if (seen.has(waiter.client)) return { waiter, locks: [] }
      seen.add(waiter.client)
      return { waiter, locks: this.#locks.heldMeanwhile(waiter.client, lock).map((held) => this.at(held, depth + 1)) }
    })
    return { lock, waiters }
  }
}

/** Only the deadlocks: without drawing anything. */
export const cyclesOf = (all: readonly ListedLock[]): readonly Cycle[] =>
  all.some(({ holders }) => holders.some(({ waitsFor }) => waitsFor !== undefined))
    ? new StuckHolds(new Locks(all)).cycles()
    : []

/** `all`: the locks of one reading, with what their holders wait for. */
export const forestOf = (all: readonly ListedLock[]): Forest => {
  const locks = new Locks(all)
  const cycles = new StuckHolds(locks).cycles()
  const trees = new Trees(locks)
  const free = locks.blocked.filter(({ holders }) =>
    holders.every(({ waitsFor = [] }) => waitsFor.every((wait) => locks.wanted(wait)?.waiting.length === 0)),
  )
  // A lock whose holder waits stands below that holder. In a circle there is no first one.
  const first = [...free, ...cycles.flatMap(([step]) => step?.lock ?? []), ...locks.blocked]
  return { roots: first.flatMap((lock) => (trees.isShown(lock) ? [] : [trees.at(lock)])), cycles }
}

/** The same for two readings of the same deadlock. */
export const identityOf = (cycle: Cycle): string =>
  cycle
    .map(({ lock, holder, wait }) => JSON.stringify([lock.key, holder.owner, wait.key, wait.since]))
    .sort()
    .join()
