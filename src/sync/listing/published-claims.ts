import { isClientId, indexKey, registerKey } from '../../keys.js'
import { listingClients, listingEntries } from '../../lua/scripts.gen.js'
import type { Runtime } from '../../core/client/runtime.js'
import { entriesIn } from './index-entries.js'
import { type Listable, listable } from './kinds-in-one-row.js'
import { isLeftOut, isPartAway, type SkippedLocks } from './skipped-locks.js'

/** How many clients' indexes are read at a time. */
const AT_ONCE = 32
/** How many pages of the register with 500 clients each, and parts of one index, are read at most: another program may have written any number. */
const MOST_PAGES = 20
const MOST_PARTS = 300
/** How many locks are listed at most, and how many keys of one group. */
const MOST_LOCKS = 100_000
const MOST_KEYS = 1000

const PLAIN = listable('lock')?.layout
const FAIR = listable('fairLock')?.layout ?? -1

/** The running number of an owner or a place, and since when it holds or waits, ms since the epoch. */
export type Spell = readonly [number: number, since: number]

/** What one client says about a lock. Only a hint: the server is asked. */
export interface Said {
  readonly name: string | undefined
  readonly holds: Spell | undefined
  readonly waits: Spell | undefined
  /** The number of a hold that somebody else has ended. */
  readonly lost: number | undefined
  readonly keys: readonly string[]
  /** Not all keys fitted into the entry. */
  readonly more: boolean
}

/** A lock that some clients say is held or waited for. */
export interface Claim {
  readonly key: string
  shown: Listable
  names: Set<string>
  /** Of a group, and whether there may be more. */
  keys: Set<string>
  more: boolean
  /** What each client says. */
  readonly spells: Map<string, Spells>
}

export interface Spells {
  readonly holds: Spell | undefined
  readonly waits: Spell | undefined
  /** Where in its index the client says so. */
  readonly fields: readonly string[]
}

const isText = (value: unknown): value is string => typeof value === 'string'

const spellOf = (value: unknown): Spell | undefined => {
  if (!Array.isArray(value) || value.length !== 2) return undefined
  const [number, since] = value as unknown[]
  return Number.isSafeInteger(number) && Number.isSafeInteger(since) ? (value as unknown as Spell) : undefined
}

const NO_KEYS: readonly string[] = []

/** Most entries say only this: it is held, or waited for. */
const ONE_SPELL = /^\{"([hw])":\[(\d{1,15}),(\d{1,15})\]\}$/

const readSpell = (text: string): Said | undefined => {
  const found = ONE_SPELL.exec(text)
  if (found === null) return undefined
  const spell: Spell = [Number(found[2]), Number(found[3])]
  const [holds, waits] = found[1] === 'h' ? [spell, undefined] : [undefined, spell]
  return { name: undefined, holds, waits, lost: undefined, keys: NO_KEYS, more: false }
}

/** Another program may have written anything. Undefined: it is no entry. */
export const readEntry = (text: string): Said | undefined => {
  const spell = readSpell(text)
  if (spell !== undefined) return spell
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null) return undefined
    const { n, h, w, l, k, m } = value as Readonly<Record<string, unknown>>
    const keys = Array.isArray(k) ? (k as unknown[]).filter(isText) : NO_KEYS
    const lost = Number.isSafeInteger(l) ? (l as number) : undefined
    const name = isText(n) && n !== '' ? n : undefined
    return { name, holds: spellOf(h), waits: spellOf(w), lost, keys, more: m === 1 }
  } catch {
    return undefined
  }
}

/** Most locks have no name but their key, and no keys of a group. Nothing is added to this one. */
const NOTHING = new Set<string>()

const added = (all: Set<string>, text: string): Set<string> => (all === NOTHING ? new Set([text]) : all.add(text))

/** What the clients have published, by lock. */
export class PublishedClaims {
  readonly #runtime: Runtime
  readonly #skipped: SkippedLocks | undefined
  /** By layout and key. */
  readonly #all: Map<string, Claim>[] = []
  #size = 0

  constructor(runtime: Runtime, skipped?: SkippedLocks) {
    this.#runtime = runtime
    this.#skipped = skipped
  }

  /** By key. */
  get all(): readonly Claim[] {
    return this.#all
      .flatMap((claims) => [...claims.values()])
      .sort((one, other) => (one.key < other.key ? -1 : one.key > other.key ? 1 : 0))
  }

  async read(): Promise<void> {
    const clients = await this.#clients()
    for (let from = 0; from < clients.length; from += AT_ONCE) {
      await Promise.all(clients.slice(from, from + AT_ONCE).map((client) => this.#readIndex(client)))
    }
  }

  /** The server was asked about this key. `name`: the name that led to it. */
  found(kind: string, key: string, name?: string): void {
    const shown = listable(kind)
    // Without waiters, a fair lock looks like a plain one.
    if (shown?.layout === PLAIN && this.#of(FAIR).has(key)) return
    const claim = shown && this.#at(shown, key)
    if (shown === undefined || claim === undefined) return
    if (shown.rank < claim.shown.rank) claim.shown = shown
    if (name !== undefined) claim.names = added(claim.names, name)
  }

  async #clients(): Promise<readonly string[]> {
    const register = this.#runtime.keyOf(registerKey())
    const clients = new Set<string>()
    let from = '0'
    for (let pages = 0; pages < MOST_PAGES; pages++) {
      const [next, found] = await this.#runtime.link.run(listingClients, [register], [from])
      for (const client of found) if (isClientId(client)) clients.add(client)
      if (next === '' || next === from) break
      from = next
    }
    return [...clients]
  }

  /** Leaves out a client whose index cannot be read. */
  async #readIndex(client: string): Promise<void> {
    const index = this.#runtime.keyOf(indexKey(client))
    try {
      const silent = this.#skipped?.silentAt(index)
      if (silent !== undefined) throw silent
      await this.#readParts(client, index)
    } catch (error) {
      if (!isLeftOut(error) && !isPartAway(this.#runtime, error)) throw error
      this.#skipped?.add(index, error)
    }
  }

  async #readParts(client: string, index: string): Promise<void> {
    let from = '0'
    for (let parts = 0; parts < MOST_PARTS; parts++) {
      const part = await this.#runtime.link.run(listingEntries, [index], [from])
      const [[next], entries] = [part, entriesIn(part)]
      for (let i = 0; i + 1 < entries.length; i += 2) this.#add(client, entries[i] as string, entries[i + 1] as string)
      if (next === '0') return
      from = next
    }
  }

  #add(client: string, field: string, text: string): void {
    const blank = field.indexOf(' ')
    const shown = listable(field.slice(0, Math.max(0, blank)))
    const key = field.slice(blank + 1)
    const said = readEntry(text)
    if (shown === undefined || said === undefined || key === '') return
    const claim = this.#at(shown, key)
    if (claim === undefined) return
    if (said.name !== undefined) claim.names = added(claim.names, said.name)
    if (shown.rank < claim.shown.rank) claim.shown = shown
    for (const wanted of said.keys) if (claim.keys.size < MOST_KEYS) claim.keys = added(claim.keys, wanted)
    claim.more ||= said.more || claim.keys.size === MOST_KEYS
    const before = claim.spells.get(client)
    const { holds = before?.holds, waits = before?.waits } = said
    claim.spells.set(client, { holds, waits, fields: before === undefined ? [field] : [...before.fields, field] })
  }

  #at(shown: Listable, key: string): Claim | undefined {
    const claims = this.#of(shown.layout)
    const there = claims.get(key)
    if (there !== undefined || this.#size >= MOST_LOCKS) return there
    const claim: Claim = { key, shown, names: NOTHING, keys: NOTHING, more: false, spells: new Map() }
    claims.set(key, claim)
    this.#size++
    return claim
  }

  #of(layout: number): Map<string, Claim> {
    return (this.#all[layout] ??= new Map())
  }
}
