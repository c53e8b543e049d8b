import { HoldfastError, LockLostError } from '../errors.js'
import type { Clock } from './clock.js'
import type { Due } from './due-heap.js'
import { TenureHold } from './hold.js'
import type { UnitOfWork } from './owner.js'
import type { LockProtocol } from './protocol.js'

/** On which terms a hold is taken: for how long, and whether the watchdog renews it. */
export interface Terms {
  readonly lease: number
  readonly watched: boolean
}

/** Both clocks at one moment. What counts is the larger progress of the two: one of them stands still in a suspended machine. */
export interface Moment {
  readonly mono: number
  readonly wall: number
}

export const momentOf = (clock: Clock): Moment => ({ mono: clock.monotonic(), wall: clock.now() })

/** By how much a hold counts as lost before the server gives it away; the server counts in whole milliseconds. */
export const marginOf = (lease: number): number => Math.min(Math.max(lease / 20, 1), 500)

/** Who looks after a tenure: the gate that it was taken through. */
export interface Keeper {
  readonly name: string
  readonly clock: Clock
  readonly protocol: LockProtocol
  /** The last hold was given back: pass it on or free it. False: it was lost. */
  giveBack(tenure: Tenure): Promise<boolean>
  /** It ended without being given back; `ours` when the server may still have it. */
  lost(tenure: Tenure, error: LockLostError, ours: boolean): void
  doubted(tenure: Tenure, cause: unknown): void
  renewed(tenure: Tenure): void
  /** Its terms or its deadline changed. */
  moved(tenure: Tenure): void
  /** One of its levels was over before the others. */
  lapsed(tenure: Tenure, error: LockLostError): void
  /** Repeats a step until it is answered or `tenure` is over. Undefined: it was not answered in time. */
  insist<T>(tenure: Tenure, step: () => Promise<T>): Promise<T | undefined>
  ticket(tenure: Tenure, terms: Terms): string
}

/** Clocks that differ by more are not believed until the server has answered. */
const CLOCKS_APART = 1000

/**
 * One field in the server's hash, from the moment it was granted: all levels of a re-entrant hold, and all holds that
 * this process passes on without telling the server. It alone knows until when it can be trusted.
 */
export class Tenure implements Due {
  due = Infinity
  place = -1
  /** For the watchdog: whether a renewal is on its way, how many failed in a row, and when to ask. */
  renewing = false
  failures = 0
  renewAt = Infinity
  askAgain = Infinity
  readonly wire: string
  readonly #keeper: Keeper
  readonly opened: number
  passes = 0
  #holds: TenureHold[] = []
  #ended: 'lost' | 'over' | undefined
  #lease: number
  #watched: boolean
  #proven: Moment
  /** When it counts as lost: the deadline less the margin, on both clocks. */
  #lostMono = 0
  #lostWall = 0
  #doubt: unknown
  /** Changes of level, one after the other. */
  #turns: Promise<unknown> | undefined

  /** `from`: the tenure that it took over, whose time at the gate goes on. */
  constructor(keeper: Keeper, wire: string, terms: Terms, sent: Moment, from?: Tenure) {
    this.#keeper = keeper
    this.wire = wire
    this.opened = from?.opened ?? sent.mono
    this.passes = from === undefined ? 0 : from.passes + 1
    this.#lease = terms.lease
    this.#watched = terms.watched
    this.#proven = sent
    this.proved(sent, terms.lease)
  }

  get name(): string {
    return this.#keeper.name
  }

  get protocol(): LockProtocol {
    return this.#keeper.protocol
  }

  get watched(): boolean {
    return this.#watched
  }

  get lease(): number {
    return this.#lease
  }

  get over(): boolean {
    return this.#ended !== undefined
  }

  get level(): number {
    return this.#holds.length
  }

  get owner(): UnitOfWork | undefined {
    return this.#holds[0]?.owner
  }

  get innermost(): TenureHold | undefined {
    return this.#holds.at(-1)
  }

  /** When the server gives it away, on the monotonic clock. */
  get lastsUntil(): number {
    return this.#lostMono + marginOf(this.#lease)
  }

  get doubtful(): boolean {
    return this.#doubt !== undefined
  }

  get lostAt(): number {
    return this.#lostMono
  }

  /** When the next of its levels is over. */
  get lapseAt(): number {
    return this.#holds.length === 1
      ? (this.#holds[0] as TenureHold).overAt
      : Math.min(...this.#holds.map((hold) => hold.overAt))
  }

  get provenAt(): number {
    return this.#proven.mono
  }

  now(): Moment {
    return momentOf(this.#keeper.clock)
  }

  moved(): void {
    this.#keeper.moved(this)
  }

  /** Computed from the clock, each time; what it finds to be over ends in the same turn. */
  status(): 'held' | 'uncertain' | 'lost' {
    if (this.#ended !== undefined) return 'lost'
    const { clock } = this.#keeper
    const mono = clock.monotonic()
    const wall = clock.now()
    if (mono >= this.#lostMono || wall >= this.#lostWall) {
      this.lose(this.#watched ? 'it could not be renewed before its lease ran out' : 'its lease ran out', true)
      return 'lost'
    }
    const proven = this.#proven
    if (Math.abs(wall - proven.wall - (mono - proven.mono)) > CLOCKS_APART) return 'uncertain'
    const left = Math.min(this.#lostMono - mono, this.#lostWall - wall) + marginOf(this.#lease)
    if (this.#watched && left < this.#lease / 2) return 'uncertain'
    return this.#doubt === undefined ? 'held' : 'uncertain'
  }

  /** ms until it counts as lost. */
  remaining(): number {
    if (this.status() === 'lost') return 0
    const { clock } = this.#keeper
    return Math.min(this.#lostMono - clock.monotonic(), this.#lostWall - clock.now())
  }

  /** The server said at some time after `sent` that it is ours for `left` ms (-1: without expiry). */
  proved(sent: Moment, left: number): void {
    const certain = left < 0 ? Infinity : left - marginOf(this.#lease)
    this.#proven = sent
    this.#doubt = undefined
    this.#lostMono = sent.mono + certain
    this.#lostWall = sent.wall + certain
  }

  /** By the watchdog. */
  renewed(): void {
    this.#keeper.renewed(this)
  }

  doubt(cause: unknown): void {
    if (this.over || this.#doubt !== undefined) return
    this.#doubt = cause ?? new Error('no answer')
    this.#keeper.doubted(this, cause)
  }

  lose(why: string, ours: boolean): void {
    if (this.over) return
    const cause = this.#doubt
    const error = new LockLostError(this.name, why, cause === undefined ? {} : { cause })
    this.#ended = 'lost'
    const holds = this.#holds
    for (const hold of holds) hold.end('lost', error)
    this.#keeper.lost(this, error, ours)
  }

  /** Given back, passed to another owner on the server, or detached. */
  end(): void {
    this.#ended ??= 'over'
  }

  /** The client closes: every hold is told, and gives up. */
  abandon(reason: Error): void {
    for (const hold of this.#holds) hold.end('released', reason)
    this.#holds = []
  }

  /** The first hold, or the next one in this process: no other holds at this moment. */
  give(owner: UnitOfWork): TenureHold {
    const hold = new TenureHold(this, owner, { lease: this.#lease, watched: this.#watched }, this.#proven)
    this.#holds = [hold]
    return hold
  }

  /** One level more. Undefined: it is gone. */
  enter(owner: UnitOfWork, terms: Terms): Promise<TenureHold | undefined> {
    const { passes } = this
    return this.#inTurn(async () => {
      // While it waited its turn, it may have been passed on to another owner.
      if (this.status() === 'lost' || this.passes !== passes) return undefined
      const sent = this.now()
      if (!(await this.setLevel(this.#holds.length + 1, terms.lease))) return undefined
      if (this.over) return undefined
      const hold = new TenureHold(this, owner, terms, sent)
      this.#holds.push(hold)
      this.#renegotiate()
      return hold
    })
  }

  /** One hold less. False: it was lost. */
  leave(hold: TenureHold): Promise<boolean> {
    if (this.status() === 'lost') return Promise.resolve(false)
    this.#holds = this.#holds.filter((other) => other !== hold)
    const alone = this.#holds.length === 0 && this.#turns === undefined
    return alone ? this.#left() : this.#inTurn(() => this.#left())
  }

  async #left(): Promise<boolean> {
    if (this.#ended === 'lost') return false
    if (this.#holds.length === 0) return this.#ended === 'over' || this.#keeper.giveBack(this)
    this.#renegotiate()
    const level = this.#holds.length
    const done = await this.#keeper.insist(this, () => this.setLevel(level, this.#lease))
    return done === true || this.#ended === 'over'
  }

  /** Levels whose own lease is over. */
  lapseDue(): void {
    for (const hold of [...this.#holds]) hold.look()
  }

  /** The lease of this level is over; the others go on. */
  lapse(hold: TenureHold): void {
    if (this.over || !this.#holds.includes(hold)) return
    this.#holds = this.#holds.filter((other) => other !== hold)
    const error = new LockLostError(this.name, 'its lease ran out')
    hold.end('lost', error)
    this.#keeper.lapsed(this, error)
    void this.#inTurn(() => this.#left())
  }

  /** The time left becomes at least `lease`. Rejects when it is lost, or when the server does not answer. */
  extend(hold: TenureHold, lease: number): Promise<Moment> {
    return this.#inTurn(async () => {
      const sent = this.now()
      if (!this.#has(hold) || !(await this.setLevel(this.level, lease)) || !this.#has(hold)) throw this.gone()
      return sent
    })
  }

  /** Also proves that it is ours, and until when. */
  async setLevel(level: number, lease: number): Promise<boolean> {
    const sent = this.now()
    const left = await this.protocol.setLevel(this.wire, level, lease)
    if (left === undefined) {
      this.lose('somebody else released it, or its key was deleted', false)
      return false
    }
    if (this.over) return this.#ended === 'over'
    this.proved(sent, left)
    this.#keeper.moved(this)
    return true
  }

  /** Asks whether it is still ours, and changes nothing. */
  async verify(): Promise<void> {
    const sent = this.now()
    const { ttl, holders } = await this.protocol.inspect()
    if (this.over) return
    if (!holders.some(({ owner }) => owner === this.wire)) {
      this.lose('somebody else released it, or its key was deleted', false)
      return
    }
    // It can be read, but not written: the renewals that fail count, not this.
    if (this.#watched && this.doubtful) return
    this.failures = 0
    // A change of level on its way may have proven more by now.
    if (sent.mono >= this.#proven.mono) this.proved(sent, ttl)
    this.#keeper.moved(this)
  }

  detach(hold: TenureHold): Promise<string> {
    return this.#inTurn(async () => {
      const terms = { lease: this.#lease, watched: this.#watched }
      if (!this.#has(hold)) throw this.gone()
      if (this.level > 1) throw this.nested()
      if (!(await this.setLevel(1, this.#lease)) || !this.#has(hold)) throw this.gone()
      hold.end('detached')
      this.#holds = []
      const ticket = this.#keeper.ticket(this, terms)
      this.end()
      return ticket
    })
  }

  #has(hold: TenureHold): boolean {
    return this.status() !== 'lost' && this.#holds.includes(hold)
  }

  nested(): HoldfastError {
    const message = `'${this.name}' is held more than once: release the inner holds first`
    return new HoldfastError('NESTED_HOLD', message, { target: this.name })
  }

  gone(): LockLostError {
    return new LockLostError(this.name, 'it is not held any more')
  }

  /** The watchdog renews as long as one level wants it; else the longest fixed lease counts. */
  #renegotiate(): void {
    const watched = this.#holds.filter((hold) => hold.terms.watched)
    const longest = (holds: TenureHold[]): number => Math.max(...holds.map((hold) => hold.terms.lease))
    this.#watched = watched.length > 0
    this.#lease = longest(this.#watched ? watched : this.#holds)
    this.#keeper.moved(this)
  }

  #inTurn<T>(step: () => Promise<T>): Promise<T> {
    const turn = this.#turns === undefined ? step() : this.#turns.then(step, step)
    this.#turns = turn
    const done = (): void => {
      if (this.#turns === turn) this.#turns = undefined
    }
    turn.then(done, done)
    return turn
  }
}
