import { HoldfastError, LockLostError } from '../../errors.js'
import type { Moment } from '../../base/clock.js'
import type { UnitOfWork } from '../../base/owner.js'
import { FREED, type Holder, type HoldHost, TenureHold } from './hold.js'
import type { BackgroundWork } from '../server/background-work.js'
import type { LevelsHost } from './levels-host.js'
import { marginOf } from './safety-margin.js'
import type { LeaseTerms } from './lease-terms.js'
import { quoted } from '../../plain-text.js'

/** How many holds an owner may have at a time: the scripts accept no higher count for a holdfast owner (`LEVEL_COUNT`). */
const MOST_LEVELS = 9999

/**
 * The levels of a tenure: its owner may acquire the lock again, and must release it as often. The server knows the number of
 * holds. Each change of that number waits for the one before it; a single hold waits for nothing.
 */
export abstract class ReentrantLevels implements HoldHost {
  abstract readonly name: string
  abstract readonly wire: string
  abstract readonly token: bigint | undefined
  abstract readonly taken: boolean
  abstract readonly served: readonly string[]
  /** Granted, but not confirmed yet. */
  abstract readonly trial: boolean
  /** How often it was passed on to another owner here. */
  abstract readonly passes: number
  /** The answer to the confirmation of a trial; undefined if the server did not answer. */
  abstract readonly confirming: Promise<unknown> | undefined
  abstract readonly proven: Moment
  abstract readonly lostAt: number
  abstract readonly steadyLostAt: number
  protected abstract readonly host: LevelsHost<this>
  protected abstract readonly ended: 'lost' | 'over' | undefined
  protected holds: readonly TenureHold[] = NONE
  /** No caller waits for the answer to the last release. */
  unawaited = false
  protected terms: LeaseTerms
  /** Ends the pause of a lost tenure whose holder may still work. */
  #idle: (() => void) | undefined
  /** The last change that is in progress. */
  #changing: Promise<unknown> | undefined

  constructor(terms: LeaseTerms) {
    this.terms = terms
  }

  abstract now(): Moment
  abstract status(): 'held' | 'uncertain' | 'lost'
  abstract remaining(): number
  abstract moved(): void
  abstract lose(why: string, ours: boolean): void
  /** False: it was lost. */
  abstract setLevel(level: number, lease: number): Promise<boolean>

  get watched(): boolean {
    return this.terms.watched
  }

  get lease(): number {
    return this.terms.lease
  }

  get over(): boolean {
    return this.ended !== undefined
  }

  get level(): number {
    return this.holds.length
  }

  get owner(): UnitOfWork | undefined {
    return this.holds[0]?.owner
  }

  get innermost(): TenureHold | undefined {
    return this.holds.at(-1)
  }

  /** When the first of its levels ends. */
  get lapseAt(): number {
    return this.holds.length === 1
      ? (this.holds[0] as TenureHold).overAt
      : Math.min(...this.holds.map((hold) => hold.overAt))
  }

  // ---- one level more, one level less ------------------------------------------------------------------------------

  /** Makes the first hold, or the hold of the next owner in this process. No other hold exists at this moment. */
  give(holder: Holder): TenureHold {
    const hold = new TenureHold(this, holder, this.terms, this.proven)
    this.holds = [hold]
    this.host.given?.(this, holder.owner)
    return hold
  }

  /** Adds a level. Undefined: the tenure has ended. */
  enter(holder: Holder, terms: LeaseTerms): Promise<TenureHold | undefined> {
    const { passes } = this
    return this.inOrder(async () => {
      await this.#afterTrial()
      // Earlier changes may have passed it on to another owner.
      if (this.status() === 'lost' || this.passes !== passes) return undefined
      if (this.level >= MOST_LEVELS) {
        throw new RangeError(`${quoted(this.name)} is held ${MOST_LEVELS} times by its owner, which is the maximum`)
      }
      const sent = this.now()
      if (!(await this.setLevel(this.holds.length + 1, terms.lease))) return undefined
      if (this.over) return undefined
      const hold = new TenureHold(this, holder, terms, sent)
      this.holds = [...this.holds, hold]
      this.#renegotiate()
      return hold
    })
  }

  /** Removes a level. False: it was lost, or the server did not answer in time; then this goes on in the background. */
  leave(hold: TenureHold): Promise<boolean> {
    this.holds = this.holds.filter((other) => other !== hold)
    this.unawaited = false
    if (hold.mode === 'sent') return this.#send()
    const alone = this.holds.length === 0 && this.#changing === undefined
    return alone ? this.#left() : this.#within(this.inOrder(() => this.#left()))
  }

  #within(released: Promise<boolean>): Promise<boolean> {
    return this.host.runtime.releases.within(released, false)
  }

  /** Resolves when the step is written. While there is no connection, that takes as long as any other release. */
  #send(): Promise<boolean> {
    if (this.holds.length === 0 && this.#changing === undefined) {
      const left = this.#leftUnawaited()
      return this.unawaited ? FREED : left
    }
    const sent = new Promise<boolean>((resolve, reject) => {
      const left = this.inOrder(() => {
        const step = this.#leftUnawaited()
        resolve(this.unawaited ? FREED : step)
        return step
      })
      left.catch(reject)
    })
    return this.#within(sent)
  }

  #leftUnawaited(): Promise<boolean> {
    const { runtime, protocol } = this.host
    // What is over has its answer already.
    this.unawaited = runtime.writes && this.ended === undefined
    const left = this.#left()
    if (this.unawaited) runtime.unanswered.add(protocol.key, left)
    return left
  }

  #left(): Promise<boolean> {
    if (this.ended !== undefined && (this.ended === 'lost' || this.holds.length === 0)) {
      return Promise.resolve(this.ended === 'over' && !this.taken)
    }
    return this.holds.length === 0 ? this.host.giveBack(this) : this.#lower()
  }

  async #lower(): Promise<boolean> {
    this.#renegotiate()
    const level = this.holds.length
    // While the server does not answer, the caller may release more levels. Then this step is obsolete.
    const obsolete = (): boolean => this.holds.length < level
    const step = (): Promise<boolean> => (obsolete() ? NO : this.setLevel(level, this.lease))
    const outcome = await this.host.runtime.retry.insist(step, this.lostAt)
    const done = 'answer' in outcome && outcome.answer
    if (!done && obsolete()) return this.#left()
    return done || this.ended === 'over'
  }

  /** Ends the levels whose own lease is over. */
  lapseDue(): void {
    for (const hold of this.holds) hold.look()
  }

  /** The lease of this level is over; the other levels go on. */
  lapse(hold: TenureHold): void {
    if (this.over || !this.holds.includes(hold)) return
    // The last level stays on the server until its lease ends there, so that the holder has time to stop.
    if (this.holds.length === 1) {
      this.lose('its lease ended', true)
      return
    }
    this.holds = this.holds.filter((other) => other !== hold)
    const error = new LockLostError(this.name, 'its lease ended')
    hold.end('lost', error)
    this.host.runtime.lockEvents.lost(this.host, this.wire, error)
    void this.inOrder(() => this.#left())
  }

  /** The client closes: every hold ends, and its signal gets the reason. */
  abandon(reason: Error): void {
    for (const hold of this.holds) hold.end('released', reason)
    this.holds = NONE
  }

  // ---- lost, and perhaps still on the server -------------------------------------------------------------------------

  /** Until when the lease lasts by the monotonic clock alone, less the margin. If only the wall clock was set, the server keeps it so long. */
  get keptUntil(): number {
    if (this.taken) return -Infinity
    if (this.trial) return this.steadyLostAt
    return Math.max(-Infinity, ...this.holds.map(({ steadyOverAt }) => steadyOverAt ?? this.steadyLostAt))
  }

  /** Resolves when a lost tenure may be freed: after the margin, and then when its holder has stopped or its lease is over. */
  async untilStopped(background: Pick<BackgroundWork, 'pause'>): Promise<void> {
    const margin = marginOf(this.lease)
    await background.pause(margin)
    const left = this.keptUntil + margin - this.now().mono
    if (left <= 0) return
    await background.pause(left, (wake) => {
      this.#idle = wake
      this.stopped()
    })
  }

  /** A lost hold was released. When all are, nobody works under the tenure any more. */
  stopped(): void {
    if (this.holds.every(({ letGo }) => letGo)) this.#idle?.()
  }

  // ---- changes of one level ----------------------------------------------------------------------------------------

  /** Makes the time left at least `lease`. Rejects if the hold is lost, or if the server does not answer. */
  extend(hold: TenureHold, lease: number): Promise<Moment> {
    return this.#asked(async () => {
      await this.#afterTrial()
      const sent = this.now()
      if (!this.#has(hold) || !(await this.setLevel(this.level, lease)) || !this.#has(hold)) throw hold.over('extended')
      return sent
    })
  }

  detach(hold: TenureHold): Promise<string> {
    return this.#asked(async () => {
      const ticket = this.host.ticketOf(this, this.terms)
      // The client that adopts the hold must not find it still in the line.
      await this.#afterTrial()
      if (!this.#has(hold)) throw hold.over('detached')
      this.mustNotBeNested()
      if (!(await this.setLevel(1, this.lease)) || !this.#has(hold)) throw hold.over('detached')
      this.mustNotBeNested()
      hold.end('detached')
      this.holds = NONE
      this.host.detach(this)
      return ticket
    })
  }

  /** Throws if the owner has more than one hold of the lock. */
  mustNotBeNested(): void {
    if (this.level <= 1 && this.host.carries?.() !== true) return
    const message = `${quoted(this.name)} is held more than once: release the other holds first`
    throw new HoldfastError('NESTED_HOLD', message, { target: this.name })
  }

  /** Waits for a confirmation in progress: it could still shorten the lease that the next step sets or reads. */
  async #afterTrial(): Promise<void> {
    const answered = !this.trial || (await this.confirming) !== undefined
    // An unanswered confirmation may still run later.
    if (!answered && !this.over) this.lose('its grant could not be confirmed', true)
  }

  /** The longest lease of all levels. */
  protected get longestLease(): number {
    return this.holds.reduce((most, { terms }) => Math.max(most, terms.lease), this.lease)
  }

  #has(hold: TenureHold): boolean {
    return this.status() !== 'lost' && this.holds.includes(hold)
  }

  /** The watchdog renews as long as one level wants that; otherwise the longest fixed lease counts. */
  #renegotiate(): void {
    const renewed = this.holds.filter((hold) => hold.terms.watched)
    const watched = renewed.length > 0
    const lease = Math.max(...(watched ? renewed : this.holds).map((hold) => hold.terms.lease))
    this.terms = { lease, watched }
    this.moved()
  }

  #asked<T>(step: () => Promise<T>): Promise<T> {
    return this.host.runtime.untilClosed(() => this.inOrder(step), this.name)
  }

  /** Runs the step after all changes in progress, so that the server gets the changes in the order of the calls. */
  inOrder<T>(step: () => Promise<T>): Promise<T> {
    const change = this.#changing === undefined ? step() : this.#changing.then(step, step)
    this.#changing = change
    const done = (): void => {
      if (this.#changing === change) this.#changing = undefined
    }
    change.then(done, done)
    return change
  }
}

const NONE: readonly TenureHold[] = []
const NO: Promise<boolean> = Promise.resolve(false)
