import { onAbort, reasonOf } from '../../base/abort.js'
import { limitAnswers, type Timer } from '../../base/clock.js'
import { POLL } from '../../script-times-and-limits.js'
import type { Runtime } from '../../core/client/runtime.js'
import { isTransient } from '../../core/server/transient-or-unsure-errors.js'
import { AcquireTimeoutError } from '../../errors.js'
import type { Computation } from './computation.js'
import type { Follower } from './follower.js'
import type { Outcome } from './flight-outcome.js'

/** The pause after a round in which another process began and ended between two questions, ms. It doubles with each round. */
const BETWEEN = 5

/** One of the calls of this process. */
export interface Caller {
  /** When its wait ends, on the monotonic clock. */
  readonly until: number
  /** How long the wait was at first, ms. 0: the call does not wait. */
  readonly wait: number
  readonly signal: AbortSignal | undefined
  /** If this process computes, it runs the work of this call. */
  readonly works: boolean
}

interface Waiting extends Caller {
  readonly reject: (error: unknown) => void
  /** Without an outcome, the call begins again, with another flight. */
  readonly leave: (outcome?: Outcome) => void
}

export interface LocalFlightOptions {
  readonly title: string
  readonly runtime: Runtime
  /** An outcome counts if its token differs from this one. */
  readonly after: bigint
  /** Another process was computing when this one looked. */
  readonly held: boolean
  /** Called when no further call can join. */
  readonly over: () => void
}

/** All calls of one process for one key. They compute once, or wait together for the process that computes. */
export class LocalFlight {
  readonly outcome: Promise<Outcome>
  readonly #options: LocalFlightOptions
  readonly #follower: Follower
  readonly #callers = new Set<Waiting>()
  readonly #left = new AbortController()
  #phase: 'asking' | 'troubled' | 'computing' | 'following' = 'asking'
  /** The call whose work it was has had its outcome before it was certain. */
  #isEarly = false
  /** The trouble that delays the outcome. */
  #trouble: unknown

  constructor(options: LocalFlightOptions, computation: Computation, follow: (signal: AbortSignal) => Follower) {
    this.#options = options
    this.#follower = follow(this.#left.signal)
    this.outcome = this.#fly(computation, this.#follower)
    this.outcome.catch(() => undefined).finally(options.over)
  }

  /** `undefined`: the call must begin again. */
  async join(caller: Caller): Promise<Outcome | undefined> {
    const { until, wait, signal } = caller
    const { clock } = this.#options.runtime.options
    let reject!: (error: unknown) => void
    let leave!: Waiting['leave']
    const ended = new Promise<Outcome | undefined>((resolve, refuse) => {
      reject = refuse
      leave = resolve
    })
    ended.catch(() => undefined)
    const me: Waiting = { ...caller, reject, leave }
    let unlisten: (() => void) | undefined
    let timer: Timer | undefined
    try {
      // This comes first, because a signal of the caller's own class may throw.
      unlisten = signal && onAbort(signal, () => reject(reasonOf(signal)))
      if (signal?.aborted === true) throw reasonOf(signal)
      this.#callers.add(me)
      if (wait > 0 && until !== Infinity)
        timer = limitAnswers(clock, () => this.#late(me), Math.max(0, until - clock.monotonic()))
      if (wait === 0 && this.#phase !== 'asking') this.#late(me)
      return await Promise.race([this.outcome, ended])
    } finally {
      timer?.cancel()
      unlisten?.()
      this.#callers.delete(me)
      // Other processes may want a result that is being computed. If this one only follows, it can stop.
      if (this.#phase !== 'computing') this.#callEnded(caller)
    }
  }

  /** Work that has not begun must not begin after its call has ended: the others begin again, with their own. */
  #callEnded({ works }: Pick<Caller, 'works'>): void {
    if (works) {
      this.#disband()
      this.#left.abort(new DOMException('the call has ended', 'AbortError'))
    }
    this.#leaveIfAlone()
  }

  /** Calls that only share this begin again. */
  #disband(): void {
    this.#options.over()
    for (const { works, leave } of this.#callers) if (!works) leave()
  }

  /** For the call whose work it was. The others wait until it is certain, and else begin again. */
  #early(outcome: Outcome): void {
    this.#isEarly = true
    for (const { works, leave } of this.#callers) if (works) leave(outcome)
  }

  #leaveIfAlone(): void {
    if (this.#callers.size > 0) return
    this.#options.over()
    this.#left.abort(new DOMException('no call waits any more', 'AbortError'))
  }

  /** The time that a caller's own work takes does not count. */
  #late(caller: Waiting): void {
    if (caller.works && this.#phase === 'computing') return
    const { title } = this.#options
    const meets = caller.wait === 0 && this.#phase === 'troubled'
    caller.reject(meets ? this.#trouble : new AcquireTimeoutError(title, caller.wait, this.#trouble))
  }

  /** A call that joins has seen this process compute, or none: a message of another one is from before that. */
  doubt(holder: string | undefined): void {
    this.#follower.doubt(holder)
  }

  async #fly(computation: Computation, follower: Follower): Promise<Outcome> {
    const { after: first, held } = this.#options
    try {
      for (let [after, follows, rounds] = [first, held, 0]; ;) {
        this.#enter(follows ? 'following' : 'asking')
        const stages = {
          began: () => this.#enter('computing'),
          troubled: (trouble: unknown) => this.#troubled(trouble),
          left: this.#left.signal,
          lost: () => this.#disband(),
          early: (outcome: Outcome) => this.#early(outcome),
        }
        const seen = after
        const outcome = await this.#waitedOut(follows ? follower.follow(seen) : computation.run(seen, stages))
        if (typeof outcome === 'object' && !('unreadable' in outcome)) return outcome
        if (typeof outcome === 'object') after = outcome.unreadable
        this.#phase = 'asking'
        // Work whose call has its outcome is not run again.
        if (this.#isEarly) this.#callEnded({ works: true })
        this.#leaveIfAlone()
        if (outcome === 'again') continue
        // Nobody computes, if it only followed: so it tries at once.
        if (!follows && rounds > 0) await this.#options.runtime.background.pause(Math.min(POLL, BETWEEN * 2 ** rounds))
        follows = !follows
        rounds++
      }
    } finally {
      follower.end()
    }
  }

  #enter(phase: 'asking' | 'computing' | 'following'): void {
    this.#left.signal.throwIfAborted()
    this.#phase = phase
    const now = this.#options.runtime.options.clock.monotonic()
    for (const caller of [...this.#callers])
      if (caller.wait === 0 ? phase !== 'asking' : caller.until <= now) this.#late(caller)
  }

  /** The flight waits for the trouble to pass. Calls that do not wait end with it. */
  #troubled(trouble: unknown): void {
    this.#trouble = trouble
    this.#phase = 'troubled'
    for (const { wait, reject } of this.#callers) if (wait === 0) reject(trouble)
  }

  /** Waits while the server is away. */
  async #waitedOut<T>(step: Promise<T>): Promise<T | 'again'> {
    try {
      return await step
    } catch (error) {
      if (!isTransient(error)) throw error
      this.#troubled(error)
      await this.#options.runtime.background.pause(POLL)
      return 'again'
    }
  }
}
