import { type Clock, dateAt, type Timer } from '../base/clock.js'
import { ClosedError } from '../errors.js'
import type { SlotResult, Slots } from '../api/slots.js'
import type { Cron } from './cron.js'
import type { ScheduledRun, ScheduleOptions } from './schedule-options.js'
import { quoted } from '../plain-text.js'
import { tell, traceOf } from '../thrown.js'
import { isAway, troubleOf } from '../away-or-refusing.js'

/** The most slots that are open at once: the newest ones stay. */
const MOST = 100
const GRACE = 60_000
/** The longest time between two looks at the server's clock, ms: clocks drift, and machines are suspended. */
const LONGEST = 15_000
/** How soon it looks again after trouble, ms. */
const AGAIN = 1000

interface RoundsOptions {
  readonly name: string
  readonly slots: Slots
  readonly cron: Cron
  readonly clock: Clock
  readonly options: ScheduleOptions
  readonly retention: number
  readonly work: (run: ScheduledRun) => unknown
}

/** A slot that was due and whose final result is not known here yet. */
interface Open {
  /** A step looks at it, or it runs here. */
  busy: boolean
  /** When to look at it again, on the monotonic clock. */
  at: number
  /** It is too late to start it here, and another process has claimed it: only its result is awaited. */
  claimed: boolean
  /** The trouble that was reported last. */
  trouble: string | undefined
}

/** A slot that may start unless it is late by more than `limit` ms. */
interface Due {
  readonly slot: number
  readonly limit: number
}

/** Repeatedly looks for slots that are due, and at each of them until its result is final. */
export class DueSlots {
  readonly #it: RoundsOptions
  readonly #open = new Map<number, Open>()
  /** The slots that were settled last: a server's clock may be set back. */
  readonly #settled = new Set<number>()
  /** Slots after this one are still to be found; `undefined` before the first look. */
  #from: number | undefined
  readonly #running = new Set<Promise<void>>()
  readonly #stop = new AbortController()
  #timer: Timer | undefined
  /** When the next round begins, on the monotonic clock. */
  #due = Infinity
  #round: Promise<void> | undefined
  #trouble: string | undefined
  next: number | undefined

  constructor(it: RoundsOptions) {
    this.#it = it
  }

  /** Aborts when the schedule is stopped. */
  get stopping(): AbortSignal {
    return this.#stop.signal
  }

  start(): void {
    this.next = this.#it.cron.next(this.#it.clock.now())
    this.#lookIn(0)
  }

  async stop(): Promise<void> {
    this.#stop.abort(new DOMException(`the schedule ${quoted(this.#it.name)} was stopped`, 'AbortError'))
    this.#timer?.cancel()
    await this.#round
    await Promise.all(this.#running)
  }

  get #stopped(): boolean {
    return this.#stop.signal.aborted
  }

  #lookIn(ms: number): void {
    const { clock } = this.#it
    const due = clock.monotonic() + ms
    if (this.#stopped || this.#round !== undefined || due >= this.#due) return
    this.#due = due
    this.#timer?.cancel()
    this.#timer = clock.setTimer(() => {
      this.#due = Infinity
      this.#round = this.#look().then((sleep) => {
        this.#round = undefined
        const waits = [...this.#open.values()].filter(({ busy }) => !busy).map(({ at }) => at - clock.monotonic())
        this.#lookIn(sleep === undefined ? AGAIN : Math.max(0, Math.min(sleep, ...waits)))
      })
    }, ms)
  }

  /** Returns in how many ms the next slot is due; `undefined`: the server could not tell. */
  async #look(): Promise<number | undefined> {
    const { slots, cron } = this.#it
    try {
      const now = await slots.now()
      if (!(await this.#find(now)) || this.#stopped) return LONGEST
      this.#trouble = undefined
      this.#begin(now)
      this.next = cron.next(now)
      return Math.min(LONGEST, (this.next ?? Infinity) - now)
    } catch (error) {
      this.#trouble = this.#tellTrouble(error, this.#trouble)
      return undefined
    }
  }

  /** Opens the slots that have become due. `false`: the schedule was stopped meanwhile. */
  async #find(now: number): Promise<boolean> {
    if (this.#from === undefined) await this.#findFirst(now)
    // After a long suspend, the records of slots that other processes ran may have expired.
    else if (now - this.#from > this.#it.retention) {
      for (const [slot] of this.#waiting) this.#open.delete(slot)
      await this.#findFirst(now)
    }
    if (this.#stopped) return false
    // The clock may have been set back.
    const from = Math.min(this.#from ?? now, now)
    for (const slot of this.#it.cron.before(now, MOST)) if (slot > from) this.#add(slot)
    this.#from = now
    for (const [slot] of this.#waiting.slice(0, -MOST)) this.#open.delete(slot)
    return true
  }

  /** No process has claimed a slot newer than the last one. The process that ran the last one may have died, or given it back before it began. */
  async #findFirst(now: number): Promise<void> {
    const last = await this.#lastClaimed(now)
    const isGivenBack = last !== undefined && last.state === undefined && now - last.slot < this.#it.retention
    if (last !== undefined && (isGivenBack || last.state === 'running' || last.state === 'crashed'))
      this.#add(last.slot)
    this.#from = Math.max(this.#from ?? -Infinity, last?.slot ?? now)
  }

  /**
   * The newest slot that is due and was claimed. If the server names a slot that is not due yet, its clock was ahead: then the records decide.
   */
  async #lastClaimed(now: number): Promise<{ slot: number; state: string | undefined } | undefined> {
    const { slots, cron, retention } = this.#it
    const stateOf = async (slot: number): Promise<string | undefined> => (await slots.inspect(dateAt(slot)))?.state
    const last = (await slots.last())?.getTime()
    if (last === undefined) return undefined
    if (last <= now) return { slot: last, state: await stateOf(last) }
    for (const slot of cron.before(now, MOST).reverse()) {
      // The record of an older slot may have expired.
      const state = now - slot < retention && !this.#stopped ? await stateOf(slot) : 'unknown'
      if (state !== undefined) return { slot, state }
    }
    return { slot: -Infinity, state: undefined }
  }

  #add(slot: number): void {
    if (this.#open.has(slot) || this.#settled.has(slot)) return
    this.#open.set(slot, { busy: false, at: -Infinity, claimed: false, trouble: undefined })
  }

  #settle(slot: number): void {
    this.#open.delete(slot)
    this.#settled.add(slot)
    for (const oldest of this.#settled) if (this.#settled.size > 2 * MOST) this.#settled.delete(oldest)
  }

  /** The oldest first. */
  get #waiting(): (readonly [number, Open])[] {
    return [...this.#open].filter(([, { busy }]) => !busy).sort(([a], [b]) => a - b)
  }

  #begin(now: number): void {
    const { cron, options, clock } = this.#it
    const { grace = GRACE, catchUp } = options
    const mono = clock.monotonic()
    const [newest] = catchUp === 'latest' ? cron.before(now, 1) : []
    const late: number[] = []
    const due: Due[] = []
    for (const [slot, open] of this.#waiting) {
      // The clock was set back.
      if (slot > now) open.at = mono + Math.min(LONGEST, slot - now)
      if (open.at > mono) continue
      open.busy = true
      const limit = open.claimed || slot === newest ? Infinity : grace
      if (now - slot > limit) late.push(slot)
      else due.push({ slot, limit })
    }
    this.#track(this.#miss(late))
    // The newest slot starts at once; the ones before it run one after another.
    this.#track(this.#runAll(due.slice(0, -1)))
    this.#track(this.#runAll(due.slice(-1)))
  }

  #track(work: Promise<unknown>): void {
    const running = work.then(() => {
      this.#running.delete(running)
    })
    this.#running.add(running)
  }

  async #runAll(all: readonly Due[]): Promise<void> {
    for (const due of all) await this.#step(due.slot, () => this.#run(due))
  }

  /** Marks these slots as skipped, so that no process starts them. One process reports them. */
  async #miss(late: readonly number[]): Promise<void> {
    const missed: Date[] = []
    for (const slot of late)
      await this.#step(slot, async (open) => {
        const due = dateAt(slot)
        open.claimed = !(await this.#it.slots.skip(due))
        if (!open.claimed) missed.push(due)
        return open.claimed ? 0 : undefined
      })
    const { onMissed } = this.#it.options
    if (missed.length > 0 && onMissed !== undefined) this.#tell(() => onMissed(missed))
    else if (missed.length > 0)
      this.#warn(`missed ${missed.length} slots, most recently ${missed.at(-1)?.toISOString()}`)
  }

  /** Looks at a slot once. `look` returns in how many ms to look again, or `undefined` if the result is final. */
  async #step(slot: number, look: (open: Open) => Promise<number | undefined>): Promise<void> {
    const open = this.#open.get(slot)
    if (open === undefined) return
    let again: number | undefined = 0
    if (!this.#stopped)
      try {
        again = await look(open)
      } catch (error) {
        open.trouble = this.#tellTrouble(error, open.trouble)
        // Another program has written to a key of the slots: that may be mended.
        again = troubleOf(error) === 'WRONG_KIND' ? LONGEST : AGAIN
      }
    open.busy = false
    if (again === undefined) this.#settle(slot)
    else {
      open.at = this.#it.clock.monotonic() + again
      this.#lookIn(again)
    }
  }

  async #run({ slot, limit }: Due): Promise<number | undefined> {
    const { slots, work, options } = this.#it
    const { retry, lease } = options
    const due = dateAt(slot)
    const asked = { retry, lease, signal: this.stopping, ...(limit < Infinity && { grace: limit }) }
    const result = await slots.run(due, asked, (run) => work({ ...run, due: dateAt(slot) }))
    if (result.outcome === 'skipped') {
      const { reason, by } = result
      if (reason === 'early' || reason === 'late') return AGAIN
      // Its process may die, or may have acquired only the lock.
      if (reason === 'running') return by === undefined ? AGAIN : LONGEST
    }
    this.#tellResult(result, due)
    return undefined
  }

  #tellResult(result: SlotResult<unknown>, due: Date): void {
    const { onResult } = this.#it.options
    if (onResult !== undefined) this.#tell(() => onResult(result, due))
    else if (result.outcome === 'failed') this.#warn(`the slot of ${due.toISOString()} failed`, result.error)
    else if (result.outcome === 'skipped' && result.reason === 'crashed')
      this.#warn(`the process that ran the slot of ${due.toISOString()} died`)
  }

  /** Reports each trouble once, until it is over, and returns what was reported last. A server that is away is not reported. */
  #tellTrouble(error: unknown, told: string | undefined): string | undefined {
    if (this.#stopped || error instanceof ClosedError || isAway(error)) return told
    const code = troubleOf(error)
    if (code === told) return told
    const { onError } = this.#it.options
    if (onError !== undefined) this.#tell(() => onError(error))
    else this.#warn('the server refused', error)
    return code
  }

  /** If a listener throws, the schedule goes on. */
  #tell(listener: () => unknown): void {
    tell(listener, (error) => this.#warn('a listener threw', error))
  }

  #warn(what: string, ...causes: readonly unknown[]): void {
    const why = causes.map((cause) => `: ${traceOf(cause)}`)
    process.emitWarning(`schedule ${quoted(this.#it.name)}: ${what}${why.join('')}`, 'HoldfastWarning')
  }
}
