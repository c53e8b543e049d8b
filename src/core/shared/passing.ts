import type { Clock } from '../../base/clock.js'
import type { Patience } from '../waiting/request.js'
import type { Waiter } from '../waiting/waiter.js'
import { PermitPassLimit } from './permit-pass-limit.js'
import type { Passage } from './passage.js'

/** Grants to each of these what is given back, by one step of the server; undefined: it was not done. */
export type PassStep<Q extends Patience, G> = (takers: readonly Waiter<Q, G>[]) => Promise<readonly G[] | undefined>

/** Those of this process who wait at a passage. */
export interface Takers<Q extends Patience, G> {
  readonly passage: Passage<Q, G>
  readonly clock: Clock
  /** In order; none when the client is closed. */
  waiting(): Iterable<Waiter<Q, G>>
  serve(waiter: Waiter<Q, G>, granted: G): void
  /** Something was passed on, as of then. */
  passed(at: number): void
  /** Whoever is first wants another amount than the one before, and the server knows that one's only. */
  ask(): void
}

/** What is given back in a process goes to those of it who wait first, where it is just what they want and was granted lately. */
export class Passing<Q extends Patience, G> {
  readonly #takers: Takers<Q, G>
  readonly #allowance = new PermitPassLimit()
  /** For whom a step is on its way that gives them what is given back here. */
  readonly #coming = new Map<Waiter<Q, G>, Promise<unknown>>()
  #passes = 0

  constructor(takers: Takers<Q, G>) {
    this.#takers = takers
  }

  /** The server has granted so much. */
  granted(served: readonly Waiter<Q, G>[]): void {
    const { passage, clock } = this.#takers
    const amount = served.reduce((sum, { request }) => sum + (passage.amount?.(request) ?? 0), 0)
    if (amount > 0) this.#allowance.begin(amount, clock.monotonic())
  }

  /** What was granted until now goes to the server when it is given back. */
  end(): void {
    this.#allowance.clear()
  }

  /** The step on its way that may give this one its own. */
  coming(waiter: Waiter<Q, G>): Promise<unknown> | undefined {
    return this.#coming.get(waiter)
  }

  /** Resolves when no step is on its way any more; undefined: none is. */
  get settled(): Promise<unknown> | undefined {
    return this.#coming.size === 0 ? undefined : Promise.all(this.#coming.values())
  }

  /** How many have had it, one after the other, since this was asked last; what is given back to the server now is of one of them. */
  visits(): number {
    const visits = this.#passes + 1
    this.#passes = 0
    return visits
  }

  /** Without the server. False: it has to go there. */
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

  /** By a step of the server; it may come to nothing, and then they wait on. */
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

  /** Resolves when what was for callers who have left was given back. */
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

  /** Those who wait first, and want just so much together. */
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
