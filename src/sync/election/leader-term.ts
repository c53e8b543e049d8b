import { ScopedAbort } from '../../base/scope.js'
import type { Timer } from '../../base/clock.js'
import type { TenureHold } from '../../core/hold/hold.js'
import type { Runtime } from '../../core/client/runtime.js'
import { LockLostError } from '../../errors.js'
import type { Written } from '../../codecs/value-as-text.js'
import type { Claim, LeaderRecord } from './leader-record.js'
import { isFinal, persist } from './final-errors.js'
import { marginOf } from '../../core/hold/safety-margin.js'
import { isAway, troubleOf } from '../../away-or-refusing.js'
import { quoted } from '../../plain-text.js'

/** A leader's lease and renewal deadline, ms. */
export interface Times {
  readonly lease: number
  readonly renewDeadline: number
}

/** What all terms of a candidate share. */
export interface Reigning {
  readonly runtime: Runtime
  readonly leadership: LeaderRecord
  readonly times: Times
  readonly value: Written
}

/** Why a term is over. */
export type End = 'lost' | 'resigned' | 'stopped'

/** One term of this client, from the grant of the lock to its release. */
export class LeaderTerm {
  readonly hold: TenureHold
  readonly term: bigint
  /** Resolves when the lock was released. */
  readonly settled: Promise<void>
  /** The work runs, perhaps even after the end of the term. */
  busy = false
  readonly #runtime: Runtime
  readonly #leadership: LeaderRecord
  readonly #times: Times
  readonly #abort: ScopedAbort
  #settle: () => void = () => undefined
  #claim: Claim
  #ended: End | undefined
  /** On the monotonic clock. */
  #endedAt = Infinity
  #timer: Timer | undefined
  /** The trouble with the record that was reported last. */
  #trouble: string | undefined

  constructor(hold: TenureHold, { runtime, leadership, times, value }: Reigning) {
    this.#runtime = runtime
    this.#leadership = leadership
    this.#times = times
    this.hold = hold
    this.term = hold.token as bigint
    this.#claim = { owner: hold.tenure.wire, term: this.term, revision: 0, ...value }
    this.settled = new Promise((resolve) => {
      this.#settle = resolve
    })
    this.#abort = new ScopedAbort(() => this.ended())
    hold.signal.addEventListener('abort', this.#look, { once: true })
    hold.signal.addEventListener('abort', this.#closed, { once: true })
    this.#watch()
  }

  get signal(): AbortSignal {
    return this.#abort.signal
  }

  /** Computed from the clock on each call, like the state of a hold. */
  ended(): End | undefined {
    this.#look()
    return this.#ended
  }

  /** The work runs, and the term is not over. */
  get working(): boolean {
    return this.busy && this.ended() === undefined
  }

  /** The work continues although another client may lead now, or soon; or the work keeps every client from leading. */
  get overdue(): boolean {
    const ended = this.ended()
    if (!this.busy || ended === undefined) return false
    return ended === 'lost' || this.#runtime.options.clock.monotonic() - this.#endedAt > this.#times.lease
  }

  end(how: End, reason: unknown): void {
    if (this.#ended !== undefined) return
    this.#ended = how
    this.#endedAt = this.#runtime.options.clock.monotonic()
    this.#timer?.cancel()
    this.#abort.abort(reason)
  }

  readonly #look = (): void => {
    if (this.#ended !== undefined) return
    const { hold } = this
    const left = hold.remaining()
    if (left === 0) this.end('lost', hold.signal.reason ?? this.#lost('its lease ended'))
    else if (left <= this.#rest) this.end('lost', this.#lost(`it was not renewed for ${this.#times.renewDeadline} ms`))
  }

  /** The client closes, and frees the lock: it sends that in this very tick. The work may go on, so this does not wait for it. */
  readonly #closed = (): void => {
    if (this.#runtime.closed) this.#withdraw()
  }

  #withdraw(): void {
    const withdrawn = this.#leadership.withdraw(this.#claim.owner).catch(() => undefined)
    this.#runtime.background.track(withdrawn)
  }

  /** How much of the time for which the hold is certain is left when the deadline passes. */
  get #rest(): number {
    const { lease, renewDeadline } = this.#times
    return lease - marginOf(lease) - renewDeadline
  }

  #lost(why: string, cause?: unknown): LockLostError {
    return new LockLostError(this.hold.name, why, { cause })
  }

  /** Looks again when the deadline would have passed without a renewal. Also makes the server keep the record for observers longer. */
  #watch(): void {
    const due = (): void => {
      if (this.ended() !== undefined) return
      if (this.busy) void this.#keep()
      this.#watch()
    }
    this.#timer = this.#runtime.options.clock.setTimer(due, Math.max(1, this.hold.remaining() - this.#rest), {
      background: true,
    })
  }

  /** Reports each trouble once, until the record is written again. If the server is away, the client reports that. */
  async #keep(): Promise<void> {
    try {
      await this.#write(false)
      this.#trouble = undefined
    } catch (error) {
      const trouble = troubleOf(error)
      if (trouble === this.#trouble || isAway(error) || this.ended() !== undefined) return
      this.#trouble = trouble
      this.#runtime.fail(
        error,
        `could not write who leads ${quoted(this.hold.name)}, so others may see nobody, or an old value`,
      )
    }
  }

  #write(isChange: boolean): Promise<boolean> {
    return this.#leadership.proclaim(this.#claim, this.#times.lease, isChange)
  }

  /** Writes the record, and notifies the observers after that. Rejects if the term is over, or if the server refuses. */
  async proclaim(value?: Written): Promise<void> {
    if (value !== undefined) this.#claim = { ...this.#claim, ...value, revision: this.#claim.revision + 1 }
    const step = async (): Promise<boolean> => this.ended() === undefined && this.#write(true)
    const { clock } = this.#runtime.options
    const last = clock.monotonic() + this.#times.renewDeadline
    const until = (): number => Math.min(last, clock.monotonic() + this.hold.remaining())
    const outcome = await persist(this.#runtime, step, until)
    if ('error' in outcome && (isFinal(outcome.error) || this.ended() === undefined)) throw outcome.error
    if ('error' in outcome) throw this.#lost('it ended before the leader was proclaimed', outcome.error)
    if (!outcome.answer) throw this.#lost('it ended before the leader was proclaimed')
  }

  /** Releases the lock, so that the next candidate leads. */
  async over(): Promise<void> {
    this.busy = false
    const { hold } = this
    // Code that the work left running learns about the end, too.
    this.end('resigned', new DOMException(`${quoted(hold.name)}: the term is over`, 'AbortError'))
    hold.signal.removeEventListener('abort', this.#look)
    hold.signal.removeEventListener('abort', this.#closed)
    // Both commands go out one after the other, so the next leader does not wait for another round trip.
    this.#withdraw()
    await hold.release()
    this.#settle()
  }
}
