import type { Clock } from '../../base/clock.js'
import type { Patience } from '../waiting/acquire-request.js'
import type { Waiter } from '../waiting/waiter.js'
import { PermitPassLimit } from './permit-pass-limit.js'
import type { Passage } from './passage.js'

/** Grants to each of the takers, by one step on the server, what is released. Undefined: the step was not done. */
export type PassStep<Q extends Patience, G> = (takers: readonly Waiter<Q, G>[]) => Promise<readonly G[] | undefined>

/** The waiters of this process at a passage. */
export interface Takers<Q extends Patience, G> {
  readonly passage: Passage<Q, G>
  readonly clock: Clock
  /** In order; none when the client is closed. */
  waiting(): Iterable<Waiter<Q, G>>
  serve(waiter: Waiter<Q, G>, granted: G): void
  /** Something was passed on at that time. */
  passed(at: number): void
  /** The first waiter wants another amount than the one before, and the server knows only the old amount: ask again. */
  ask(): void
}

/** Passes what is released in this process to its first waiters, if it is exactly what they want and was granted lately. */
export class PermitsHandToHand<Q extends Patience, G> {
  readonly #takers: Takers<Q, G>
  readonly #allowance = new PermitPassLimit()
  /** The waiters for which a step is in progress that gives them what is released here. */
  readonly #coming = new Map<Waiter<Q, G>, Promise<unknown>>()
  #passes = 0

  constructor(takers: Takers<Q, G>) {
    this.#takers = takers
  }

  /** The server has granted something to these waiters. */
  granted(served: readonly Waiter<Q, G>[]): void {
    const { passage, clock } = this.#takers
    const amount = served.reduce((sum, { request }) => sum + (passage.amount?.(request) ?? 0), 0)
    if (amount > 0) this.#allowance.begin(amount, clock.monotonic())
  }

  /** From now on, what was granted before goes to the server when it is released. */
  end(): void {
    this.#allowance.clear()
  }

  /** The step in progress that may serve this waiter. */
  coming(waiter: Waiter<Q, G>): Promise<unknown> | undefined {
    return this.#coming.get(waiter)
  }

  /** Resolves when no step is in progress; undefined: none is. */
  get settled(): Promise<unknown> | undefined {
    return this.#coming.size === 0 ? undefined : Promise.all(this.#coming.values())
  }

  /** How many waiters have had it, one after the other, since this was last asked. What is released to the server now is that of one of them. */
  visits(): number {
    const visits = this.#passes + 1
    this.#passes = 0
    return visits
  }

  /** Passes it on without the server. False: it must go to the server. */
  pass(amount: number): boolean {
    const { passage, clock } = this.#takers
    const takers = this.#takersOf(amount)
    const now = clock.monotonic()
    if (!this.#allowance.pass(amount, takers.length, now)) return false
    this.#passed(takers, now)
    for (const waiter of takers) this.#takers.serve(waiter, passage.amount?.(waiter.request) as G & number)
    this.#succeed(takers[0])
    return true
  }

  /** Passes it on by a step on the server. If that step does nothing, the waiters wait on. */
  async passBy(amount: number, step: PassStep<Q, G>): Promise<void> {
    const takers = this.#takersOf(amount)
    const sent = this.#takers.clock.monotonic()
    if (!this.#allowance.pass(amount, takers.length, sent)) return
    const passed = step(takers)
    const settled = passed.then(
      (granted) => (granted === undefined ? undefined : this.#deal(takers, granted, sent)),
      () => undefined,
    )
    for (const waiter of takers) this.#coming.set(waiter, settled)
    try {
      await passed
    } finally {
      for (const waiter of takers) this.#coming.delete(waiter)
    }
  }

  /** Resolves when the grants of callers that have left were released. */
  #deal(takers: readonly Waiter<Q, G>[], granted: readonly G[], sent: number): Promise<unknown> {
    this.#passed(takers, sent)
    const back: G[] = []
    for (const [place, waiter] of takers.entries()) {
      if (waiter.queued) this.#takers.serve(waiter, granted[place] as G)
      else back.push(granted[place] as G)
    }
    this.#succeed(takers[0])
    return Promise.all(back.map((some) => this.#takers.passage.giveBack(some)))
  }

  #passed(takers: readonly unknown[], at: number): void {
    this.#takers.passed(at)
    this.#passes += takers.length
  }

  /** The first waiters, if together they want exactly this amount. */
  #takersOf(amount: number): Waiter<Q, G>[] {
    const takers: Waiter<Q, G>[] = []
    let rest = amount
    for (const waiter of this.#takers.waiting()) {
      if (rest <= 0) break
      if (this.#coming.has(waiter)) continue
      const wanted = this.#takers.passage.amount?.(waiter.request)
      if (wanted === undefined) break
      takers.push(waiter)
      rest -= wanted
    }
    return rest === 0 ? takers : []
  }

  #succeed(before: Waiter<Q, G> | undefined): void {
    const [first] = this.#takers.waiting()
    if (before === undefined || first === undefined) return
    const [wanted, wants] = [before, first].map(({ request }) => this.#takers.passage.amount?.(request))
    if (wanted !== wants) this.#takers.ask()
  }
}
