import { Contender, type Outcome } from './contender.js'
import type { Host } from './contention.js'
import { Crowd } from './crowd.js'
import type { Waiter } from './queue.js'
import type { ReadProtocol } from './read-protocol.js'
import type { Request } from './request.js'
import { isLate, lateError, serve } from './serve.js'
import { isAway, waitsOut } from './trouble.js'
import { type Moment, momentOf } from './trust.js'

/** How many one script call asks for. */
const BATCH = 250

/** The gate at which they wait. */
export interface ReadHost extends Pick<
  Host,
  'name' | 'kind' | 'runtime' | 'nextWire' | 'begin' | 'enterAll' | 'reconsiderBeside' | 'rested'
> {
  readonly protocol: ReadProtocol
}

/** Those who wait at one gate to share what is behind it: all are asked for at once, and all are let in or none. */
export class Readers extends Crowd<ReadHost> {
  protected readonly contender = new Contender(this)
  /** Those who were asked for last; whether the answer is still to come. */
  #asked: ReadonlySet<Waiter> = new Set()
  #asking = false
  /** The server has answered whoever waited at this moment: from then on, trouble is waited out. */
  #answeredAt = -Infinity

  protected asks(waiter: Waiter): boolean {
    return this.#asking && this.#asked.has(waiter)
  }

  enter(request: Request, resolve: Waiter['resolve'], reject: Waiter['reject']): void {
    const othersWait = this.first?.counted === true
    const waiter = this.room.enter(request, resolve, reject)
    if (othersWait) this.admit(waiter)
    // They may be asleep.
    if (request.wait === 0) this.contender.wake()
    // Calls of one turn are asked for together: a writer between them would wait for the first, and they for it.
    void Promise.resolve().then(() => {
      this.contender.start()
    })
  }

  // ---- contending --------------------------------------------------------------------------------------------------

  /** A single try that came meanwhile is asked for at once. */
  next(): Waiter | undefined {
    return this.host.runtime.closed ? undefined : (this.room.firstTry ?? this.first)
  }

  /** As many as one call asks for, and each owner once: its other calls take it again when it has it. */
  #batch(first: Waiter): Map<object, Waiter> {
    const batch = new Map<object, Waiter>([[first.request.owner, first]])
    for (const waiter of this.room.all()) {
      if (batch.size === BATCH) break
      if (!batch.has(waiter.request.owner)) batch.set(waiter.request.owner, waiter)
    }
    return batch
  }

  async attempt(first: Waiter): Promise<Outcome> {
    const { runtime, protocol } = this.host
    const asked = [...this.#batch(first).values()]
    const wires = asked.map(({ request }) => [this.host.nextWire(), request.terms.lease] as const)
    this.#asked = new Set(asked)
    this.#asking = true
    const sent = momentOf(this.clock)
    try {
      const waits = asked.some(({ request }) => request.wait > 0)
      const left = await protocol.acquireAll(wires, waits)
      this.#answeredAt = sent.mono
      if (left !== null) return left
      await Promise.all(
        asked.map((waiter, i) => this.#granted(waiter, (wires[i] as readonly [string, number])[0], sent)),
      )
      return 'served'
    } catch (trouble) {
      for (const [wire, lease] of wires) void runtime.undo(protocol, wire, lease, trouble)
      return { trouble }
    } finally {
      this.#asking = false
      this.attempted()
    }
  }

  /** The server has written `wire` as a holder. Its waiter may have left meanwhile. */
  async #granted(waiter: Waiter, wire: string, sent: Moment): Promise<void> {
    const { runtime, protocol, name } = this.host
    const { terms } = waiter.request
    const late = isLate(this.clock, sent, terms.lease)
    if (waiter.queued && !runtime.closed && !late) {
      serve(this.host, this.room, waiter, this.host.begin(wire, terms, sent), false)
      return
    }
    if (waiter.queued && !runtime.closed) {
      this.room.remove(waiter)
      waiter.reject(lateError(name, terms.lease))
    }
    await runtime.undo(protocol, wire, terms.lease, undefined)
  }

  look(): Promise<undefined> {
    return Promise.resolve(undefined)
  }

  /** No waiter here can acquire it. */
  refused(): void {
    if (this.first?.counted !== true) for (const waiter of this.room.all()) this.admit(waiter)
    for (const waiter of this.#asked) this.room.refuseTries(waiter)
  }

  /** Rejects those for whom it is over. True: the others wait on. */
  troubled(trouble: unknown): boolean {
    const waitsOn = ({ request, since }: Waiter): boolean => waitsOut(trouble, request, since <= this.#answeredAt)
    const away = isAway(trouble)
    for (const waiter of this.room.all()) {
      waiter.request.trouble = trouble
      // The server answers each by itself, save that it cannot be reached: that is so for all.
      if (waitsOn(waiter) || (!this.#asked.has(waiter) && !away)) continue
      this.room.remove(waiter)
      waiter.reject(trouble)
    }
    return this.first !== undefined && waitsOn(this.first)
  }
  end(): void {
    // Nothing is kept for who may come.
  }
}
