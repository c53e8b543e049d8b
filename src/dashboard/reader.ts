import type { Client } from '../api/client.js'
import type { ListedLock } from '../api/listing.js'
import { systemClock, type Timer } from '../base/clock.js'
import { LeftOut } from '../cli/locks/left-out.js'
import { serverClock } from '../cli/server-clock.js'
import { serverVersion } from '../cli/server-version.js'
import { type Cycle, forestOf, identityOf } from '../cli/tree/wait-forest.js'
import { plainText } from '../plain-text.js'
import { textOf } from '../thrown.js'
import { Leaders } from './leaders.js'
import { withoutOverdue } from './overdue.js'
import { EVERY, Pace } from './pace.js'
import { Rates } from './rates.js'
import { type Alias, type Before, freed, idOf, shown } from './shown.js'
import type { Around, CycleStep, Difference, ShownLock, Snapshot } from './state.js'

/** ms. So long after the last poll the page that polled counts as one that looks. */
const LINGER = 5000
/** ms. If a reading takes longer, the client is asked whether its server is away: an answer may take until the client gives up. */
const SLOW = 1000
/** How many locks are shown, and how many of them are free. */
const MOST_LOCKS = 10_000
const MOST_FREE = 500
/** After so many readings the server's clock is read again. */
const CLOCK_EVERY = 60

/** What one reading found. `missing`: why some locks are not in it. */
interface Listed {
  readonly locks: readonly ListedLock[]
  readonly missing: string | null
}

export interface ReaderOptions {
  readonly client: Client
  readonly alias: Alias
  readonly where: string
}

/** Gets what has changed after each reading. */
export type Listener = (difference: Difference) => void

/** Reads the locks once a second for all tabs together, and not at all while nobody looks. */
export class Reader {
  readonly #options: ReaderOptions
  readonly #listeners = new Set<Listener>()
  #entries = new Map<string, Before>()
  /** The newest reading as the client gave it. */
  #listed: readonly ListedLock[] = []
  readonly #leaders: Leaders
  readonly #rates = new Rates()
  #around: Around
  #cycles = new Set<string>()
  #now: (() => number) | undefined
  #clockIsOld = true
  #timer: Timer | undefined
  #reading: Promise<void> | undefined
  #polledAt = -Infinity
  /** ms that the newest reading took. */
  #took = 0
  /** How many readings there were. */
  readings = 0

  constructor(options: ReaderOptions) {
    this.#options = options
    this.#leaders = new Leaders(options.client)
    const nothing = { cycles: [], trouble: null, missing: null, hidden: 0, rates: [] }
    this.#around = { at: 0, every: EVERY, where: options.where, ...nothing }
    options.client.on('reconnect', () => {
      // It may be another server.
      this.#clockIsOld = true
      this.#soon()
    })
  }

  /** The lock with this id as it was listed, with its owners, for actions. */
  find(id: string): ListedLock | undefined {
    return this.#listed.find((lock) => idOf(lock, this.#options.alias) === id)
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
    const pace = new Pace()
    this.readings += 1
    const stop = this.#askWhileSlow()
    try {
      this.#take(await this.#list(), pace)
    } catch (error) {
      this.#took = pace.took
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

  async #list(): Promise<Listed> {
    const { client } = this.#options
    if (this.#clockIsOld || this.readings % CLOCK_EVERY === 0) await this.#setClock()
    const locks: ListedLock[] = []
    const leftOut = new LeftOut()
    for await (const lock of client.list({ waits: true, onSkipped: leftOut.add })) locks.push(lock)
    return { locks, missing: leftOut.text ?? null }
  }

  async #setClock(): Promise<void> {
    this.#clockIsOld = false
    try {
      this.#now = await serverClock(this.#options.client)
      this.#around = { ...this.#around, server: await serverVersion(this.#options.client) }
    } catch (error) {
      this.#clockIsOld = true
      throw error
    }
  }

  #fail(text: string): void {
    const now = this.#now?.() ?? systemClock.now()
    const since = this.#around.trouble?.since ?? now
    this.#around = { ...this.#around, every: EVERY, trouble: { text, since } }
    this.#tell([], [])
  }

  #take({ locks: all, missing }: Listed, pace: Pace): void {
    const now = Math.round(this.#now?.() ?? systemClock.now())
    // What was over when the reading began is over.
    const listed = withoutOverdue(all, now - pace.took)
    const before = this.#entries
    this.#listed = listed
    this.#entries = this.#entriesOf(listed, now, missing !== null)
    const cycles = this.#cyclesOf(listed)
    const changed = [...this.#entries].filter(([id, { lock }]) => before.get(id)?.lock !== lock)
    const gone = [...before.keys()].filter((id) => !this.#entries.has(id))
    const hidden = Math.max(0, listed.length - MOST_LOCKS)
    const rates = this.#count(now)
    const { every } = pace
    this.#took = pace.took
    this.#around = { ...this.#around, at: now, every, hidden, cycles, rates, trouble: null, missing }
    void this.#leaders.look(listed)
    this.#tell(
      changed.map(([, { lock }]) => lock),
      gone,
    )
  }

  #count(now: number): Around['rates'] {
    let [handOvers, waiters] = [0, 0]
    for (const { lock } of this.#entries.values()) {
      handOvers += lock.past.filter(({ until }) => until === now).length
      waiters += lock.waiters
    }
    this.#rates.add(now, handOvers, waiters)
    return this.#rates.list(now)
  }

  /** `partly`: something could not be read. What is not there then is perhaps only not read, and stays as it was. */
  #entriesOf(listed: readonly ListedLock[], now: number, partly: boolean): Map<string, Before> {
    const { alias } = this.#options
    const before = this.#entries
    const there = new Set(listed.map((lock) => idOf(lock, alias)))
    const absent = [...before.values()].filter(({ lock }) => !there.has(lock.id))
    const stays = ({ lock }: Before): boolean => partly && lock.free === undefined
    const seen = { now, alias, before: (id: string) => before.get(id) }
    const entry = (lock: ShownLock, from?: ListedLock): Before => ({ lock, seen: now, listed: from })
    const read = listed
      .slice(0, MOST_LOCKS)
      .map((lock) => entry(shown(lock, { ...seen, election: this.#leaders.isElection(lock) }), lock))
    const kept = absent.filter(stays).slice(0, MOST_LOCKS - read.length)
    const free = absent.filter((entry) => !stays(entry)).flatMap((entry) => freed(entry, now) ?? [])
    const all = [...read, ...kept, ...free.slice(-MOST_FREE).map((lock) => entry(lock))]
    return new Map(all.map((entry) => [entry.lock.id, entry]))
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
      lock: idOf(lock, alias),
      holds: plainText(lock.name),
      who: plainText(holder.label ?? holder.client.slice(0, 8)),
      wants: plainText(wait.name),
    }))
  }

  #tell(set: readonly ShownLock[], gone: readonly string[]): void {
    const difference = { ...this.#around, set, gone }
    for (const listener of this.#listeners) listener(difference)
  }
}
