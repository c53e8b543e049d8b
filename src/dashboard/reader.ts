import type { Client } from '../api/client.js'
import type { ListedLock } from '../api/listing.js'
import { systemClock, type Timer } from '../base/clock.js'
import { serverClock } from '../cli/server-clock.js'
import { type Cycle, forestOf, identityOf } from '../cli/tree/wait-forest.js'
import { plainText } from '../plain-text.js'
import { textOf } from '../thrown.js'
import { type Alias, freed, shown } from './shown.js'
import type { Around, CycleStep, Difference, ShownLock, Snapshot } from './state.js'

/** ms from the beginning of one reading to the next; a long one has at least so many times its own length behind it. */
const EVERY = 1000
const SHARE = 3
/** ms. So long after the last poll the page that polled counts as one that looks. */
const LINGER = 5000
/** ms. If a reading takes longer, the client is asked whether its server is away: an answer may take until the client gives up. */
const SLOW = 1000
/** How many locks are shown, and how many of them are free. */
const MOST_LOCKS = 10_000
const MOST_FREE = 500

/** Everything but what a page may do, which differs from page to page. */
export type Read = Omit<Around, 'may'>

/** A lock and its JSON, which is compared with the next one's. */
interface Entry {
  readonly lock: ShownLock
  readonly json: string
}

export interface ReaderOptions {
  readonly client: Client
  readonly alias: Alias
  readonly where: string
}

/** Gets what has changed after each reading. */
export type Listener = (difference: Omit<Difference, 'may'>) => void

/** Reads the locks once a second for all tabs together, and not at all while nobody looks. */
export class Reader {
  readonly #options: ReaderOptions
  readonly #listeners = new Set<Listener>()
  #entries = new Map<string, Entry>()
  /** The newest reading as the client gave it. */
  #listed: readonly ListedLock[] = []
  #around: Read
  #cycles = new Set<string>()
  #now: (() => number) | undefined
  #timer: Timer | undefined
  #reading: Promise<void> | undefined
  #polledAt = -Infinity
  /** ms that the newest reading took. */
  #took = 0
  /** How many readings there were. */
  readings = 0

  constructor(options: ReaderOptions) {
    this.#options = options
    this.#around = { at: 0, every: EVERY, where: options.where, cycles: [], trouble: null, hidden: 0 }
    options.client.on('reconnect', () => this.#soon())
  }

  /** The locks as they were listed, with their owners, for actions. */
  get listed(): readonly ListedLock[] {
    return this.#listed
  }

  snapshot(): Omit<Snapshot, 'may'> {
    return { ...this.#around, locks: Array.from(this.#entries.values(), ({ lock }) => lock) }
  }

  /** Resolves when there is something to show. The listener is called after each reading, until the returned function is called. */
  async watch(listener: Listener): Promise<() => void> {
    await this.fresh()
    this.#listeners.add(listener)
    this.#schedule(EVERY)
    return () => {
      this.#listeners.delete(listener)
    }
  }

  /** For a page that polls. */
  async poll(): Promise<void> {
    this.#polledAt = systemClock.monotonic()
    await this.fresh()
    this.#schedule(EVERY)
  }

  /** While somebody looks, what was read last is fresh enough. */
  async fresh(): Promise<void> {
    if (this.#timer === undefined) await this.#read()
  }

  get #watched(): boolean {
    return this.#listeners.size > 0 || systemClock.monotonic() - this.#polledAt < LINGER
  }

  #schedule(ms: number): void {
    if (this.#timer !== undefined || !this.#watched) return
    this.#timer = systemClock.setTimer(() => void this.#tick(), ms, { background: true })
  }

  #soon(): void {
    if (this.#timer === undefined || this.#reading !== undefined) return
    this.#timer.cancel()
    void this.#tick()
  }

  async #tick(): Promise<void> {
    if (this.#watched) await this.#read()
    this.#timer = undefined
    this.#schedule(Math.max(0, this.#around.every - this.#took))
  }

  #read(): Promise<void> {
    return (this.#reading ??= this.#readOnce().finally(() => (this.#reading = undefined)))
  }

  async #readOnce(): Promise<void> {
    const began = systemClock.monotonic()
    this.readings += 1
    const stop = this.#askWhileSlow()
    try {
      const listed = await this.#list()
      this.#took = systemClock.monotonic() - began
      this.#take(listed)
    } catch (error) {
      this.#took = systemClock.monotonic() - began
      this.#fail(textOf(error))
    } finally {
      stop()
    }
  }

  #askWhileSlow(): () => void {
    let over = false
    const look = async (): Promise<void> => {
      const { state } = await this.#options.client.health().catch(() => ({ state: 'away' }))
      if (over) return
      if (state !== 'up') this.#fail('the connection is lost, or the server does not answer')
      timer = systemClock.setTimer(() => void look(), SLOW, { background: true })
    }
    let timer = systemClock.setTimer(() => void look(), SLOW, { background: true })
    return () => {
      over = true
      timer.cancel()
    }
  }

  async #list(): Promise<readonly ListedLock[]> {
    const { client } = this.#options
    this.#now ??= await serverClock(client)
    const listed: ListedLock[] = []
    for await (const lock of client.list({ waits: true })) listed.push(lock)
    return listed
  }

  #fail(text: string): void {
    const now = this.#now?.() ?? systemClock.now()
    const since = this.#around.trouble?.since ?? now
    this.#around = { ...this.#around, every: EVERY, trouble: { text, since } }
    this.#tell([], [])
  }

  #take(listed: readonly ListedLock[]): void {
    const now = Math.round(this.#now?.() ?? systemClock.now())
    const before = this.#entries
    this.#listed = listed
    this.#entries = this.#entriesOf(listed, now)
    const every = Math.max(EVERY, Math.round(this.#took * (SHARE + 1)))
    const hidden = Math.max(0, listed.length - MOST_LOCKS)
    this.#around = { ...this.#around, at: now, every, hidden, cycles: this.#cyclesOf(listed), trouble: null }
    const changed = [...this.#entries].filter(([id, { json }]) => before.get(id)?.json !== json)
    const gone = [...before.keys()].filter((id) => !this.#entries.has(id))
    this.#tell(
      changed.map(([, { lock }]) => lock),
      gone,
    )
  }

  #entriesOf(listed: readonly ListedLock[], now: number): Map<string, Entry> {
    const before = this.#entries
    const seen = { now, alias: this.#options.alias, before: (id: string) => before.get(id)?.lock }
    const locks = listed.slice(0, MOST_LOCKS).map((lock) => shown(lock, seen))
    const there = new Set(locks.map(({ id }) => id))
    const free = [...before.values()].flatMap(({ lock }) => (there.has(lock.id) ? [] : (freed(lock, now) ?? [])))
    const all = [...locks, ...free.slice(-MOST_FREE)]
    return new Map(all.map((lock) => [lock.id, { lock, json: JSON.stringify(lock) }]))
  }

  /** The locks of one reading are not read at the same moment, so a deadlock counts only if the reading before shows the same. */
  #cyclesOf(listed: readonly ListedLock[]): Around['cycles'] {
    const { cycles } = forestOf(listed)
    const known = this.#cycles
    this.#cycles = new Set(cycles.map(identityOf))
    return cycles.filter((cycle) => known.has(identityOf(cycle))).map((cycle) => this.#stepsOf(cycle))
  }

  #stepsOf(cycle: Cycle): readonly CycleStep[] {
    const { alias } = this.#options
    return cycle.map(({ lock, holder, wait }) => ({
      lock: alias(`${lock.kind} ${lock.key}`),
      holds: plainText(lock.name),
      who: plainText(holder.label ?? holder.client.slice(0, 8)),
      wants: plainText(wait.name),
    }))
  }

  #tell(set: readonly ShownLock[], gone: readonly string[]): void {
    for (const listener of this.#listeners) listener({ ...this.#around, set, gone })
  }
}
