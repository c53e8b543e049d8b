import type { Clock } from './clock.js'
import { Contender, type Contest, type Outcome } from './contender.js'
import type { Host } from './contention.js'
import type { Waiter } from './queue.js'
import type { ReadProtocol } from './read-protocol.js'
import { GRACE, type Request } from './request.js'
import { isLate, lateError, serve } from './serve.js'
import { isAway, passes } from './trouble.js'
import { type Moment, momentOf } from './trust.js'
import { WaitingRoom } from './waiting-room.js'
import type { Wakeups } from './wakeups.js'

/** How many one script call asks for. */
const BATCH = 250

/** The gate at which they wait. */
export interface ReadHost extends Pick<
  Host,
  'name' | 'kind' | 'runtime' | 'nextWire' | 'begin' | 'enterAll' | 'rested'
> {
  readonly protocol: ReadProtocol
}

/** Those who wait at one gate to share what is behind it: all are asked for at once, and all are let in or none. */
export class Readers implements Contest {
  readonly #host: ReadHost
  readonly #room: WaitingRoom
  readonly #contender = new Contender(this)
  /** Those who are being asked for, and what is to be told when the answer is there. */
  #asked: ReadonlySet<Waiter> = new Set()
  #afterAsking: (() => void)[] = []
  /** The server has answered whoever waited at this moment: from then on, trouble is waited out. */
  #answeredAt = -Infinity

  constructor(host: ReadHost) {
    this.#host = host
    this.#room = new WaitingRoom(host.runtime, host.name, (waiter, settle) => {
      this.#left(waiter, settle)
    })
  }

  get clock(): Clock {
    return this.#host.runtime.options.clock
  }

  get channel(): string {
    return this.#host.protocol.channel
  }

  get wakeups(): Wakeups {
    return this.#host.runtime.wakeups
  }

  get running(): Promise<void> | undefined {
    return this.#contender.running
  }

  enter(request: Request, resolve: Waiter['resolve'], reject: Waiter['reject']): void {
    this.#room.enter(request, resolve, reject)
    // Others of this process may be asleep.
    if (request.wait === 0) this.#contender.wake()
    // Calls of one turn are asked for together: a writer between them would wait for the first, and they for it.
    void Promise.resolve().then(() => {
      this.#contender.start()
    })
  }

  /** The wait ended without the lock. What an attempt on its way may still bring goes back. */
  #left(waiter: Waiter, settle: () => void): void {
    const told = this.#room.first === undefined ? this.#host.runtime.left(this.#host.protocol) : undefined
    if (this.#asked.has(waiter) || told !== undefined) {
      const timer = this.clock.setTimer(settle, GRACE)
      const settled = (): void => {
        timer.cancel()
        settle()
      }
      if (told === undefined) this.#afterAsking.push(settled)
      else void told.then(settled)
    } else settle()
    if (this.#room.first === undefined) this.#contender.wake()
  }

  // ---- contending --------------------------------------------------------------------------------------------------

  /** A single try that came meanwhile is asked for at once. */
  next(): Waiter | undefined {
    if (this.#host.runtime.closed) return undefined
    for (const waiter of this.#room.all()) if (waiter.request.wait === 0) return waiter
    return this.#room.first
  }

  /** As many as one call asks for, and each owner once: its other calls take it again when it has it. */
  #batch(first: Waiter): Map<object, Waiter> {
    const batch = new Map<object, Waiter>([[first.request.owner, first]])
    for (const waiter of this.#room.all()) {
      if (batch.size === BATCH) break
      if (!batch.has(waiter.request.owner)) batch.set(waiter.request.owner, waiter)
    }
    return batch
  }

  async attempt(first: Waiter): Promise<Outcome> {
    const { runtime, protocol } = this.#host
    const asked = [...this.#batch(first).values()]
    const wires = asked.map(({ request }) => [this.#host.nextWire(), request.terms.lease] as const)
    this.#asked = new Set(asked)
    const sent = momentOf(this.clock)
    try {
      const waits = asked.some(({ request }) => request.wait > 0)
      const left = await protocol.acquireAll(wires, waits)
      this.#answeredAt = sent.mono
      if (left !== undefined) return left
      await Promise.all(
        asked.map((waiter, i) => this.#granted(waiter, (wires[i] as readonly [string, number])[0], sent)),
      )
      return 'served'
    } catch (trouble) {
      for (const [wire, lease] of wires) void runtime.undo(protocol, wire, lease, trouble)
      return { trouble }
    } finally {
      for (const tell of this.#afterAsking) tell()
      this.#afterAsking = []
    }
  }

  /** The server has written `wire` as a holder. Its waiter may have left meanwhile. */
  async #granted(waiter: Waiter, wire: string, sent: Moment): Promise<void> {
    const { runtime, protocol, name } = this.#host
    const { terms } = waiter.request
    const late = isLate(this.clock, sent, terms.lease)
    if (waiter.queued && !runtime.closed && !late) {
      serve(this.#host, this.#room, waiter, this.#host.begin(wire, terms, sent), false)
      return
    }
    if (waiter.queued && !runtime.closed) {
      this.#room.remove(waiter)
      waiter.reject(lateError(name, terms.lease))
    }
    await runtime.undo(protocol, wire, terms.lease, undefined)
  }

  look(): Promise<undefined> {
    return Promise.resolve(undefined)
  }

  refused(): void {
    for (const waiter of this.#asked) {
      if (waiter.queued && waiter.request.wait > 0 && !waiter.counted && this.#room.admit(waiter))
        this.#host.runtime.teller.waits(this.#host)
      this.#room.refuseTries(waiter)
    }
  }

  /** Rejects those for whom it is over. True: the others wait on. */
  troubled(trouble: unknown): boolean {
    const passing = passes(trouble)
    const away = isAway(trouble)
    for (const waiter of this.#room.all()) {
      waiter.request.trouble = trouble
      // Each is told by the server itself, save that it cannot be reached: that is so for all.
      if ((passing && waiter.since <= this.#answeredAt) || (!this.#asked.has(waiter) && !away)) continue
      this.#room.remove(waiter)
      waiter.reject(trouble)
    }
    return passing && (this.#room.first?.since ?? Infinity) <= this.#answeredAt
  }

  cannotSubscribe(error: unknown): void {
    this.#host.runtime.options.logger.warn(`cannot subscribe for '${this.#host.name}': waiting by polling`, error)
  }

  rested(): void {
    this.#host.rested()
  }

  /** Rejects all who wait. */
  close(reason: Error): void {
    this.#room.rejectAll(reason)
    void this.#host.runtime.left(this.#host.protocol)
    this.#contender.wake()
  }
}
