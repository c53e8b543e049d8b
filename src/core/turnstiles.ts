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
  readonly #holding = new Set<() => Promise<void>>()

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

  /** Given back when the client closes, or when the result is called, whichever comes first. */
  hold(giveBack: () => Promise<void>): () => Promise<void> {
    let given: Promise<void> | undefined
    const back = (): Promise<void> => {
      this.#holding.delete(back)
      return (given ??= giveBack())
    }
    this.#holding.add(back)
    return back
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.values()].map((turnstile) => turnstile.close()))
    await Promise.all([...this.#holding].map((back) => back()))
  }
}
