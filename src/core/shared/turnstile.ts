import { ClosedError } from '../../errors.js'
import type { Clock } from '../../base/clock.js'
import { TurnstileLoop, type TurnstileContest } from './turnstile-loop.js'
import type { Answer, Passage } from './passage.js'
import type { Patience } from '../waiting/acquire-request.js'
import type { Runtime } from '../client/runtime.js'
import { PermitsHandToHand, type Takers } from './permits-hand-to-hand.js'
import type { Outcome } from '../waiting/polling-loop.js'
import { TimedWaiters } from '../waiting/timed-waiters.js'
import type { Waiter } from '../waiting/waiter.js'

/** How many calls one question covers, unless calls have weights. */
const QUESTION = 100

/**
 * The waiters of one process at one passage, first come, first served. It exists only while a call waits.
 */
export class Turnstile<Q extends Patience, G> implements TurnstileContest<Waiter<Q, G>>, Takers<Q, G> {
  readonly passage: Passage<Q, G>
  readonly runtime: Runtime
  readonly #room: TimedWaiters<Q, G>
  readonly #loop = new TurnstileLoop<Waiter<Q, G>>(this)
  readonly passing = new PermitsHandToHand<Q, G>(this)
  readonly #rested: () => void
  /** The waiters for which a question is in progress, in order. */
  #asked: readonly Waiter<Q, G>[] = []
  /** Callbacks of those that have left meanwhile: called when their grants have been released. */
  #leaving: (() => void)[] = []
  #answeredAt = -Infinity
  /** There are new waiters that are not counted as waiting: they may be served at once. */
  #newcomers = false

  constructor(runtime: Runtime, passage: Passage<Q, G>, rested: () => void) {
    this.runtime = runtime
    this.passage = passage
    this.#rested = rested
    this.#room = new TimedWaiters<Q, G>(runtime, passage.name, (waiter) => this.#left(waiter))
  }

  get clock(): Clock {
    return this.runtime.options.clock
  }

  /** Undefined: not granted within the wait. `taken` is called in the tick of the grant, so nothing comes between. */
  enter(request: Q, taken?: (granted: G) => void): Promise<G | undefined> {
    return new Promise((resolve, reject) => {
      const { first } = this.#room
      const settle = (granted: G | undefined): void => {
        if (granted !== undefined) taken?.(granted)
        resolve(granted)
      }
      const waiter = this.#room.enter(request, settle, reject)
      // If the calls here were all served by one another, the loop may still be asleep.
      if (request.wait === 0) this.#loop.wake()
      else if (first === undefined) this.#loop.rouse()
      else if (first.counted) this.#room.admit(waiter)
      this.#newcomers ||= !waiter.counted
      this.#loop.start()
    })
  }

  /** Resolves when what an answer in progress brings for this waiter has been released. */
  #left(waiter: Waiter<Q, G>): Promise<unknown> | undefined {
    const asked = this.#asked.includes(waiter)
    const left = asked
      ? new Promise<void>((tell) => this.#leaving.push(tell))
      : (this.passing.coming(waiter) ?? (this.#waits ? undefined : this.passage.leaveLine?.()))
    // The waiter behind it may want less.
    this.#loop.wake()
    return left
  }

  next(): Waiter<Q, G> | undefined {
    return this.runtime.closed ? undefined : this.#room.first
  }

  waiting(): Iterable<Waiter<Q, G>> {
    return this.runtime.closed ? [] : this.#room.all()
  }

  passed(at: number): void {
    this.#answeredAt = at
  }

  ask(): void {
    this.#loop.wake()
  }

  /** Whether a waiter here needs the place in the line. A single try does not. */
  get #waits(): boolean {
    for (const { request } of this.#room.all()) if (request.wait > 0) return true
    return false
  }

  /** The first waiters that fit into one question. Tries in front are asked for separately: what the line was granted is not for them. */
  #question(): Waiter<Q, G>[] {
    const asked: Waiter<Q, G>[] = []
    let weight = 0
    for (const waiter of this.#room.all()) {
      weight += this.passage.weight?.(waiter.request) ?? 1
      const [first = waiter] = asked
      if ((weight > QUESTION && asked.length > 0) || (first.request.wait === 0 && waiter.request.wait > 0)) break
      asked.push(waiter)
    }
    return asked
  }

  async attempt(): Promise<Outcome> {
    const tried = this.#room.first?.request.wait === 0
    const outcome = await this.#attempt()
    // A refusal of tries says nothing about the waiters behind them.
    return tried && typeof outcome === 'number' && this.#waits ? this.#attempt() : outcome
  }

  async #attempt(): Promise<Outcome> {
    // Waiters that get theirs from another call here need not ask.
    if (this.passing.settled !== undefined) await this.passing.settled
    const asked = this.#question()
    if (asked.length === 0) return 'served'
    this.#asked = asked
    const sent = this.clock.monotonic()
    let back: Promise<unknown> | undefined
    try {
      const answer = await this.passage.ask(asked, this.#loop.listens)
      const { granted, left } = answer
      this.#answeredAt = sent
      if (granted.length > 0) this.passing.granted(asked.slice(0, granted.length))
      back = this.#deal(asked, answer)
      // The next waiter stands in the line by itself, unless the answer said for how long it waits there.
      const stands = this.passage.leaveLine !== undefined && left < 0
      const goesOn = granted.length > 0 && stands && this.#loop.listens
      return goesOn || granted.length === asked.length ? 'served' : left
    } catch (trouble) {
      return { trouble }
    } finally {
      this.#asked = []
      const leaving = this.#leaving.splice(0)
      // Other waiters do not wait until that is released.
      const left = leaving.length > 0 && !this.#waits ? this.passage.leaveLine?.() : undefined
      void Promise.all([back, left]).then(() => {
        for (const settle of leaving) settle()
      })
    }
  }

  /** Resolves when the grants of callers that have left were released. */
  #deal(asked: readonly Waiter<Q, G>[], { granted, vain }: Answer<Q, G>): Promise<unknown> {
    const back: G[] = []
    for (const [place, waiter] of asked.entries()) {
      const { queued, request } = waiter
      const mine = place < granted.length
      if (mine && !queued) back.push(granted[place] as G)
      if (!queued) continue
      const why = mine ? undefined : vain?.(request)
      if (mine) this.serve(waiter, granted[place] as G, false)
      else if (why !== undefined) this.#reject(waiter, why)
      else if (request.wait === 0) this.#refuse(waiter)
    }
    // Single tries further behind are refused with those before them.
    if (granted.length < asked.length) this.#refuseTries()
    return Promise.all(back.map((some) => this.passage.giveBack(some)))
  }

  #refuseTries(): void {
    for (const waiter of this.#room.all()) {
      if (waiter.request.wait === 0 && waiter.since <= this.#answeredAt) this.#refuse(waiter)
    }
  }

  serve(waiter: Waiter<Q, G>, granted: G, local = true): void {
    this.#room.remove(waiter)
    if (local) waiter.request.call?.passedOn()
    waiter.resolve(granted)
  }

  #reject(waiter: Waiter<Q, G>, why: Error): void {
    this.#room.remove(waiter)
    waiter.reject(why)
    // The waiter behind it may want less.
    this.#loop.wake()
  }

  #refuse(waiter: Waiter<Q, G>): void {
    this.#room.remove(waiter)
    waiter.resolve(undefined)
  }

  /** The place in the line that no waiter here needs any more. */
  placeToLeave(): string | undefined {
    return this.#waits ? undefined : this.passage.placeToLeave?.()
  }

  /** A message says that there may be more for the waiters here. */
  call(): void {
    this.#loop.call()
  }

  /** The first must wait, and so must all behind it. */
  refused(): void {
    if (!this.#newcomers) return
    this.#newcomers = false
    for (const other of this.#room.all()) if (other.request.wait > 0) this.#room.admit(other)
  }

  troubled(trouble: unknown): boolean {
    return this.#room.troubled(trouble, this.#answeredAt)
  }

  rested(): void {
    if (!this.idle) return
    void this.passage.leaveLine?.()
    this.#rested()
  }

  get firstWaiter(): Waiter<Q, G> | undefined {
    return this.#room.first
  }

  /** Whether no call waits here. */
  get idle(): boolean {
    return this.#room.first === undefined && this.#loop.running === undefined
  }

  /** Rejects all waiters. */
  turnAway(): void {
    this.#room.rejectAll(new ClosedError(this.passage.name))
    this.#loop.wake()
  }

  async close(): Promise<void> {
    this.turnAway()
    await this.#loop.running
  }
}
