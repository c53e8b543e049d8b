import type { Client } from '../api/client.js'
import type { ListedLock } from '../api/listing.js'
import { type Cycle, cyclesOf, identityOf } from '../cli/tree/wait-forest.js'
import { plainText } from '../plain-text.js'
import { changeOf } from './lock-changes.js'
import { Leaders } from './leaders.js'
import { Rates } from './hand-over-rates.js'
import { type Alias, type Before, freed, type IdOf, lockIds, type Seen, shown } from './lock-for-page.js'
import type { Around, ChangedLock, CycleStep, Difference, ShownLock } from './page-messages.js'

/** How many locks are shown, and how many of them are free. */
const MOST_LOCKS = 10_000
const MOST_FREE = 500

/** One reading. `partly`: something could not be read. What is not there then is perhaps only not read, and stays as it was. */
export interface Reading {
  readonly listed: readonly ListedLock[]
  readonly now: number
  /** How long it took. */
  readonly took?: number | undefined
  readonly partly: boolean
  /** How often the server's clock was set. If it was, what was seen before says nothing about now. */
  readonly timesSet?: number | undefined
}

/** What a reading has changed, for pages that know the one before. */
export type Step = Pick<Difference, 'set' | 'changed' | 'gone'> & Pick<Around, 'cycles' | 'rates' | 'hidden'>

/** What pages show: the newest reading, with what the readings before it say. */
export class Picture {
  readonly #alias: Alias
  readonly #idOf = lockIds()
  readonly #leaders: Leaders
  readonly #rates = new Rates()
  #entries: ReadonlyMap<string, Before> = new Map()
  #listed: readonly ListedLock[] = []
  #cycles: ReadonlySet<string> = new Set()
  #timesSet = 0

  constructor(client: Client, alias: Alias) {
    this.#alias = alias
    this.#leaders = new Leaders(client)
  }

  get locks(): readonly ShownLock[] {
    return Array.from(this.#entries.values(), ({ lock }) => lock)
  }

  /** The locks that are shown, as they were listed last. */
  get #shown(): readonly ListedLock[] {
    return Array.from(this.#entries.values()).flatMap(({ listed }) => listed ?? [])
  }

  /** The lock with this id as it was listed, with its owners. */
  find(id: string): ListedLock | undefined {
    return this.#listed.find((lock) => this.#idOf(lock) === id)
  }

  take(reading: Reading): Step {
    const { listed, now, partly, timesSet = 0 } = reading
    const known = this.#entries
    const ends: number[] = []
    const before = timesSet === this.#timesSet ? known : new Map<string, Before>()
    this.#listed = listed
    this.#entries = this.#entriesOf(reading, before, (end) => ends.push(end))
    this.#timesSet = timesSet
    void this.#leaders.look(listed, partly ? this.#shown : [])
    return {
      ...this.#difference(known, before),
      cycles: this.#cyclesOf(listed),
      rates: this.#count(now, ends),
      hidden: Math.max(0, listed.length - MOST_LOCKS),
    }
  }

  /** `known`: what pages show. `before`: what still says something about it. */
  #difference(
    known: ReadonlyMap<string, Before>,
    before: ReadonlyMap<string, Before>,
  ): Pick<Step, 'set' | 'changed' | 'gone'> {
    const set: ShownLock[] = []
    const changed: ChangedLock[] = []
    for (const [id, { lock }] of this.#entries) {
      const was = before.get(id)?.lock
      if (was === undefined) set.push(lock)
      else if (was !== lock) changed.push(...changeOf(lock, was))
    }
    const gone = [...known.keys()].filter((id) => !this.#entries.has(id))
    return { set, changed, gone }
  }

  #count(now: number, ends: readonly number[]): Around['rates'] {
    let waiters = 0
    for (const { lock } of this.#entries.values()) waiters += lock.waiters
    this.#rates.add(now, waiters, ends)
    return this.#rates.list(now)
  }

  #entriesOf(
    { listed, now, took, partly }: Reading,
    before: ReadonlyMap<string, Before>,
    onEnd: (at: number) => void,
  ): Map<string, Before> {
    const seen = { now, took, onEnd, alias: this.#alias, idOf: this.#idOf, before: (id: string) => before.get(id) }
    const entries = new Map<string, Before>()
    for (const lock of listed.slice(0, MOST_LOCKS)) {
      const entry = this.#entry(lock, seen)
      entries.set(entry.lock.id, entry)
    }
    const beyond = new Set(listed.slice(MOST_LOCKS).map(this.#idOf))
    const absent = [...before.values()].filter(({ lock }) => !entries.has(lock.id) && !beyond.has(lock.id))
    const stays = ({ lock }: Before): boolean => partly && lock.free === undefined
    const free = absent.filter((entry) => !stays(entry)).flatMap((entry) => freed(entry, seen) ?? [])
    for (const entry of absent.filter(stays).slice(0, MOST_LOCKS - entries.size)) entries.set(entry.lock.id, entry)
    for (const lock of free.slice(-MOST_FREE)) entries.set(lock.id, { lock, seen: now })
    return entries
  }

  #entry(listed: ListedLock, seen: Seen): Before {
    const lock = shown(listed, { ...seen, election: this.#leaders.isElection(listed) })
    return { lock, listed, seen: seen.now, took: seen.took }
  }

  /** The locks of one reading are not read at the same moment, so a deadlock counts only if the reading before shows the same. */
  #cyclesOf(listed: readonly ListedLock[]): Around['cycles'] {
    const cycles = cyclesOf(listed)
    const known = this.#cycles
    this.#cycles = new Set(cycles.map(identityOf))
    return cycles.filter((cycle) => known.has(identityOf(cycle))).map((cycle) => stepsOf(cycle, this.#idOf))
  }
}

const stepsOf = (cycle: Cycle, idOf: IdOf): readonly CycleStep[] =>
  cycle.map(({ lock, holder, wait }) => ({
    lock: idOf(lock),
    holds: plainText(lock.name),
    who: plainText(holder.label ?? holder.client.slice(0, 8)),
    wants: plainText(wait.name),
  }))
