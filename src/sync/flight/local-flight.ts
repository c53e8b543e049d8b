import { onAbort, reasonOf } from '../../base/abort.js'
import { limitAnswers } from '../../base/clock.js'
import { POLL } from '../../constants.js'
import type { Runtime } from '../../core/client/runtime.js'
import { isTransient } from '../../core/server/error-kinds.js'
import { AcquireTimeoutError } from '../../errors.js'
import type { Computation } from './computation.js'
import type { Follower } from './follower.js'
import type { Outcome } from './outcome.js'

/** Between two attempts that found nobody, ms. */
const BETWEEN = 5

/** Which of the calls of this process. */
export interface Caller {
  readonly wait: number
  readonly signal: AbortSignal | undefined
  /** It is this call's work that is done where this process computes. */
  readonly works: boolean
}

interface Waiting extends Caller {
  readonly reject: (error: unknown) => void
}

export interface LocalFlightOptions {
  readonly title: string
  readonly runtime: Runtime
  /** Ends of newer tokens count. */
  readonly after: bigint
  /** Another process computed when this one looked. */
  readonly held: boolean
  /** Nobody can join any more. */
  readonly over: () => void
}

/** All calls of one process for one key: they compute once, or wait once for the process that does. */
export class LocalFlight {
  readonly outcome: Promise<Outcome>
  readonly #options: LocalFlightOptions
  readonly #callers = new Set<Waiting>()
  readonly #left = new AbortController()
  #phase: 'asking' | 'computing' | 'following' = 'asking'
  /** Why it takes so long. */
  #trouble: unknown

  constructor(options: LocalFlightOptions, computation: Computation, follow: (signal: AbortSignal) => Follower) {
    this.#options = options
    this.outcome = this.#fly(computation, follow(this.#left.signal))
    this.outcome.catch(() => undefined).finally(options.over)
  }

  async join(caller: Caller): Promise<Outcome> {
    const { wait, signal } = caller
    const { clock } = this.#options.runtime.options
    let waiting: Waiting | undefined
    const ended = new Promise<never>((_resolve, reject) => {
      waiting = { ...caller, reject }
      this.#callers.add(waiting)
    })
    const me = waiting as unknown as Waiting
    const timer = Number.isFinite(wait) && wait > 0 ? limitAnswers(clock, () => this.#late(me), wait) : undefined
    const unlisten = signal && onAbort(signal, () => me.reject(reasonOf(signal)))
    if (wait === 0 && this.#phase !== 'asking') this.#late(me)
    try {
      return await Promise.race([this.outcome, ended])
    } finally {
      timer?.cancel()
      unlisten?.()
      this.#callers.delete(me)
      // What is computed may be wanted elsewhere; who only waits for it is not needed any more.
      if (this.#callers.size === 0 && this.#phase !== 'computing') this.#leave()
    }
  }

  #leave(): void {
    this.#options.over()
    this.#left.abort(new DOMException('nobody waits any more', 'AbortError'))
  }

  /** The time of its own work does not count. */
  #late(caller: Waiting): void {
    if (caller.works && this.#phase === 'computing') return
    const { title } = this.#options
    caller.reject(new AcquireTimeoutError(title, caller.wait, this.#trouble))
  }

  async #fly(computation: Computation, follower: Follower): Promise<Outcome> {
    const { after, held } = this.#options
    try {
      for (let follows = held; ;) {
        this.#enter(follows ? 'following' : 'asking')
        const step = follows ? follower.follow() : computation.run(after, () => this.#enter('computing'))
        const outcome = await this.#waitedOut(step)
        if (outcome === 'again') continue
        if (outcome !== undefined) return outcome
        // Somebody began and ended between two questions, again and again.
        if (follows && !held) await this.#options.runtime.background.pause(BETWEEN)
        follows = !follows
      }
    } finally {
      await follower.end()
    }
  }

  #enter(phase: 'asking' | 'computing' | 'following'): void {
    this.#left.signal.throwIfAborted()
    this.#phase = phase
    if (phase === 'asking') return
    for (const caller of [...this.#callers]) if (caller.wait === 0) this.#late(caller)
  }

  /** A server that is away for a while is waited for. */
  async #waitedOut(step: Promise<Outcome | undefined>): Promise<Outcome | undefined | 'again'> {
    try {
      return await step
    } catch (error) {
      if (!isTransient(error)) throw error
      this.#trouble = error
      await this.#options.runtime.background.pause(POLL)
      return 'again'
    }
  }
}
