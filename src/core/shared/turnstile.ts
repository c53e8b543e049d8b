import { ClosedError } from '../../errors.js'
import type { Clock } from '../../base/clock.js'
import { ListeningLoop, type ListeningContest } from '../waiting/listening-loop.js'
import type { Answer, Passage } from './passage.js'
import { GRACE, type Patience } from '../waiting/request.js'
import type { Runtime } from '../client/runtime.js'
import { PassAllowance } from './pass-allowance.js'
import type { Outcome } from '../waiting/wait-loop.js'
import { WaitingRoom } from '../waiting/waiting-room.js'
import type { Subscriptions } from '../server/subscriptions.js'
import type { Waiter } from '../waiting/waiter.js'

/** How much is asked for at once: so many calls, unless their weights are said. */
const QUESTION = 100

/** Grants to each of these what is given back, by one step of the server; undefined: it was not done. */
type PassStep<Q extends Patience, G> = (takers: readonly Waiter<Q, G>[]) => Promise<readonly G[] | undefined>

/**
 * Those in one process who wait at one passage, first come, first served. It is there only while somebody waits.
 */
export class Turnstile<Q extends Patience, G> implements ListeningContest<Waiter<Q, G>> {
  readonly passage: Passage<Q, G>
  readonly #runtime: Runtime
  readonly #room: WaitingRoom<Q, G>
  readonly #loop = new ListeningLoop<Waiter<Q, G>>(this)
  readonly #turns = new PassAllowance()
  readonly #rested: () => void
  /** For whom the question on its way is, in order. */
  #asked: readonly Waiter<Q, G>[] = []
  /** Those of them who have left: told when what they were to have is given back. */
  #leaving: (() => void)[] = []
  #answeredAt = -Infinity
  /** Some have come who are not counted among those that wait: they may not have to. */
  #newcomers = false
  /** For whom a step is on its way that gives them what is given back here. */
  readonly #passing = new Map<Waiter<Q, G>, Promise<unknown>>()
  /** How often something went from hand to hand. */
  #passes = 0

  constructor(runtime: Runtime, passage: Passage<Q, G>, rested: () => void) {
    this.#runtime = runtime
    this.passage = passage
    this.#rested = rested
    this.#room = new WaitingRoom<Q, G>(runtime, passage.name, (waiter, settle) => {
      this.#left(waiter, settle)
    })
  }

  get clock(): Clock {
    return this.#runtime.options.clock
  }

  get channel(): string {
    return this.passage.channel
  }

  get subscriptions(): Subscriptions {
    return this.#runtime.subscriptions
  }

  get longest(): number | undefined {
    return this.passage.longest
  }

  delayOf(payload: string): number {
    return this.passage.delayOf?.(payload) ?? 0
  }

  /** Undefined: not had within the wait. `taken` is called in the turn in which it is granted: nothing comes between. */
  enter(request: Q, taken?: (granted: G) => void): Promise<G | undefined> {
    return new Promise((resolve, reject) => {
      const { first } = this.#room
      const settle = (granted: G | undefined): void => {
        if (granted !== undefined) taken?.(granted)
        resolve(granted)
      }
      const waiter = this.#room.enter(request, settle, reject)
      this.#runtime.lockEvents.asked(this.passage)
      // Where all got theirs from one another, the loop may be asleep still.
      if (request.wait === 0) this.#loop.wake()
      else if (first === undefined) this.#loop.rouse()
      else if (first.counted) this.#admit(waiter)
      this.#newcomers ||= !waiter.counted
      this.#loop.start()
    })
  }

  #admit(waiter: Waiter<Q, G>): void {
    if (!waiter.counted && this.#room.admit(waiter)) this.#runtime.lockEvents.waits(this.passage)
  }

  /** What an answer on its way brings for it is given back first, unless that takes long. */
  #left(waiter: Waiter<Q, G>, settle: () => void): void {
    this.passage.left?.(waiter)
    if (this.#asked.includes(waiter)) {
      const timer = this.clock.setTimer(settle, GRACE)
      this.#leaving.push(() => {
        timer.cancel()
        settle()
      })
    } else if (this.#passing.has(waiter)) this.#settleAfter(this.#passing.get(waiter), settle)
    else if (this.#waits || this.passage.leaveLine === undefined) settle()
    else this.#settleAfter(this.passage.leaveLine(), settle)
    // Who stood behind it may want less.
    this.#loop.wake()
  }

  /** When that is done, unless it takes long. */
  #settleAfter(step: Promise<unknown> | undefined, settle: () => void): void {
    const timer = this.clock.setTimer(settle, GRACE)
    void Promise.resolve(step).then(() => {
      timer.cancel()
      settle()
    })
  }

  next(): Waiter<Q, G> | undefined {
    return this.#runtime.closed ? undefined : this.#room.first
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
    if (this.#passing.size > 0) await Promise.all(this.#passing.values())
    const asked = this.#question()
    if (asked.length === 0) return 'served'
    this.#asked = asked
    const sent = this.clock.monotonic()
    let back: Promise<unknown> | undefined
    try {
      const answer = await this.passage.ask(asked, this.#loop.listens)
      const { granted, left } = answer
      this.#answeredAt = sent
      if (granted.length > 0) this.#begin(asked.slice(0, granted.length))
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

  #begin(served: readonly Waiter<Q, G>[]): void {
    const now = this.clock.monotonic()
    const amount = served.reduce((sum, { request }) => sum + (this.passage.amount?.(request) ?? 0), 0)
    if (amount > 0) this.#turns.begin(amount, now)
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
      if (mine) this.#serve(waiter, granted[place] as G, false)
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

  #serve(waiter: Waiter<Q, G>, granted: G, local: boolean): void {
    this.#room.remove(waiter)
    this.#runtime.lockEvents.granted(this.passage, undefined, waiter.since, local)
    waiter.resolve(granted)
  }

  #reject(waiter: Waiter<Q, G>, why: Error): void {
    this.#room.remove(waiter)
    this.passage.left?.(waiter)
    waiter.reject(why)
    // Who stood behind it may want less.
    this.#loop.wake()
  }

  #refuse(waiter: Waiter<Q, G>): void {
    this.#room.remove(waiter)
    waiter.resolve(undefined)
  }

  /** Those who wait first, and want just so much together. */
  #takers(amount: number): Waiter<Q, G>[] {
    const takers: Waiter<Q, G>[] = []
    let rest = this.#runtime.closed ? 0 : amount
    for (const waiter of this.#room.all()) {
      if (rest <= 0) break
      if (this.#passing.has(waiter)) continue
      const wanted = this.passage.amount?.(waiter.request)
      if (wanted === undefined) break
      takers.push(waiter)
      rest -= wanted
    }
    return rest === 0 ? takers : []
  }

  /** What is given back here goes to those who wait first, where it is just what they want and is still in its turn. */
  pass(amount: number): boolean {
    const takers = this.#takers(amount)
    const now = this.clock.monotonic()
    if (!this.#turns.pass(amount, takers.length, now)) return false
    this.#answeredAt = now
    this.#passes += takers.length
    for (const waiter of takers) {
      this.#serve(waiter, this.passage.amount?.(waiter.request) as G & number, true)
      this.passage.left?.(waiter)
    }
    this.#succeeds(takers[0])
    return true
  }

  /** Whoever is first now may want another amount than the one before, and the server knows that one's only. */
  #succeeds(before: Waiter<Q, G> | undefined): void {
    const { first } = this.#room
    if (before === undefined || first === undefined) return
    const [wanted, wants] = [before, first].map(({ request }) => this.passage.amount?.(request))
    if (wanted !== wants) this.#loop.wake()
  }

  /** The same where a step of the server is needed; it may come to nothing, and then they wait on. */
  async passBy(amount: number, step: PassStep<Q, G>): Promise<void> {
    const takers = this.#takers(amount)
    const sent = this.clock.monotonic()
    if (!this.#turns.pass(amount, takers.length, sent)) return
    const passed = step(takers)
    const settled = passed.then(
      (granted) => this.#passed(takers, granted, sent),
      () => undefined,
    )
    for (const waiter of takers) this.#passing.set(waiter, settled)
    try {
      await passed
    } finally {
      for (const waiter of takers) this.#passing.delete(waiter)
    }
  }

  /** Resolves when what nobody is there for any more was given back. */
  #passed(
    takers: readonly Waiter<Q, G>[],
    granted: readonly G[] | undefined,
    sent: number,
  ): Promise<unknown> | undefined {
    if (granted === undefined) return undefined
    this.#answeredAt = sent
    this.#passes += takers.length
    const back: G[] = []
    for (const [place, waiter] of takers.entries()) {
      if (waiter.queued) this.#serve(waiter, granted[place] as G, true)
      else back.push(granted[place] as G)
    }
    this.#succeeds(takers[0])
    return Promise.all(back.map((some) => this.passage.giveBack(some)))
  }

  /** How many have had it, one after the other, since this was asked last; what is given back to the server now is of one of them. */
  visits(): number {
    const visits = this.#passes + 1
    this.#passes = 0
    return visits
  }

  /** The place in the line that nobody here needs any more. */
  placeToLeave(): string | undefined {
    return this.#waits ? undefined : this.passage.placeToLeave?.()
  }

  /** There may be more for who waits here, as a message says. */
  call(): void {
    this.#loop.call()
  }

  /** What was granted until now goes to the server when it is given back. */
  endTurns(): void {
    this.#turns.clear()
  }

  /** The first has to wait, and so has everybody behind it. */
  refused(): void {
    if (!this.#newcomers) return
    this.#newcomers = false
    for (const other of this.#room.all()) if (other.request.wait > 0) this.#admit(other)
  }

  troubled(trouble: unknown): boolean {
    const waiting = [...this.#room.all()]
    const goesOn = this.#room.troubled(trouble, this.#answeredAt)
    for (const waiter of waiting) if (!waiter.queued) this.passage.left?.(waiter)
    return goesOn
  }

  cannotSubscribe(error: unknown): void {
    this.#runtime.options.logger.warn(`cannot subscribe for '${this.passage.name}': waiting by polling`, error)
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
    for (const waiter of this.#room.all()) this.passage.left?.(waiter)
    this.#room.rejectAll(new ClosedError(this.passage.name))
    this.#loop.wake()
  }

  async close(): Promise<void> {
    this.turnAway()
    await this.#loop.running
  }
}
