import { onAbort, reasonOf } from '../../base/abort.js'
import type { TenureHold } from '../../core/hold/hold.js'
import { within } from '../../base/scope.js'
import type { NumberedLock } from '../fenced-lock/fenced-lock.js'
import type { Term } from '../../api/election.js'
import { LeaderTerm, type Reigning } from './leader-term.js'
import { isFinal } from './final-errors.js'
import { isError, partOf } from '../../thrown.js'
import { troubleOf } from '../../away-or-refusing.js'

/** The pause between two attempts to be a candidate while the server is away, ms. */
const PAUSE = 500

export interface LeadLoopOptions<T> extends Reigning {
  readonly lock: NumberedLock
  /** Each of them ends the loop. */
  readonly stops: readonly AbortSignal[]
  readonly work: (term: Term) => Promise<T> | T
  /** Called when a term begins. It returns a function to call when the term is over. */
  readonly began: (reign: LeaderTerm) => () => void
}

/** How a term came out: the result of the whole call, or undefined if another term must follow. */
type Outcome<T> = { readonly result: T | undefined } | undefined

/** One call of `lead`: term after term. */
export class LeadLoop<T> {
  readonly #options: LeadLoopOptions<T>
  readonly #stop = new AbortController()
  /** The trouble that was reported last. */
  #trouble: string | undefined

  constructor(options: LeadLoopOptions<T>) {
    this.#options = options
  }

  async run(): Promise<T | undefined> {
    const offs: (() => void)[] = []
    try {
      for (const signal of this.#options.stops) {
        if (signal.aborted) return undefined
        offs.push(onAbort(signal, () => this.#stop.abort(reasonOf(signal))))
      }
      for (;;) {
        const hold = await this.#granted()
        if (hold === undefined) return undefined
        const outcome = await this.#lead(hold)
        if (outcome !== undefined) return outcome.result
      }
    } finally {
      for (const off of offs) off()
    }
  }

  #stopped(): boolean {
    return this.#stop.signal.aborted
  }

  /** `undefined`: it was told to stop. */
  async #granted(): Promise<TenureHold | undefined> {
    const { runtime, lock, times } = this.#options
    while (!this.#stopped()) {
      try {
        return await lock.acquire({ lease: times.lease, renew: true, signal: this.#stop.signal })
      } catch (error) {
        if (this.#stopped() || runtime.draining) return undefined
        if (isFinal(error)) throw error
        this.#tell(error)
        await this.#pause()
      }
    }
    return undefined
  }

  /** Ends early if the loop must stop. */
  async #pause(): Promise<void> {
    let unlisten: (() => void) | undefined
    await this.#options.runtime.background.pause(PAUSE, (wake) => {
      unlisten = onAbort(this.#stop.signal, wake)
    })
    unlisten?.()
  }

  /** Reports each trouble once, until this client leads. */
  #tell(error: unknown): void {
    const trouble = troubleOf(error)
    if (trouble !== this.#trouble) this.#options.runtime.fail(error)
    this.#trouble = trouble
  }

  async #lead(hold: TenureHold): Promise<Outcome<T>> {
    const { runtime, began } = this.#options
    const reign = new LeaderTerm(hold, this.#options)
    const over = began(reign)
    const { signal } = this.#stop
    const off = onAbort(signal, () => reign.end('stopped', reasonOf(signal)))
    if (signal.aborted) reign.end('stopped', reasonOf(signal))
    runtime.working++
    try {
      return await this.#reign(reign)
    } finally {
      runtime.working--
      off()
      await reign.over()
      over()
    }
  }

  async #reign(reign: LeaderTerm): Promise<Outcome<T>> {
    try {
      await reign.proclaim()
    } catch (error) {
      if (reign.ended() !== undefined) return this.#next(reign)
      if (isFinal(error)) throw error
      this.#tell(partOf(error, 'cause') ?? error)
      return this.#next(reign)
    }
    if (reign.ended() !== undefined) return this.#next(reign)
    const { lock, work } = this.#options
    const { hold, term, signal } = reign
    this.#trouble = undefined
    reign.busy = true
    try {
      const result = await within(lock, hold, async () => work({ signal, term }))
      return reign.ended() === undefined || reign.ended() === 'stopped' ? { result } : undefined
    } catch (error) {
      if (reign.ended() === undefined) throw error
      const own = !isOf(error, signal.reason)
      if (own && reign.ended() === 'stopped') throw error
      if (own) this.#options.runtime.fail(error)
      return this.#next(reign)
    }
  }

  #next(reign: LeaderTerm): Outcome<T> {
    return reign.ended() === 'stopped' || this.#stopped() ? { result: undefined } : undefined
  }
}

/** Whether the work threw because its signal aborted: the signal's reason, or an AbortError of something the work waited for. */
const isOf = (error: unknown, reason: unknown): boolean =>
  error === reason || (isError(error) && (partOf(error, 'cause') === reason || partOf(error, 'name') === 'AbortError'))
