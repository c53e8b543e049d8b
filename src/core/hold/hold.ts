import { ClosedError, LockLostError, NotOwnerError } from '../../errors.js'
import { checkLease } from '../../check-arguments.js'
import type { Hold, HoldEnd, HoldState, ReleaseMode } from '../../api/hold.js'
import type { Moment } from '../../base/clock.js'
import type { UnitOfWork } from '../../base/owner.js'
import { ScopedAbort } from '../../base/scope.js'
import type { LeaseTerms } from './lease-terms.js'
import { marginOf } from './safety-margin.js'
import { quoted } from '../../plain-text.js'

/** Who gets a hold, and how it is released. */
export interface Holder {
  readonly owner: UnitOfWork
  readonly release: ReleaseMode
}

/** Learns once how a hold ended. */
export interface HoldWatch {
  ended(how: HoldEnd): void
}

/** The tenure of which a hold is one level. */
export interface HoldHost {
  readonly name: string
  readonly wire: string
  readonly token: bigint | undefined
  /** The server said that the hold is not ours. */
  readonly taken: boolean
  /** Wire names of later owners that still have a place in the line on the server. */
  readonly served: readonly string[]
  now(): Pick<Moment, 'mono' | 'wall'>
  status(): 'held' | 'uncertain' | 'lost'
  remaining(): number
  leave(hold: TenureHold): Promise<boolean>
  lapse(hold: TenureHold): void
  /** A lost hold was released: its holder has stopped. */
  stopped(): void
  extend(hold: TenureHold, lease: number): Promise<Moment>
  detach(hold: TenureHold): Promise<string>
  /** The terms or the deadline have changed. */
  moved(): void
  /** Throws if the owner has more than one hold of the lock. */
  mustNotBeNested(): void
}

/** When a fixed lease ends. `steady`: on the monotonic clock, whatever that has missed. */
interface End extends Pick<Moment, 'mono' | 'wall'> {
  readonly steady: number
}

/** One level of a tenure: the hold that the caller gets. */
export class TenureHold implements Hold {
  readonly #tenure: HoldHost
  readonly owner: UnitOfWork
  readonly terms: LeaseTerms
  readonly mode: ReleaseMode
  #end: 'released' | 'lost' | 'detached' | undefined
  #reason: Error | undefined
  /** Set if somebody listens for its end. */
  #watch: HoldWatch | undefined
  /** Created on first use: most callers never use the signal. */
  #controller: ScopedAbort | undefined
  #released: Promise<boolean> | undefined
  /** When a fixed lease ends, on both clocks. It does not depend on the other levels of the tenure. */
  #over: End | undefined

  constructor(tenure: HoldHost, { owner, release }: Holder, terms: LeaseTerms, sent: Moment) {
    this.#tenure = tenure
    this.owner = owner
    this.mode = release
    this.terms = terms
    if (!terms.watched) this.#lasts(terms.lease, sent)
  }

  /** When a fixed lease ends, on the monotonic clock. */
  get overAt(): number {
    return this.#over?.mono ?? Infinity
  }

  /** Undefined: it is renewed. */
  get steadyOverAt(): number | undefined {
    return this.#over?.steady
  }

  /** Its holder has called `release`. */
  get letGo(): boolean {
    return this.#released !== undefined
  }

  #lasts(lease: number, sent: Moment): void {
    const certain = lease - marginOf(lease)
    const { mono, wall, steady } = this.#over ?? { ...sent, steady: sent.mono }
    const end = sent.mono + certain
    this.#over = { mono: Math.max(mono, end), wall: Math.max(wall, sent.wall + certain), steady: Math.max(steady, end) }
  }

  /** From now on the hold lasts for `lease`, and no longer. */
  lastsOnly(lease: number, sent: Moment): void {
    this.#over = undefined
    this.#lasts(lease, sent)
  }

  /** The monotonic clock has missed `ms` of the lease. */
  slept(ms: number): void {
    if (this.#over !== undefined) this.#over = { ...this.#over, mono: this.#over.mono - ms }
  }

  get name(): string {
    return this.#tenure.name
  }

  /** Of a fenced lock: the newest token, whichever level brought it. */
  get token(): bigint | undefined {
    return this.#tenure.token
  }

  /** The name under which the server has it. */
  get wire(): string {
    return this.#tenure.wire
  }

  get tenure(): HoldHost {
    return this.#tenure
  }

  get state(): HoldState {
    // If the tenure notices that it is over, it ends at once, and this hold with it.
    if (this.#end === undefined) {
      const status = this.#tenure.status()
      if (status !== 'lost' && this.#left() > 0) return status
      this.#tenure.lapse(this)
    }
    return this.#end ?? 'lost'
  }

  /** Ends the hold if it is over by the clock. */
  look(): void {
    if (this.#end !== undefined) return
    if (this.#tenure.status() === 'lost' || this.#left() <= 0) this.#tenure.lapse(this)
  }

  /** Set if the client was closed while this was held. */
  get closed(): ClosedError | undefined {
    return this.#reason instanceof ClosedError ? this.#reason : undefined
  }

  get lost(): boolean {
    return this.state === 'lost'
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new ScopedAbort(() => this.look())
      this.look()
      if (this.#reason !== undefined) this.#controller.abort(this.#reason)
    }
    return this.#controller.signal
  }

  remaining(): number {
    const { state } = this
    return state === 'held' || state === 'uncertain' ? Math.min(this.#tenure.remaining(), this.#left()) : 0
  }

  #left(): number {
    if (this.#over === undefined) return Infinity
    const now = this.#tenure.now()
    return Math.min(this.#over.mono - now.mono, this.#over.wall - now.wall)
  }

  async extend(lease: number = this.terms.lease): Promise<void> {
    checkLease(lease)
    if (this.terms.watched) {
      throw new RangeError(
        `extend(${lease}): ${quoted(this.name)} is renewed by the watchdog; only a fixed lease can be extended`,
      )
    }
    if (this.state === 'lost') throw this.#gone()
    this.#mustBeLive('extended')
    this.#lasts(lease, await this.#tenure.extend(this, lease))
    this.#tenure.moved()
  }

  release(): Promise<boolean> {
    const released = (this.#released ??= this.#release())
    if (this.#end === 'lost') this.#tenure.stopped()
    return released
  }

  #release(): Promise<boolean> {
    const state = this.state
    if (state !== 'held' && state !== 'uncertain') return NOT_OURS
    this.#ends('released')
    return this.#tenure.leave(this)
  }

  /** The server said that the hold was not ours any more. */
  get taken(): boolean {
    return this.#tenure.taken
  }

  async detach(): Promise<string> {
    if (this.state === 'lost') throw this.#gone()
    this.#mustBeLive('detached')
    this.#tenure.mustNotBeNested()
    return this.#tenure.detach(this)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.release()
  }

  /** Called by the tenure when this hold is over. A reason fires the signal. */
  end(how: 'released' | 'lost' | 'detached', reason?: Error): void {
    if (this.#end !== undefined) return
    this.#reason = reason
    this.#ends(how)
    if (reason !== undefined) this.#controller?.abort(reason)
  }

  observe(watch: HoldWatch): void {
    this.#watch = watch
    if (this.#end !== undefined) this.#ends(this.#end)
  }

  #ends(how: 'released' | 'lost' | 'detached'): void {
    this.#end = how
    this.#watch?.ended(how === 'lost' && this.taken ? 'forced' : how)
  }

  /** Why the hold cannot be extended or detached: it was lost, or another call has ended it in the meantime. */
  over(verb: 'extended' | 'detached'): Error {
    if (this.#end === undefined || this.#end === 'lost') return this.#gone()
    return this.closed ?? new NotOwnerError(this.name, `this hold: it was ${this.#end}, so it cannot be ${verb}`)
  }

  #gone(): LockLostError {
    return new LockLostError(this.name, 'it is no longer held')
  }

  #mustBeLive(verb: 'extended' | 'detached'): void {
    if (this.#end !== undefined) throw this.over(verb)
  }
}

const NOT_OURS = Promise.resolve(false)
/** Passed on within the process: there is nothing to wait for. */
export const FREED = Promise.resolve(true)
