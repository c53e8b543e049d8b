import { ClosedError } from '../errors.js'
import type { Patience } from './request.js'
import { type Runtime, mustShareSlot } from './runtime.js'
import { type Passage, Turnstile } from './turnstile.js'

type AnyTurnstile = Pick<Turnstile<Patience, unknown>, 'freeing' | 'freed' | 'close'>

/** Where calls of one client wait for what many may have at once; and what they have got that only closing would give back. */
export class Turnstiles {
  readonly #runtime: Runtime
  /** By kind and key. */
  readonly #open = new Map<string, AnyTurnstile>()
  readonly #holding = new Set<(release: boolean) => Promise<unknown>>()

  constructor(runtime: Runtime) {
    this.#runtime = runtime
  }

  /** Undefined: not had within the wait. */
  async enter<Q extends Patience, G>(passage: Passage<Q, G>, request: Q): Promise<G | undefined> {
    if (this.#runtime.closed) throw new ClosedError(passage.name)
    request.signal?.throwIfAborted()
    const place = `${passage.kind.name} ${passage.key}`
    const there = this.#open.get(place) as Turnstile<Q, G> | undefined
    if (there !== undefined) return there.enter(request)
    if (this.#runtime.link.cluster) mustShareSlot(passage)
    const turnstile = new Turnstile(this.#runtime, passage, () => this.#open.delete(place))
    this.#open.set(place, turnstile)
    return turnstile.enter(request)
  }

  /** Where somebody here waits at this passage. */
  at({ kind, key }: Pick<Passage<never, never>, 'kind' | 'key'>): AnyTurnstile | undefined {
    return this.#open.get(`${kind.name} ${key}`)
  }

  /** Called when the client closes, unless it is let go before. */
  hold(end: (release: boolean) => Promise<unknown>): void {
    this.#holding.add(end)
  }

  letGo(end: (release: boolean) => Promise<unknown>): void {
    this.#holding.delete(end)
  }

  async close(release: boolean): Promise<void> {
    await Promise.all([...this.#open.values()].map((turnstile) => turnstile.close()))
    await Promise.all([...this.#holding].map((end) => end(release)))
  }
}
