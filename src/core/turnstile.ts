import { ClosedError } from '../errors.js'
import type { Clock } from './clock.js'
import { Contender, type Contest, type Outcome } from './contender.js'
import type { Told } from './diagnostics.js'
import type { Waiter } from './queue.js'
import { GRACE, type Patience } from './request.js'
import type { Runtime } from './runtime.js'
import { WaitingRoom } from './waiting-room.js'
import type { Wakeups } from './wakeups.js'

/** What several calls, asked for in their order, have got: the first so many of them, one each. */
export interface Answer<G> {
  readonly granted: readonly G[]
  /** When nobody got anything: for how many ms that is sure to stay so; -1: until somebody changes it. */
  readonly left: number
}

/** What is waited for that many may have at once: permits, or a latch that opens. It never subscribes, sets a timer or loops. */
export interface Passage<Q extends Patience, G> extends Told {
  readonly key: string
  /** Where is told that there may be more. */
  readonly channel: string
  /** How much of one question a call takes up: 1 unless said otherwise. */
  weight?(request: Q): number
  /** One question for all. When it rejects, whatever it did is being undone. */
  ask(waiters: readonly Waiter<Q, G>[]): Promise<Answer<G>>
  /** Who was to have it has left. Never rejects. */
  giveBack(granted: G): Promise<void>
  /** It waits no longer and got nothing. */
  left?(waiter: Waiter<Q, G>): void
}

/** How much is asked for at once: so many calls, unless their weights are said. */
const QUESTION = 100

/** Those in one process who wait at one passage, first come, first served. It is there only while somebody waits. */
export class Turnstile<Q extends Patience, G> implements Contest<Waiter<Q, G>> {
  readonly passage: Passage<Q, G>
  readonly #runtime: Runtime
  readonly #room: WaitingRoom<Q, G>
  readonly #contender = new Contender<Waiter<Q, G>>(this)
  readonly #rested: () => void
  /** For whom the question on its way is, in order. */
  #asked: readonly Waiter<Q, G>[] = []
  /** Those of them who have left: told when what they were to have is given back. */
  #leaving: (() => void)[] = []
  #answeredAt = -Infinity

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

  get wakeups(): Wakeups {
    return this.#runtime.wakeups
  }

  /** Undefined: not had within the wait. */
  enter(request: Q): Promise<G | undefined> {
    return new Promise((resolve, reject) => {
      const waits = this.#room.first?.counted === true
      const waiter = this.#room.enter(request, resolve, reject)
      this.#runtime.teller.asked(this.passage)
      if (request.wait === 0) this.#contender.wake()
      else if (waits) this.#admit(waiter)
      this.#contender.start()
    })
  }

  #admit(waiter: Waiter<Q, G>): void {
    if (!waiter.counted && this.#room.admit(waiter)) this.#runtime.teller.waits(this.passage)
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
    } else settle()
    // Who stood behind it may want less.
    this.#contender.wake()
  }

  next(): Waiter<Q, G> | undefined {
    return this.#runtime.closed ? undefined : this.#room.first
  }

  /** A single try is not kept waiting. */
  hurried(): boolean {
    for (const { request } of this.#room.all()) if (request.wait === 0) return true
    return false
  }

  /** Those in front whose question is not too long for one. */
  #question(): Waiter<Q, G>[] {
    const asked: Waiter<Q, G>[] = []
    let weight = 0
    for (const waiter of this.#room.all()) {
      weight += this.passage.weight?.(waiter.request) ?? 1
      if (weight > QUESTION && asked.length > 0) break
      asked.push(waiter)
    }
    return asked
  }

  async attempt(): Promise<Outcome> {
    const asked = this.#question()
    this.#asked = asked
    const sent = this.clock.monotonic()
    let back: Promise<unknown> | undefined
    try {
      const { granted, left } = await this.passage.ask(asked)
      this.#answeredAt = sent
      back = this.#deal(asked, granted)
      return granted.length > 0 ? 'served' : left
    } catch (trouble) {
      return { trouble }
    } finally {
      this.#asked = []
      const leaving = this.#leaving.splice(0)
      // Who waits on does not wait for what is given back.
      void Promise.resolve(back).then(() => {
        for (const settle of leaving) settle()
      })
    }
  }

  /** Resolves when what nobody is there for any more was given back. */
  #deal(asked: readonly Waiter<Q, G>[], granted: readonly G[]): Promise<unknown> {
    const back: G[] = []
    for (const [place, waiter] of asked.entries()) {
      const { queued, request } = waiter
      const mine = place < granted.length
      if (mine && !queued) back.push(granted[place] as G)
      if (!queued || (!mine && request.wait > 0)) continue
      this.#room.remove(waiter)
      if (mine) this.#runtime.teller.granted(this.passage, undefined, waiter.since, false)
      waiter.resolve(mine ? granted[place] : undefined)
    }
    // A single try behind so many is refused with those before it.
    if (granted.length < asked.length) this.#refuseTries()
    return Promise.all(back.map((some) => this.passage.giveBack(some)))
  }

  #refuseTries(): void {
    for (const waiter of this.#room.all()) {
      if (waiter.request.wait > 0 || waiter.since > this.#answeredAt) continue
      this.#room.remove(waiter)
      waiter.resolve(undefined)
    }
  }

  /** The first has to wait, and so has everybody behind it. */
  refused(waiter: Waiter<Q, G>): void {
    if (waiter.counted) return
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
    if (this.#room.first === undefined) this.#rested()
  }

  /** Something is being given back by this process, which waits itself. */
  freeing(): void {
    this.#contender.freeing()
  }

  /** So many processes were told. */
  freed(told: number): void {
    this.#contender.freed(told)
  }

  async close(): Promise<void> {
    for (const waiter of this.#room.all()) this.passage.left?.(waiter)
    this.#room.rejectAll(new ClosedError(this.passage.name))
    this.#contender.wake()
    await this.#contender.running
  }
}
