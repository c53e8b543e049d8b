import { ReplicationError } from '../../errors.js'
import { type Clock, type Moment, momentOf } from '../../base/clock.js'
import type { Attempt } from '../protocol/lock-protocol.js'
import { HoldRecheck } from '../waiting/own-hold-recheck.js'
import type { GateHost } from '../waiting/gate-host.js'
import type { LoneCall } from '../waiting/lone-call.js'
import type { UnitOfWork } from '../../base/owner.js'
import type { Request } from '../waiting/acquire-request.js'
import { isAfterLease, afterLeaseError } from '../waiting/answer-after-lease.js'
import { serveWaiter } from '../waiting/serve-waiter.js'
import { SpinLoop } from './spin-loop.js'
import type { Tenure } from '../hold/tenure.js'
import { type LeaseTerms, alike } from '../hold/lease-terms.js'
import type { Contest, Outcome } from '../waiting/polling-loop.js'
import { TimedWaiters } from '../waiting/timed-waiters.js'
import type { Waiter } from '../waiting/waiter.js'

/** A tenure that the next attempt should take over on the server. */
interface Passing {
  readonly from: Tenure
  readonly done: (passed: boolean | Promise<boolean>) => void
}

/** The waiters at the gate of a spin lock. Asks again and again for the first of them. Exists only while needed. */
export class SpinWaiters implements Contest<Waiter> {
  readonly #host: GateHost
  readonly #room: TimedWaiters
  readonly #spinner = new SpinLoop(this)
  readonly #watch: HoldRecheck
  #passing: Passing | undefined
  #asking: Waiter | undefined
  /** Callbacks of waiters that left while the server was asked for them; called when that attempt ends. */
  #leaving: (() => void)[] = []
  /** When the newest question that was answered was sent. Waiters that came before it wait out any trouble. */
  answeredAt = -Infinity
  readonly passesOn = true

  constructor(host: GateHost) {
    this.#host = host
    this.#watch = new HoldRecheck(host, () => this.#room.first !== undefined)
    this.#room = new TimedWaiters(host.runtime, host.name, (waiter) => this.#left(waiter))
  }

  get clock(): Clock {
    return this.#host.runtime.options.clock
  }

  get first(): Waiter | undefined {
    return this.#room.first
  }

  get running(): Promise<void> | undefined {
    return this.#spinner.running
  }

  /** The waiter that may have the lock next without the server. */
  heir(): Waiter | undefined {
    return this.#room.first
  }

  asksFor({ owner }: Request): boolean {
    return this.#asking?.request.owner === owner
  }

  // ---- waiting -----------------------------------------------------------------------------------------------------

  /** `behind`: another call here comes first. */
  enter(request: Request, resolve: Waiter['resolve'], reject: Waiter['reject'], behind: boolean): void {
    const waiter = this.#room.enter(request, resolve, reject)
    if (behind) this.#admit(waiter)
    this.start()
  }

  /** For a call that has asked already, before all waiters here. */
  enterFirst({ request, resolve, reject, sent }: LoneCall): void {
    this.answeredAt = sent.mono
    this.#admit(this.#room.enter(request, resolve, reject, sent.mono))
    this.#spinner.start(true)
  }

  start(): void {
    this.#spinner.start()
    this.#watch.start()
  }

  /** From now on the call counts as waiting, unless too many calls wait. */
  #admit(waiter: Waiter): void {
    if (waiter.queued && waiter.request.wait > 0) this.#room.admit(waiter, this.#host)
  }

  // ---- asking ------------------------------------------------------------------------------------------------------

  next(): Waiter | undefined {
    const { runtime, tenure, asks } = this.#host
    return runtime.closed || tenure !== undefined || asks ? undefined : this.#room.first
  }

  async attempt(waiter: Waiter): Promise<Outcome> {
    const { runtime, protocol } = this.#host
    const wire = this.#host.nextWire()
    const { lease } = waiter.request.terms
    const passing = this.#passing
    this.#passing = undefined
    this.#asking = waiter
    const sent = momentOf(this.clock)
    try {
      const step = passing === undefined ? protocol.acquire(wire, lease) : this.#takeOver(passing, wire, lease)
      const left = await step
      this.answeredAt = sent.mono
      if (left !== 'held') return left
      await this.#granted(waiter, wire, sent, passing?.from)
      return 'served'
    } catch (trouble) {
      // After a `ReplicationError` the hold has been passed on already, and is undone below.
      passing?.done(trouble instanceof ReplicationError || this.#host.free(passing.from))
      void runtime.undo.acquire(protocol, wire, lease, trouble)
      return { trouble }
    } finally {
      this.#asking = undefined
      for (const tell of this.#leaving.splice(0)) tell()
    }
  }

  /** Passes the hold of this process to the next waiter here, in one script. 0: the hold was gone, so ask the usual way. */
  async #takeOver({ from, done }: Passing, wire: string, lease: number): Promise<Attempt> {
    const passed = await this.#host.protocol.pass(from.wire, wire, lease)
    if (!passed) from.notOurs()
    done(passed)
    return passed ? 'held' : 0
  }

  /** The server has written `wire` as the holder. Its waiter may have left meanwhile. */
  async #granted(waiter: Waiter, wire: string, sent: Moment, from: Tenure | undefined): Promise<void> {
    const { runtime, protocol, name } = this.#host
    const { terms } = waiter.request
    const taker = waiter.queued ? waiter : this.#likeMinded(terms)
    const late = isAfterLease(this.clock, sent, terms.lease)
    if (taker !== undefined && !runtime.closed && !late) {
      this.hand(taker, this.#host.begin(wire, terms, sent, from), false)
      return
    }
    if (taker !== undefined && !runtime.closed) {
      this.#room.remove(taker)
      taker.reject(afterLeaseError(name, terms.lease))
    }
    await runtime.undo.acquire(protocol, wire, terms.lease, undefined)
  }

  #likeMinded(terms: LeaseTerms): Waiter | undefined {
    for (const waiter of this.#room.all()) if (alike(waiter.request.terms, terms)) return waiter
    return undefined
  }

  refused(waiter: Waiter): void {
    this.#admit(waiter)
    this.#room.refuseTries(waiter)
  }

  /** Rejects the waiters that must not wait any longer. True: the others go on waiting. */
  troubled(trouble: unknown): boolean {
    return this.#room.troubled(trouble, this.answeredAt)
  }

  rested(): void {
    this.#dropPassing()
    this.#host.rested()
  }

  /** The waiter that should take it over has left. */
  #dropPassing(): void {
    const passing = this.#passing
    this.#passing = undefined
    passing?.done(this.#host.free(passing.from))
  }

  // ---- when a hold of this process ends ------------------------------------------------------------------------------

  hand(waiter: Waiter, tenure: Tenure, local: boolean): void {
    serveWaiter(this.#host, this.#room, waiter, tenure, local)
    this.#watch.start()
  }

  /** The next waiter takes the hold over on the server. False: it was gone. */
  passOn(tenure: Tenure): Promise<boolean> {
    this.#dropPassing()
    return new Promise((done) => {
      this.#passing = { from: tenure, done }
      // The loop may be asleep, if it last asked while another client held the lock that was then adopted here.
      this.#spinner.wake()
      this.start()
    })
  }

  /** The hold is being freed on the server, for all to compete. */
  freeing(): void {
    if (this.#room.first !== undefined) this.#spinner.freeing()
  }

  freed(): void {
    this.start()
  }

  // ---- leaving -----------------------------------------------------------------------------------------------------

  /** The wait ended without the lock. The promise resolves when no request for it is left. */
  #left(waiter: Waiter): Promise<void> | undefined {
    const asked = this.#asking === waiter
    const over = asked ? new Promise<void>((tell) => this.#leaving.push(tell)) : undefined
    this.#mayRest()
    return over
  }

  #mayRest(): void {
    if (this.first !== undefined) return
    if (this.running === undefined) this.rested()
    else this.#spinner.wake()
  }

  /** Removes all calls of this owner, and passes each to `settle`. */
  dismiss(owner: UnitOfWork, settle: (waiter: Waiter) => void): void {
    this.#room.dismiss(owner, settle)
  }

  /** Rejects all waiters. */
  close(reason: Error): void {
    this.#room.rejectAll(reason)
    this.#mayRest()
  }

  /** No call waits any more. */
  end(): void {
    this.#watch.end()
  }
}
