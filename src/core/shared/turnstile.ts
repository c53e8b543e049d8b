import { ClosedError } from '../../errors.js'
import type { Clock } from '../../base/clock.js'
import { TurnstileLoop, type TurnstileContest } from './turnstile-loop.js'
import type { Answer, Passage } from './passage.js'
import type { Patience } from '../waiting/request.js'
import type { Runtime } from '../client/runtime.js'
import { Passing, type Takers } from './passing.js'
import type { Outcome } from '../waiting/ask-loop.js'
import { WaitingRoom } from '../waiting/waiting-room.js'
import type { Waiter } from '../waiting/waiter.js'

/** How much is asked for at once: so many calls, unless their weights are said. */
const QUESTION = 100

/**
 * Those in one process who wait at one passage, first come, first served. It is there only while somebody waits.
 */
export class Turnstile<Q extends Patience, G> implements TurnstileContest<Waiter<Q, G>>, Takers<Q, G> {
  readonly passage: Passage<Q, G>
  readonly runtime: Runtime
  readonly #room: WaitingRoom<Q, G>
  readonly #loop = new TurnstileLoop<Waiter<Q, G>>(this)
  readonly passing = new Passing<Q, G>(this)
  readonly #rested: () => void
  /** For whom the question on its way is, in order. */
  #asked: readonly Waiter<Q, G>[] = []
  /** Those of them who have left: told when what they were to have is given back. */
  #leaving: (() => void)[] = []
  #answeredAt = -Infinity
  /** Some have come who are not counted among those that wait: they may not have to. */
  #newcomers = false

  constructor(runtime: Runtime, passage: Passage<Q, G>, rested: () => void) {
    this.runtime = runtime
    this.passage = passage
    this.#rested = rested
    this.#room = new WaitingRoom<Q, G>(runtime, passage.name, (waiter) => this.#left(waiter))
  }

  get clock(): Clock {
    return this.runtime.options.clock
  }

  /** Undefined: not had within the wait. `taken` is called in the tick in which it is granted: nothing comes between. */
  enter(request: Q, taken?: (granted: G) => void): Promise<G | undefined> {
    return new Promise((resolve, reject) => {
      const { first } = this.#room
      const settle = (granted: G | undefined): void => {
        if (granted !== undefined) taken?.(granted)
        resolve(granted)
      }
      const waiter = this.#room.enter(request, settle, reject)
      this.runtime.lockEvents.asked(this.passage)
      // Where all got theirs from one another, the loop may be asleep still.
      if (request.wait === 0) this.#loop.wake()
      else if (first === undefined) this.#loop.rouse()
      else if (first.counted) this.#admit(waiter)
      this.#newcomers ||= !waiter.counted
      this.#loop.start()
    })
  }

  #admit(waiter: Waiter<Q, G>): void {
    if (!waiter.counted && this.#room.admit(waiter)) this.runtime.lockEvents.waits(this.passage)
  }

  /** Resolves when what an answer on its way brings for it is given back. */
  #left(waiter: Waiter<Q, G>): Promise<unknown> | undefined {
    const asked = this.#asked.includes(waiter)
    const left = asked
      ? new Promise<void>((tell) => this.#leaving.push(tell))
      : (this.passing.coming(waiter) ?? (this.#waits ? undefined : this.passage.leaveLine?.()))
    // Who stood behind it may want less.
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

  /** Somebody here needs the place in the line: a single try does not. */
  get #waits(): boolean {
    for (const { request } of this.#room.all()) if (request.wait > 0) return true
    return false
  }

  /** Those in front whose question is not too long for one. Tries before those who wait are asked for by themselves: what was granted in the line is not for them. */
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
    // What was refused to tries says nothing to those who wait behind them.
    return tried && typeof outcome === 'number' && this.#waits ? this.#attempt() : outcome
  }

  async #attempt(): Promise<Outcome> {
    // Who has theirs from another here needs no more.
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
      // The next one stands in the line for itself, unless it was told for how long it waits there.
      const stands = this.passage.leaveLine !== undefined && left < 0
      const goesOn = granted.length > 0 && stands && this.#loop.listens
      return goesOn || granted.length === asked.length ? 'served' : left
    } catch (trouble) {
      return { trouble }
    } finally {
      this.#asked = []
      const leaving = this.#leaving.splice(0)
      // Who waits on does not wait for what is given back.
      const left = leaving.length > 0 && !this.#waits ? this.passage.leaveLine?.() : undefined
      void Promise.all([back, left]).then(() => {
        for (const settle of leaving) settle()
      })
    }
  }

  /** Resolves when what nobody is there for any more was given back. */
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
    // A single try behind so many is refused with those before it.
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
    this.runtime.lockEvents.granted(this.passage, undefined, waiter.since, local)
    waiter.resolve(granted)
  }

  #reject(waiter: Waiter<Q, G>, why: Error): void {
    this.#room.remove(waiter)
    waiter.reject(why)
    // Who stood behind it may want less.
    this.#loop.wake()
  }

  #refuse(waiter: Waiter<Q, G>): void {
    this.#room.remove(waiter)
    waiter.resolve(undefined)
  }

  /** The place in the line that nobody here needs any more. */
  placeToLeave(): string | undefined {
    return this.#waits ? undefined : this.passage.placeToLeave?.()
  }

  /** There may be more for who waits here, as a message says. */
  call(): void {
    this.#loop.call()
  }

  /** The first has to wait, and so has everybody behind it. */
  refused(): void {
    if (!this.#newcomers) return
    this.#newcomers = false
    for (const other of this.#room.all()) if (other.request.wait > 0) this.#admit(other)
  }

  troubled(trouble: unknown): boolean {
    return this.#room.troubled(trouble, this.#answeredAt)
  }

  rested(): void {
    if (!this.idle) return
    void this.passage.leaveLine?.()
    this.#rested()
  }

  /** Nobody here waits. */
  get idle(): boolean {
    return this.#room.first === undefined && this.#loop.running === undefined
  }

  /** Rejects all who wait. */
  turnAway(): void {
    this.#room.rejectAll(new ClosedError(this.passage.name))
    this.#loop.wake()
  }

  async close(): Promise<void> {
    this.turnAway()
    await this.#loop.running
  }
}
