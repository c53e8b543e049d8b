import { LockLostError } from '../../errors.js'
import { type Clock, type Moment, momentOf } from '../../base/clock.js'
import type { HeldProtocol } from '../protocol/lock-protocol.js'
import { TenureDeadline } from './tenure-deadline.js'
import type { Due } from './due-heap.js'
import type { LevelsClient, LevelsHost } from './levels-host.js'
import { ReentrantLevels } from './reentrant-levels.js'
import type { LeaseTerms } from './lease-terms.js'
import { marginOf } from './safety-margin.js'
import type { SharedProof } from './proof-between-threads.js'

/** What a tenure needs from its client. */
export interface TenureClient extends LevelsClient {
  readonly options: { readonly clock: Clock }
  readonly watchdog: {
    /** The terms or the deadline have changed. */
    moved(tenure: Tenure): void
    /** How many ms the tenure has left on the server, -2 if it is lost. Changes nothing there. */
    leftOf(tenure: Tenure): Promise<number>
  }
  readonly lockEvents: LevelsClient['lockEvents'] & {
    doubted(lock: TenureHost, wire: string, cause: unknown): void
    renewed(lock: TenureHost, wire: string): void
  }
}

/** The gate through which the tenure was acquired. It looks after the tenure. */
export interface TenureHost extends LevelsHost<Tenure> {
  readonly runtime: TenureClient
  readonly protocol: HeldProtocol
  /** The tenure ended without a release. `ours`: the server may still have it. */
  lost(tenure: Tenure, error: LockLostError, ours: boolean): void
}

/**
 * One field in the server's hash, from the grant on: all levels of a re-entrant hold, and all holds that this process passes on
 * without the server. Only the tenure knows until when it can be trusted.
 */
export class Tenure extends ReentrantLevels implements Due {
  due = Infinity
  heapIndex = -1
  /** For the watchdog: whether a renewal is in progress, how many failed in a row, and when to ask. */
  renewing = false
  failures = 0
  mayRenewAt = Infinity
  askAgain = Infinity
  /** How large its batch may be. Less than all after a strange answer to a batch, until it is known which tenure caused it. */
  batchLimit = Infinity
  readonly wire: string
  protected readonly host: TenureHost
  /** When this process learned of the grant. From then on, other owners here may have the lock without the server. */
  opened: number
  /** Its position among all moments: when the server was asked for it. */
  order: number
  /** Granted, but not confirmed yet: the lease is short. */
  trial = false
  confirming: Promise<unknown> | undefined
  passes = 0
  /** The server said that it is not ours. */
  taken = false
  /** Wire names of later owners that still have a place in the line on the server. They leave the line with the tenure. */
  served: string[] = NOBODY
  /** It was old enough to be published, so it is not looked at again. */
  listed = false
  /** The newest fencing token, if the kind has tokens. */
  token: bigint | undefined
  /** Set if another thread renews it, too. */
  shared: SharedProof | undefined
  protected ended: 'lost' | 'over' | undefined
  readonly #deadline: TenureDeadline

  constructor(host: TenureHost, wire: string, terms: LeaseTerms, sent: Moment) {
    super(terms)
    this.host = host
    this.wire = wire
    this.opened = host.runtime.options.clock.monotonic()
    this.order = sent.order
    this.#deadline = new TenureDeadline(sent, terms.lease)
    this.token = host.protocol.takeToken?.(wire)
  }

  /** It has taken over from another tenure, whose time at the gate goes on. */
  succeed({ opened, order, passes }: Tenure): void {
    this.opened = opened
    this.order = order
    this.passes = passes + 1
  }

  get name(): string {
    return this.host.name
  }

  get kind(): TenureHost['kind'] {
    return this.host.kind
  }

  get protocol(): HeldProtocol {
    return this.host.protocol
  }

  /** When the server gives the lock away, on the monotonic clock. */
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

  get steadyLostAt(): number {
    return this.#deadline.steadyLostAt
  }

  /** When the question was sent that the server last confirmed it with. */
  get proven(): Moment {
    return this.#deadline.proven
  }

  get provenAt(): number {
    return this.#deadline.proven.mono
  }

  get #clock(): Clock {
    return this.host.runtime.options.clock
  }

  now(): Moment {
    return momentOf(this.#clock)
  }

  moved(): void {
    this.host.runtime.watchdog.moved(this)
  }

  /** The machine was suspended for `ms`. */
  slept(ms: number, now: number): void {
    this.#deadline.slept(ms, now)
    for (const hold of this.holds) hold.slept(ms)
  }

  /** Ends the tenure at once if it is over. */
  status(): 'held' | 'uncertain' | 'lost' {
    this.hear()
    if (this.ended !== undefined) return 'lost'
    const status = this.#deadline.status(this.#clock, this.terms, this.trial)
    if (status === 'lost') {
      this.lose(this.watched ? 'it could not be renewed before its lease ended' : 'its lease ended', true)
    }
    return status
  }

  /** ms until it counts as lost. */
  remaining(): number {
    return this.status() === 'lost' ? 0 : this.#deadline.remaining(this.#clock)
  }

  /** False: the question is too old to count. */
  proved(sent: Moment, left: number): boolean {
    const counts = this.shared?.knowsBetter(sent) === true ? this.#stands(sent) : this.#proves(sent, left)
    if (counts) this.shared?.tell(this.proven, this.lastsUntil - this.provenAt)
    return counts
  }

  #proves(sent: Moment, left: number): boolean {
    return this.#deadline.proved(sent, left, this.lease)
  }

  /** While the answer stayed unread here, the other thread has asked again, and its answer stands. */
  #stands({ order }: Moment): boolean {
    return this.#proves({ ...this.proven, order }, this.lastsUntil - this.provenAt)
  }

  /** Adopts what the server has answered to the other thread. False: nothing new. */
  hear(): boolean {
    const heard = this.shared?.hear()
    if (heard === undefined || this.over) return false
    if (heard.left === -2) {
      this.lose('it was released elsewhere, or its key was deleted', false)
      return true
    }
    // It does not say which server answers here. If that is in question, it does not count.
    const sent = { ...heard, order: this.proven.order }
    if (!this.watched || sent.mono <= this.provenAt) return false
    const counts = this.#proves(sent, Math.min(heard.left, this.longestLease))
    if (counts) this.renewed()
    return counts
  }

  /**
   * The server was asked about the tenure. The answer never makes it last longer than the lease asked for here, whatever expiry
   * another program has set; nor, if nothing renews it, longer than was known.
   */
  found(sent: Moment, left: number): boolean {
    if (this.watched) return this.proved(sent, Math.min(left, this.longestLease))
    const most = this.lastsUntil - sent.mono
    // The answer is rounded down, and at most as old as the question. If it fits what was known, that stays.
    const latest = left + this.now().mono - sent.mono + 1
    return this.proved(sent, left >= 0 && most > latest ? left : most)
  }

  /** From now on these terms apply, and the tenure lasts no longer. */
  change(terms: LeaseTerms, sent: Moment): void {
    this.terms = terms
    this.proved(sent, terms.lease)
  }

  /** It was granted. Unless it is confirmed, the server gives it away after `left` ms. */
  onTrial(now: Moment, left: number): void {
    this.trial = true
    this.proved(now, left)
    this.moved()
  }

  /** It lasts for `left` ms from `sent`; 0: it was gone. */
  confirmed(left: number, sent: Moment): void {
    this.trial = false
    if (left === 0) this.lose(GONE, false)
    // A change of level in progress may have proven more by now.
    else if (sent.mono >= this.provenAt) this.proved(sent, left)
    this.moved()
  }

  /** Called by the watchdog. */
  renewed(): void {
    this.host.runtime.lockEvents.renewed(this.host, this.wire)
  }

  doubt(cause: unknown): void {
    if (this.over || this.doubtful) return
    this.#deadline.doubted(cause)
    this.host.runtime.lockEvents.doubted(this.host, this.wire, cause)
  }

  /** Another server may be the master now: in doubt until that server has answered. */
  question(now: Moment, cause: unknown): void {
    if (this.over) return
    const fresh = !this.doubtful
    this.#deadline.questioned(now, cause)
    if (fresh) this.host.runtime.lockEvents.doubted(this.host, this.wire, cause)
  }

  lose(why: string, ours: boolean): void {
    if (!ours) this.taken = true
    if (this.over) return
    if (!ours) this.shared?.tell(this.now(), -2)
    const cause = this.#deadline.doubt
    const error = new LockLostError(this.name, why, cause === undefined ? {} : { cause })
    this.ended = 'lost'
    for (const hold of this.holds) hold.end('lost', error)
    this.host.lost(this, error, ours || this.protocol.divisible === true)
  }

  /** The server answered its release: it was not ours any more. If no caller waits for that answer, an event tells it. */
  notOurs(): void {
    this.taken = true
    if (this.unawaited) this.host.runtime.lockEvents.lost(this.host, this.wire, new LockLostError(this.name, GONE))
  }

  /** It was released, passed to another owner on the server, or detached. */
  end(): void {
    this.ended ??= 'over'
  }

  /** Sets the level. The answer also proves that the tenure is ours, and until when. */
  async setLevel(level: number, lease: number): Promise<boolean> {
    const sent = this.now()
    const left = await this.protocol.setLevel(this.wire, level, lease)
    this.token = this.protocol.takeToken?.(this.wire) ?? this.token
    if (left === undefined) {
      this.lose(GONE, false)
      return false
    }
    // Even if it has ended meanwhile, it had this level.
    if (this.over) return true
    this.proved(sent, left)
    this.moved()
    return true
  }

  /** Asks whether it is still ours, and changes nothing. */
  async verify(): Promise<void> {
    const sent = this.now()
    const left = await this.host.runtime.watchdog.leftOf(this)
    if (this.over) return
    if (left === -2) {
      this.lose(GONE, false)
      return
    }
    // It can be read, but not written: failed renewals count, not this answer.
    if (this.watched && this.doubtful) return
    this.failures = 0
    // A change of level in progress may have proven more by now; the end of a trial comes from its confirmation.
    if (sent.mono >= this.provenAt && !this.trial) this.found(sent, left)
    this.moved()
  }
}

const NOBODY: string[] = []
const GONE = 'it was released elsewhere, or its key was deleted'
