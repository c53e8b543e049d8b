import { ReplicationError } from '../../errors.js'
import { type Clock, type Moment, momentOf } from '../../base/clock.js'
import { LocalHoldCheck } from '../waiting/local-hold-check.js'
import type { GateHost } from '../waiting/gate-host.js'
import type { LoneCall } from '../waiting/lone-call.js'
import type { UnitOfWork } from '../../base/owner.js'
import type { Request } from '../waiting/request.js'
import { isLate, lateError } from '../waiting/late-answer.js'
import { serve } from '../waiting/serve.js'
import { SpinLoop } from './spin-loop.js'
import type { Tenure } from '../hold/tenure.js'
import { type Terms, alike } from '../hold/terms.js'
import type { Contest, Outcome } from '../waiting/ask-loop.js'
import { WaitingRoom } from '../waiting/waiting-room.js'
import type { Waiter } from '../waiting/waiter.js'

/** A tenure that the next attempt is to take over on the server. */
interface Passing {
  readonly from: Tenure
  readonly done: (passed: boolean | Promise<boolean>) => void
}

/** Those who wait at the gate of a spin lock: for the first of them it is asked again and again. It is there only while it is needed. */
export class SpinWaiters implements Contest<Waiter> {
  readonly #host: GateHost
  readonly #room: WaitingRoom
  readonly #spinner = new SpinLoop(this)
  readonly #watch: LocalHoldCheck
  #passing: Passing | undefined
  #asking: Waiter | undefined
  /** Those who left while they were asked for: told when the attempt is over. */
  #leaving: (() => void)[] = []
  /** The server has answered whoever waited at this moment: from then on, trouble is waited out. */
  answeredAt = -Infinity
  readonly passesOn = true

  constructor(host: GateHost) {
    this.#host = host
    this.#watch = new LocalHoldCheck(host, () => this.#room.first !== undefined)
    this.#room = new WaitingRoom(host.runtime, host.name, (waiter) => this.#left(waiter))
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

  /** Who may have it next without the server's word. */
  heir(): Waiter | undefined {
    return this.#room.first
  }

  asksFor({ owner }: Request): boolean {
    return this.#asking?.request.owner === owner
  }

  // ---- waiting -----------------------------------------------------------------------------------------------------

  /** `behind`: somebody here comes first. */
  enter(request: Request, resolve: Waiter['resolve'], reject: Waiter['reject'], behind: boolean): void {
    const waiter = this.#room.enter(request, resolve, reject)
    if (behind) this.#admit(waiter)
    this.start()
  }

  /** Has asked already, before all who wait here. */
  enterFirst({ request, resolve, reject, sent }: LoneCall): void {
    this.answeredAt = sent.mono
    this.#admit(this.#room.enter(request, resolve, reject, sent.mono))
    this.#spinner.start(true)
  }

  start(): void {
    this.#spinner.start()
    this.#watch.start()
  }

  /** From here on the call waits, unless too many do. */
  #admit(waiter: Waiter): void {
    if (!waiter.queued || waiter.counted || waiter.request.wait === 0) return
    if (this.#room.admit(waiter)) this.#host.runtime.lockEvents.waits(this.#host)
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
      if (left !== null) return left
      await this.#granted(waiter, wire, sent, passing?.from)
      return 'served'
    } catch (trouble) {
      // It was passed on, and is given back for want of replicas.
      passing?.done(trouble instanceof ReplicationError || this.#host.free(passing.from))
      void runtime.undo.acquire(protocol, wire, lease, trouble)
      return { trouble }
    } finally {
      this.#asking = undefined
      for (const tell of this.#leaving.splice(0)) tell()
    }
  }

  /** The hold of this process goes to the next one here by one script; 0: it was gone, ask as anyone does. */
  async #takeOver({ from, done }: Passing, wire: string, lease: number): Promise<null | 0> {
    const passed = await this.#host.protocol.pass(from.wire, wire, lease)
    if (passed) this.#host.runtime.lockEvents.released(this.#host, from.wire, from.opened)
    done(passed)
    return passed ? null : 0
  }

  /** The server has written `wire` as the holder. Its waiter may have left meanwhile. */
  async #granted(waiter: Waiter, wire: string, sent: Moment, from: Tenure | undefined): Promise<void> {
    const { runtime, protocol, name } = this.#host
    const { terms } = waiter.request
    const taker = waiter.queued ? waiter : this.#likeMinded(terms)
    const late = isLate(this.clock, sent, terms.lease)
    if (taker !== undefined && !runtime.closed && !late) {
      this.hand(taker, this.#host.begin(wire, terms, sent, from), false)
      return
    }
    if (taker !== undefined && !runtime.closed) {
      this.#room.remove(taker)
      taker.reject(lateError(name, terms.lease))
    }
    await runtime.undo.acquire(protocol, wire, terms.lease, undefined)
  }

  #likeMinded(terms: Terms): Waiter | undefined {
    for (const waiter of this.#room.all()) if (alike(waiter.request.terms, terms)) return waiter
    return undefined
  }

  refused(waiter: Waiter): void {
    this.#admit(waiter)
    this.#room.refuseTries(waiter)
  }

  /** Rejects those for whom it is over. True: the others wait on. */
  troubled(trouble: unknown): boolean {
    return this.#room.troubled(trouble, this.answeredAt)
  }

  rested(): void {
    this.#dropPassing()
    this.#host.rested()
  }

  /** Whoever it was to be passed on to has left. */
  #dropPassing(): void {
    const passing = this.#passing
    this.#passing = undefined
    passing?.done(this.#host.free(passing.from))
  }

  // ---- when a hold of this process ends ------------------------------------------------------------------------------

  hand(waiter: Waiter, tenure: Tenure, local: boolean): void {
    serve(this.#host, this.#room, waiter, tenure, local)
    this.#watch.start()
  }

  /** The next one takes it over on the server. False: it was gone. */
  passOn(tenure: Tenure): Promise<boolean> {
    this.#dropPassing()
    return new Promise((done) => {
      this.#passing = { from: tenure, done }
      // It may be asleep: a hold that was adopted was another's when it asked.
      this.#spinner.wake()
      this.start()
    })
  }

  /** It is being freed openly, for all to compete. */
  freeing(): void {
    if (this.#room.first !== undefined) this.#spinner.freeing()
  }

  freed(): void {
    this.start()
  }

  // ---- leaving -----------------------------------------------------------------------------------------------------

  /** The wait ended without the lock. Resolves when nothing of it is left. */
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

  /** All calls of this owner leave; `settle` says so to each. */
  dismiss(owner: UnitOfWork, settle: (waiter: Waiter) => void): void {
    this.#room.dismiss(owner, settle)
  }

  /** Rejects all who wait. */
  close(reason: Error): void {
    this.#room.rejectAll(reason)
    this.#mayRest()
  }

  /** Nobody waits any more. */
  end(): void {
    this.#watch.end()
  }
}
