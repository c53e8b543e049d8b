import type { Client } from '../api/client.js'
import type { ListedLock, SkippedLock } from '../api/listing.js'
import { systemClock, type Timer } from '../base/clock.js'
import { LeftOut } from '../cli/locks/left-out.js'
import { serverVersion } from '../cli/server-version.js'
import { partOf, textOf } from '../thrown.js'
import { ServerTime } from './server-time.js'
import { withoutOverdue } from './leave-out-overdue.js'
import { EVERY, Pace } from './reading-pace.js'
import { Picture } from './compare-readings.js'
import { type DashboardSchedule, Schedules } from './schedules.js'
import type { Alias } from './lock-for-page.js'
import type { Around, Difference, Snapshot } from './page-messages.js'

/** ms. So long after the last poll the page that polled counts as one that looks. */
const LINGER = 5000
/** ms. If a reading takes longer, the client is asked whether its server is away: an answer may take until the client gives up. */
const SLOW = 1000
/** After so many readings the server's version is read again. */
const VERSION_EVERY = 60

/** What one reading found. `missing`: why some locks are not in it. `partly`: they may be in the next one. */
interface Listed {
  readonly locks: readonly ListedLock[]
  readonly missing: string | null
  readonly partly: boolean
}

export interface ReaderOptions {
  readonly client: Client
  readonly alias: Alias
  readonly where: string
  readonly schedules?: readonly DashboardSchedule[] | undefined
}

/** Gets what has changed after each reading. */
export type Listener = (difference: Difference) => void

/** Reads the locks once a second for all tabs together, and not at all while nobody looks. */
export class Reader {
  readonly #options: ReaderOptions
  readonly #listeners = new Set<Listener>()
  readonly #clock: ServerTime
  readonly #picture: Picture
  readonly #schedules: Schedules
  /** Differs from those of all other readers: a page may know one that has ended. */
  readonly #series = Buffer.from(systemClock.randomBytes(9)).toString('base64url')
  #around: Around
  #serverIsNew = true
  #timer: Timer | undefined
  #reading: Promise<void> | undefined
  #polledAt = -Infinity
  /** ms that the newest reading took. */
  #took = 0
  /** How many readings there were. */
  readings = 0

  constructor(options: ReaderOptions) {
    this.#options = options
    this.#clock = new ServerTime(options.client)
    this.#picture = new Picture(options.client, options.alias)
    this.#schedules = new Schedules(options.client, options.schedules ?? [])
    const nothing = { cycles: [], trouble: null, missing: null, hidden: 0, rates: [], schedules: [] }
    this.#around = { at: 0, now: 0, reading: '', every: EVERY, where: options.where, ...nothing }
    options.client.on('reconnect', () => {
      // It may be another server.
      this.#serverIsNew = true
      this.#soon()
    })
  }

  /** The lock with this id as it was listed, with its owners, for actions. */
  find(id: string): ListedLock | undefined {
    return this.#picture.find(id)
  }

  /** What stands beside the locks, now. */
  get around(): Around {
    return { ...this.#around, now: this.#clock.now() }
  }

  snapshot(): Omit<Snapshot, 'may'> {
    return { ...this.around, locks: this.#picture.locks }
  }

  /** The listener is called after each reading, until the returned function is called. */
  watch(listener: Listener): () => void {
    this.#listeners.add(listener)
    this.#schedule(this.#pause)
    return () => {
      this.#listeners.delete(listener)
    }
  }

  /** For a page that polls. */
  async poll(): Promise<void> {
    this.#polledAt = systemClock.monotonic()
    await this.fresh()
    this.#schedule(this.#pause)
  }

  /** While somebody looks, what was read last is fresh enough. */
  async fresh(): Promise<void> {
    if (this.#timer === undefined) await this.#read()
  }

  get #watched(): boolean {
    return this.#listeners.size > 0 || systemClock.monotonic() - this.#polledAt < LINGER
  }

  /** Until the next reading, after one. */
  get #pause(): number {
    return Math.max(0, this.#around.every - this.#took)
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
    this.#schedule(this.#pause)
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
    // The server's clock may be set at any time, and then all deadlines mean other moments.
    await this.#clock.ask()
    void this.#schedules.look(this.#clock.now())
    if (this.#serverIsNew || this.readings % VERSION_EVERY === 0) await this.#askVersion()
    const locks: ListedLock[] = []
    const leftOut = new LeftOut()
    let partly = false
    const onSkipped = (one: SkippedLock): void => {
      leftOut.add(one)
      // What may never be read was never shown, so nothing of it stays.
      partly ||= partOf(one.error, 'code') !== 'NOPERM'
    }
    for await (const lock of client.list({ waits: true, onSkipped })) locks.push(lock)
    return { locks, missing: leftOut.text ?? null, partly }
  }

  async #askVersion(): Promise<void> {
    this.#serverIsNew = false
    this.#around = { ...this.#around, server: await serverVersion(this.#options.client) }
  }

  #fail(text: string): void {
    const since = this.#around.trouble?.since ?? this.#clock.now()
    this.#around = { ...this.#around, every: EVERY, trouble: { text, since } }
    this.#tell({ after: this.#around.reading, set: [], changed: [], gone: [] })
  }

  #take({ locks: all, missing, partly }: Listed, pace: Pace): void {
    const now = this.#clock.now()
    // What was over when the reading began is over.
    const listed = withoutOverdue(all, now - pace.took)
    const { timesSet } = this.#clock
    const { set, changed, gone, ...rest } = this.#picture.take({ listed, now, took: pace.took, partly, timesSet })
    const { every } = pace
    this.#took = pace.took
    const reading = `${this.#series}.${this.readings}`
    const { reading: after } = this.#around
    const { list: schedules } = this.#schedules
    this.#around = { ...this.#around, ...rest, schedules, at: now, now, reading, every, trouble: null, missing }
    this.#tell({ after, set, changed, gone })
  }

  #tell(step: Pick<Difference, 'after' | 'set' | 'changed' | 'gone'>): void {
    const difference = { ...this.around, ...step }
    for (const listener of this.#listeners) listener(difference)
  }
}
