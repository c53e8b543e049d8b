import { mustShareSlot } from '../../keys.js'
import type { Passage } from './passage.js'
import type { Patience } from '../waiting/acquire-request.js'
import type { Runtime } from '../client/runtime.js'
import { Turnstile } from './turnstile.js'

type AnyTurnstile<Q extends Patience = Patience, G = unknown> = Pick<
  Turnstile<Q, G>,
  'idle' | 'passage' | 'firstWaiter' | 'passing' | 'placeToLeave' | 'call' | 'turnAway' | 'close'
>

type AnyPassage = Pick<Passage<never, never>, 'kind' | 'key'>

const placeOf = ({ kind, key }: AnyPassage): string => `${kind.name} ${key}`

/** The turnstiles that one client uses; and what its calls got that only closing the client would release. */
export class Turnstiles {
  readonly runtime: Runtime
  /** By kind and key. */
  readonly #open = new Map<string, AnyTurnstile>()
  readonly #holding = new Set<(release: boolean) => Promise<unknown>>()

  constructor(runtime: Runtime) {
    this.runtime = runtime
  }

  /** Undefined: not granted within the wait. `taken` is called in the tick of the grant, so nothing comes between. */
  async enter<Q extends Patience, G>(
    passage: Passage<Q, G>,
    request: Q,
    taken?: (granted: G) => void,
  ): Promise<G | undefined> {
    this.runtime.checkTakes(passage.name)
    request.signal?.throwIfAborted()
    if (request.wait === 0) this.runtime.link.checkUp(passage.name)
    if (this.runtime.link.cluster) mustShareSlot(passage)
    const there = this.at(passage) as Turnstile<Q, G> | undefined
    return (there ?? this.#make(passage)).enter(request, taken)
  }

  #make<Q extends Patience, G>(passage: Passage<Q, G>): Turnstile<Q, G> {
    const place = placeOf(passage)
    const turnstile = new Turnstile(this.runtime, passage, () => {
      if (this.#open.get(place) === (turnstile as unknown)) this.#open.delete(place)
    })
    this.#open.set(place, turnstile as unknown as AnyTurnstile)
    return turnstile
  }

  /** The turnstile of this passage, if a call here waits at it. */
  at<Q extends Patience = Patience, G = unknown>(passage: AnyPassage): AnyTurnstile<Q, G> | undefined {
    return this.#open.get(placeOf(passage)) as AnyTurnstile<Q, G> | undefined
  }

  /** Those at which calls wait now. */
  get all(): Iterable<Pick<AnyTurnstile, 'passage' | 'firstWaiter'>> {
    return this.#open.values()
  }

  /** `end` is called when the client closes, unless it is released before. */
  hold(end: (release: boolean) => Promise<unknown>): void {
    this.#holding.add(end)
  }

  letGo(end: (release: boolean) => Promise<unknown>): void {
    this.#holding.delete(end)
  }

  /** How many of those closing would release. */
  get held(): number {
    return this.#holding.size
  }

  /** Rejects all waiters. */
  turnAway(): void {
    for (const turnstile of this.#open.values()) turnstile.turnAway()
  }

  async close(release: boolean): Promise<void> {
    await Promise.all([...this.#open.values()].map((turnstile) => turnstile.close()))
    await Promise.all([...this.#holding].map((end) => end(release)))
  }
}
