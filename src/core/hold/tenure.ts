import { HoldfastError, LockLostError } from '../../errors.js'
import type { Due } from './due-heap.js'
import { type HoldHost, TenureHold } from './hold.js'
import type { UnitOfWork } from '../../base/owner.js'
import type { LockProtocol, ServerState } from '../protocol/protocol.js'
import type { Terms } from './terms.js'
import { isWrongKind } from '../server/trouble.js'
import { Deadline } from './deadline.js'
import { type Clock, type Moment, momentOf } from '../../base/clock.js'
import type { ReleaseLimit } from './release-limit.js'
import { marginOf } from '../protocol/timing.js'

/** Who looks after a tenure: the gate that it was taken through. */
export interface TenureHost {
  readonly name: string
  readonly clock: Clock
  readonly protocol: LockProtocol
  /** For how long a caller waits for a release at most. */
  readonly releases: ReleaseLimit
  /** Somebody has it now. */
  given?(tenure: Tenure, owner: UnitOfWork): void
  /** The last hold was given back: pass it on or free it. False: it was lost, or nobody answered in time. */
  giveBack(tenure: Tenure): Promise<boolean>
  /** It ended without being given back; `ours` when the server may still have it. */
  lost(tenure: Tenure, error: LockLostError, ours: boolean): void
  doubted(tenure: Tenure, cause: unknown): void
  renewed(tenure: Tenure): void
  /** Its terms or its deadline changed. */
  moved(tenure: Tenure): void
  /** One of its levels was over before the others. */
  lapsed(tenure: Tenure, error: LockLostError): void
  /** Rejects with a `ClosedError` when the client closes before the answer. */
  untilClosed<T>(ask: () => Promise<T>): Promise<T>
  /** Repeats a step until it is answered or `tenure` is over. Undefined: it was not answered in time. */
  insist<T>(tenure: Tenure, step: () => Promise<T>): Promise<T | undefined>
  /** Whether other holds of the same owner rest on this one, or this one on others. */
  carries?(): boolean
  ticket(tenure: Tenure, terms: Terms): string
}

/** How often its owner may have it at a time: what is more, the scripts take for no count of ours (`LEVEL_COUNT`). */
const MOST_LEVELS = 9999

/**
 * One field in the server's hash, from the moment it was granted: all levels of a re-entrant hold, and all holds that
 * this process passes on without telling the server. It alone knows until when it can be trusted.
 */
export class Tenure implements Due, HoldHost {
  due = Infinity
  place = -1
  /** For the watchdog: whether a renewal is on its way, how many failed in a row, and when to ask. */
  renewing = false
  failures = 0
  mayRenewAt = Infinity
  askAgain = Infinity
  readonly wire: string
  readonly #host: TenureHost
  /** When it was known to be granted: from then on others here may have it without the server. */
  readonly opened: number
  /** Where among all moments it was asked for. */
  readonly order: number
  /** Granted, and not confirmed yet: for a short while only. */
  trial = false
  passes = 0
  /** The server said that it is not ours. */
  taken = false
  /** Who had it after the first, and has a place in the line of the server still: it goes with the tenure. */
  served: string[] = NOBODY
  /** The newest fencing token that came for it, where the kind has them. */
  token: bigint | undefined
  #holds: readonly TenureHold[] = NONE
  #ended: 'lost' | 'over' | undefined
  #terms: Terms
  readonly #deadline: Deadline
  #confirming: Promise<unknown> | undefined
  /** Changes of level, one after the other. */
  #turns: Promise<unknown> | undefined

  /** `from`: the tenure that it took over, whose time at the gate goes on. */
  constructor(keeper: TenureHost, wire: string, terms: Terms, sent: Moment, from?: Tenure) {
    this.#host = keeper
    this.wire = wire
    this.opened = from?.opened ?? keeper.clock.monotonic()
    this.order = from?.order ?? sent.order
    this.passes = from === undefined ? 0 : from.passes + 1
    this.#terms = terms
    this.#deadline = new Deadline(sent, terms.lease)
    this.token = keeper.protocol.takeToken?.(wire)
  }

  get name(): string {
    return this.#host.name
  }

  get protocol(): LockProtocol {
    return this.#host.protocol
  }

  get watched(): boolean {
    return this.#terms.watched
  }

  get lease(): number {
    return this.#terms.lease
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
    return this.lostAt + marginOf(this.lease)
  }

  get doubtful(): boolean {
    return this.#deadline.doubt !== undefined
  }

  /** When it counts as lost. */
  get lostAt(): number {
    return this.#deadline.lostAt
  }

  /** When the next of its levels is over. */
  get lapseAt(): number {
    return this.#holds.length === 1
      ? (this.#holds[0] as TenureHold).overAt
      : Math.min(...this.#holds.map((hold) => hold.overAt))
  }

  /** When the server was asked that last confirmed it. */
  get proven(): Moment {
    return this.#deadline.proven
  }

  get provenAt(): number {
    return this.#deadline.proven.mono
  }

  now(): Moment {
    return momentOf(this.#host.clock)
  }

  moved(): void {
    this.#host.moved(this)
  }

  /** The machine was suspended for so long. */
  slept(ms: number, now: number): void {
    this.#deadline.slept(ms, now)
    for (const hold of this.#holds) hold.slept(ms)
  }

  /** What it finds to be over ends in the same turn. */
  status(): 'held' | 'uncertain' | 'lost' {
    if (this.#ended !== undefined) return 'lost'
    const status = this.#deadline.status(this.#host.clock, this.#terms, this.trial)
    if (status === 'lost') {
      this.lose(this.watched ? 'it could not be renewed before its lease ran out' : 'its lease ran out', true)
    }
    return status
  }

  /** ms until it counts as lost. */
  remaining(): number {
    return this.status() === 'lost' ? 0 : this.#deadline.remaining(this.#host.clock)
  }

  /** False: it was asked too long ago to count. */
  proved(sent: Moment, left: number): boolean {
    return this.#deadline.proved(sent, left, this.lease)
  }

  /** It was asked about. What nobody renews is not longer certain because of that. */
  found(sent: Moment, left: number): boolean {
    const most = this.watched ? Infinity : this.lastsUntil - sent.mono
    // The server's word is rounded down, and as old as the question at most: where what was known fits it, that stands.
    const latest = left + this.now().mono - sent.mono + 1
    if (most === Infinity || (left >= 0 && most > latest)) return this.proved(sent, left)
    return this.proved(sent, most)
  }

  /** From now on it is on these terms, and lasts no longer. */
  change(terms: Terms, sent: Moment): void {
    this.#terms = terms
    this.proved(sent, terms.lease)
  }

  /** It was granted, and is given away after `left` ms unless it is confirmed. */
  onTrial(now: Moment, left: number): void {
    this.trial = true
    this.proved(now, left)
    this.#host.moved(this)
  }

  /**
   * Confirms what is on trial, and is not over by `then`; until somebody answers, or the trial is over. 0: it was gone.
   */
  confirm(step: (lease: number) => Promise<number>, then?: Promise<void>): Promise<number | undefined> {
    return (this.#confirming = this.#confirm(step, then))
  }

  async #confirm(step: (lease: number) => Promise<number>, then?: Promise<void>): Promise<number | undefined> {
    if (then !== undefined) await then
    let sent = this.now()
    const ask = (): Promise<number> => {
      sent = this.now()
      return step(this.lease).catch((error: unknown) => {
        this.doubt(error)
        throw error
      })
    }
    const confirmed = this.over ? undefined : await this.#host.insist(this, ask)
    if (this.over || confirmed === undefined) return confirmed
    this.trial = false
    if (confirmed === 0) this.lose('somebody else released it, or its key was deleted', false)
    // A change of level on its way may have proven more by now.
    else if (sent.mono >= this.provenAt) this.proved(sent, confirmed)
    this.#host.moved(this)
    return confirmed
  }

  /** By the watchdog. */
  renewed(): void {
    this.#host.renewed(this)
  }

  doubt(cause: unknown): void {
    if (this.over || this.doubtful) return
    this.#deadline.doubted(cause)
    this.#host.doubted(this, cause)
  }

  /** Another server may be the master by now: in doubt until that has answered. */
  question(now: Moment, cause: unknown): void {
    if (this.over) return
    const fresh = !this.doubtful
    this.#deadline.questioned(now, cause)
    if (fresh) this.#host.doubted(this, cause)
  }

  lose(why: string, ours: boolean): void {
    if (!ours) this.taken = true
    if (this.over) return
    const cause = this.#deadline.doubt
    const error = new LockLostError(this.name, why, cause === undefined ? {} : { cause })
    this.#ended = 'lost'
    for (const hold of this.#holds) hold.end('lost', error)
    this.#host.lost(this, error, ours || this.protocol.divisible === true)
  }

  /** Given back, passed to another owner on the server, or detached. */
  end(): void {
    this.#ended ??= 'over'
  }

  /** The client closes: every hold is told, and gives up. */
  abandon(reason: Error): void {
    for (const hold of this.#holds) hold.end('released', reason)
    this.#holds = NONE
  }

  /** The first hold, or the next one in this process: no other holds at this moment. */
  give(owner: UnitOfWork): TenureHold {
    const hold = new TenureHold(this, owner, this.#terms, this.#deadline.proven)
    this.#holds = [hold]
    this.#host.given?.(this, owner)
    return hold
  }

  /** One level more. Undefined: it is gone. */
  enter(owner: UnitOfWork, terms: Terms): Promise<TenureHold | undefined> {
    const { passes } = this
    return this.#inTurn(async () => {
      await this.#tried()
      // While it waited its turn, it may have been passed on to another owner.
      if (this.status() === 'lost' || this.passes !== passes) return undefined
      if (this.level >= MOST_LEVELS) {
        throw new RangeError(`'${this.name}' is held ${MOST_LEVELS} times by its owner, which is as often as it can be`)
      }
      const sent = this.now()
      if (!(await this.setLevel(this.#holds.length + 1, terms.lease))) return undefined
      if (this.over) return undefined
      const hold = new TenureHold(this, owner, terms, sent)
      this.#holds = [...this.#holds, hold]
      this.#renegotiate()
      return hold
    })
  }

  /** One hold less. False: it was lost, or nobody answered in time; then it goes on behind the caller. */
  leave(hold: TenureHold): Promise<boolean> {
    this.#holds = this.#holds.filter((other) => other !== hold)
    const alone = this.#holds.length === 0 && this.#turns === undefined
    return alone
      ? this.#left()
      : this.#host.releases.within(
          this.#inTurn(() => this.#left()),
          false,
        )
  }

  #left(): Promise<boolean> {
    if (this.#ended !== undefined && (this.#ended === 'lost' || this.#holds.length === 0)) {
      return Promise.resolve(this.#ended === 'over')
    }
    return this.#holds.length === 0 ? this.#host.giveBack(this) : this.#lower()
  }

  async #lower(): Promise<boolean> {
    this.#renegotiate()
    const level = this.#holds.length
    // While nobody answers, others may be given back as well: then this level is not asked for any more.
    const obsolete = (): boolean => this.#holds.length < level
    const step = (): Promise<boolean> => (obsolete() ? NO : this.setLevel(level, this.lease))
    const done = await this.#host.insist(this, step)
    if (done !== true && obsolete()) return this.#left()
    return done === true || this.#ended === 'over'
  }

  /** Levels whose own lease is over. */
  lapseDue(): void {
    for (const hold of this.#holds) hold.look()
  }

  /** The lease of this level is over; the others go on. */
  lapse(hold: TenureHold): void {
    if (this.over || !this.#holds.includes(hold)) return
    // The last one: it stays on the server until that gives it away, for the holder to stop in.
    if (this.#holds.length === 1) {
      this.lose('its lease ran out', true)
      return
    }
    this.#holds = this.#holds.filter((other) => other !== hold)
    const error = new LockLostError(this.name, 'its lease ran out')
    hold.end('lost', error)
    this.#host.lapsed(this, error)
    void this.#inTurn(() => this.#left())
  }

  /** The time left becomes at least `lease`. Rejects when it is lost, or when the server does not answer. */
  extend(hold: TenureHold, lease: number): Promise<Moment> {
    return this.#asked(async () => {
      await this.#tried()
      const sent = this.now()
      if (!this.#has(hold) || !(await this.setLevel(this.level, lease)) || !this.#has(hold)) throw hold.over('extended')
      return sent
    })
  }

  /** Also proves that it is ours, and until when. */
  async setLevel(level: number, lease: number): Promise<boolean> {
    const sent = this.now()
    const left = await this.protocol.setLevel(this.wire, level, lease)
    this.token = this.protocol.takeToken?.(this.wire) ?? this.token
    if (left === undefined) {
      this.lose('somebody else released it, or its key was deleted', false)
      return false
    }
    // What has ended meanwhile had this level all the same.
    if (this.over) return true
    this.proved(sent, left)
    this.#host.moved(this)
    return true
  }

  /** Asks whether it is still ours, and changes nothing. */
  async verify(): Promise<void> {
    const sent = this.now()
    const { ttl, holders } = await this.protocol.inspect().catch((error: unknown): ServerState => {
      // Where something else stands by now, it is not ours any more.
      if (isWrongKind(error)) return { ttl: -2, holders: [] }
      throw error
    })
    if (this.over) return
    const mine = holders.find(({ owner }) => owner === this.wire)
    if (mine === undefined || mine.partial === true) {
      this.lose('somebody else released it, or its key was deleted', false)
      return
    }
    // It can be read, but not written: the renewals that fail count, not this.
    if (this.watched && this.doubtful) return
    this.failures = 0
    // A change of level on its way may have proven more by now; of a trial its confirmation tells.
    if (sent.mono >= this.provenAt && !this.trial) this.found(sent, mine.left ?? ttl)
    this.#host.moved(this)
  }

  detach(hold: TenureHold): Promise<string> {
    return this.#asked(async () => {
      const terms = this.#terms
      // Whoever adopts it must not find it in the line still.
      await this.#tried()
      if (!this.#has(hold)) throw hold.over('detached')
      this.#mustNotBeNested()
      if (!(await this.setLevel(1, this.lease)) || !this.#has(hold)) throw hold.over('detached')
      this.#mustNotBeNested()
      hold.end('detached')
      this.#holds = NONE
      const ticket = this.#host.ticket(this, terms)
      this.end()
      return ticket
    })
  }

  /** A confirmation on its way may still shorten what the server says of the trial, or is told of it. */
  async #tried(): Promise<void> {
    const answered = !this.trial || (await this.#confirming) !== undefined
    // What nobody answered may be done yet.
    if (!answered && !this.over) this.lose('its grant could not be confirmed', true)
  }

  #mustNotBeNested(): void {
    if (this.nested) throw this.isNested()
  }

  #has(hold: TenureHold): boolean {
    return this.status() !== 'lost' && this.#holds.includes(hold)
  }

  /** Whether its owner has more of the lock than one hold. */
  get nested(): boolean {
    return this.level > 1 || this.#host.carries?.() === true
  }

  isNested(): HoldfastError {
    const message = `'${this.name}' is held more than once: release the other holds first`
    return new HoldfastError('NESTED_HOLD', message, { target: this.name })
  }

  gone(): LockLostError {
    return new LockLostError(this.name, 'it is not held any more')
  }

  /** The watchdog renews as long as one level wants it; else the longest fixed lease counts. */
  #renegotiate(): void {
    const renewed = this.#holds.filter((hold) => hold.terms.watched)
    const watched = renewed.length > 0
    const lease = Math.max(...(watched ? renewed : this.#holds).map((hold) => hold.terms.lease))
    this.#terms = { lease, watched }
    this.#host.moved(this)
  }

  #asked<T>(step: () => Promise<T>): Promise<T> {
    return this.#host.untilClosed(() => this.#inTurn(step))
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

const NONE: readonly TenureHold[] = []
const NOBODY: string[] = []
const NO: Promise<boolean> = Promise.resolve(false)
