import { LockLostError } from '../../errors.js'
import { type Clock, type Moment, momentOf } from '../../base/clock.js'
import type { HeldProtocol } from '../protocol/protocol.js'
import { Deadline } from './deadline.js'
import type { Due } from './due-heap.js'
import { type LevelsClient, type LevelsHost, Reentrant } from './reentrant.js'
import type { Terms } from './terms.js'
import { marginOf } from './margin.js'

/** What a tenure needs of its client. */
export interface TenureClient extends LevelsClient {
  readonly options: { readonly clock: Clock }
  readonly watchdog: {
    /** Its terms or its deadline changed. */
    moved(tenure: Tenure): void
    /** For how many ms the server has it, -2 when it is lost; changes nothing there. */
    leftOf(tenure: Tenure): Promise<number>
  }
  readonly lockEvents: LevelsClient['lockEvents'] & {
    doubted(lock: TenureHost, wire: string, cause: unknown): void
    renewed(lock: TenureHost, wire: string): void
  }
}

/** Who looks after a tenure: the gate that it was taken through. */
export interface TenureHost extends LevelsHost<Tenure> {
  readonly runtime: TenureClient
  readonly protocol: HeldProtocol
  /** It ended without being given back; `ours` when the server may still have it. */
  lost(tenure: Tenure, error: LockLostError, ours: boolean): void
}

/**
 * One field in the server's hash, from the moment it was granted: all levels of a re-entrant hold, and all holds that
 * this process passes on without telling the server. It alone knows until when it can be trusted.
 */
export class Tenure extends Reentrant implements Due {
  due = Infinity
  heapIndex = -1
  /** For the watchdog: whether a renewal is on its way, how many failed in a row, and when to ask. */
  renewing = false
  failures = 0
  mayRenewAt = Infinity
  askAgain = Infinity
  /** In how large a batch it may be asked about: less than all while one of a batch made its answer strange, and which one is not known. */
  batchLimit = Infinity
  readonly wire: string
  protected readonly host: TenureHost
  /** When it was known to be granted: from then on others here may have it without the server. */
  opened: number
  /** Where among all moments it was asked for. */
  order: number
  /** Granted, and not confirmed yet: for a short while only. */
  trial = false
  confirming: Promise<unknown> | undefined
  passes = 0
  /** The server said that it is not ours. */
  taken = false
  /** Who had it after the first, and has a place in the line of the server still: it goes with the tenure. */
  served: string[] = NOBODY
  /** The newest fencing token that came for it, where the kind has them. */
  token: bigint | undefined
  protected ended: 'lost' | 'over' | undefined
  readonly #deadline: Deadline

  constructor(host: TenureHost, wire: string, terms: Terms, sent: Moment) {
    super(terms)
    this.host = host
    this.wire = wire
    this.opened = host.runtime.options.clock.monotonic()
    this.order = sent.order
    this.#deadline = new Deadline(sent, terms.lease)
    this.token = host.protocol.takeToken?.(wire)
  }

  /** It has taken over from that one, whose time at the gate goes on. */
  succeed({ opened, order, passes }: Tenure): void {
    this.opened = opened
    this.order = order
    this.passes = passes + 1
  }

  get name(): string {
    return this.host.name
  }

  get protocol(): HeldProtocol {
    return this.host.protocol
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

  /** When the server was asked that last confirmed it. */
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

  /** The machine was suspended for so long. */
  slept(ms: number, now: number): void {
    this.#deadline.slept(ms, now)
    for (const hold of this.holds) hold.slept(ms)
  }

  /** What it finds to be over ends at once. */
  status(): 'held' | 'uncertain' | 'lost' {
    if (this.ended !== undefined) return 'lost'
    const status = this.#deadline.status(this.#clock, this.terms, this.trial)
    if (status === 'lost') {
      this.lose(this.watched ? 'it could not be renewed before its lease ran out' : 'its lease ran out', true)
    }
    return status
  }

  /** ms until it counts as lost. */
  remaining(): number {
    return this.status() === 'lost' ? 0 : this.#deadline.remaining(this.#clock)
  }

  /** False: it was asked too long ago to count. */
  proved(sent: Moment, left: number): boolean {
    return this.#deadline.proved(sent, left, this.lease)
  }

  /** It was asked about. Nothing is certain for longer than somebody here asked for, whatever expiry another program has set; nor for longer where nobody renews it. */
  found(sent: Moment, left: number): boolean {
    if (this.watched) return this.proved(sent, Math.min(left, this.longestLease))
    const most = this.lastsUntil - sent.mono
    // The server's word is rounded down, and as old as the question at most: where what was known fits it, that stands.
    const latest = left + this.now().mono - sent.mono + 1
    return this.proved(sent, left >= 0 && most > latest ? left : most)
  }

  /** From now on it is on these terms, and lasts no longer. */
  change(terms: Terms, sent: Moment): void {
    this.terms = terms
    this.proved(sent, terms.lease)
  }

  /** It was granted, and is given away after `left` ms unless it is confirmed. */
  onTrial(now: Moment, left: number): void {
    this.trial = true
    this.proved(now, left)
    this.moved()
  }

  /** It lasts for `left` ms, counted from `sent`; 0: it was gone. */
  confirmed(left: number, sent: Moment): void {
    this.trial = false
    if (left === 0) this.lose('somebody else released it, or its key was deleted', false)
    // A change of level on its way may have proven more by now.
    else if (sent.mono >= this.provenAt) this.proved(sent, left)
    this.moved()
  }

  /** By the watchdog. */
  renewed(): void {
    this.host.runtime.lockEvents.renewed(this.host, this.wire)
  }

  doubt(cause: unknown): void {
    if (this.over || this.doubtful) return
    this.#deadline.doubted(cause)
    this.host.runtime.lockEvents.doubted(this.host, this.wire, cause)
  }

  /** Another server may be the master by now: in doubt until that has answered. */
  question(now: Moment, cause: unknown): void {
    if (this.over) return
    const fresh = !this.doubtful
    this.#deadline.questioned(now, cause)
    if (fresh) this.host.runtime.lockEvents.doubted(this.host, this.wire, cause)
  }

  lose(why: string, ours: boolean): void {
    if (!ours) this.taken = true
    if (this.over) return
    const cause = this.#deadline.doubt
    const error = new LockLostError(this.name, why, cause === undefined ? {} : { cause })
    this.ended = 'lost'
    for (const hold of this.holds) hold.end('lost', error)
    this.host.lost(this, error, ours || this.protocol.divisible === true)
  }

  /** Given back, passed to another owner on the server, or detached. */
  end(): void {
    this.ended ??= 'over'
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
    this.moved()
    return true
  }

  /** Asks whether it is still ours, and changes nothing. */
  async verify(): Promise<void> {
    const sent = this.now()
    const left = await this.host.runtime.watchdog.leftOf(this)
    if (this.over) return
    if (left === -2) {
      this.lose('somebody else released it, or its key was deleted', false)
      return
    }
    // It can be read, but not written: the renewals that fail count, not this.
    if (this.watched && this.doubtful) return
    this.failures = 0
    // A change of level on its way may have proven more by now; of a trial its confirmation tells.
    if (sent.mono >= this.provenAt && !this.trial) this.found(sent, left)
    this.moved()
  }
}

const NOBODY: string[] = []
