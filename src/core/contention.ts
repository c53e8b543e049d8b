import { ReplicationError } from '../errors.js'
import { Contender, type Outcome } from './contender.js'
import { Crowd } from './crowd.js'
import type { Told } from './diagnostics.js'
import { HoldWatch } from './hold-watch.js'
import type { LoneCall } from './lone-call.js'
import type { UnitOfWork } from './owner.js'
import type { LockProtocol } from './protocol.js'
import type { Waiter } from './queue.js'
import type { Request } from './request.js'
import type { Runtime } from './runtime.js'
import { Spinner } from './spinner.js'
import type { Tenure } from './tenure.js'
import { isLate, lateError, serve } from './serve.js'
import { type Terms, alike } from './terms.js'
import { type Moment, momentOf } from './trust.js'

/** The gate at which they wait. */
export interface Host extends Told {
  readonly runtime: Runtime
  readonly protocol: LockProtocol
  /** Who holds it here, if anybody does. */
  readonly tenure: Tenure | undefined
  /** A call that came before anybody waited has not been answered yet. */
  readonly asks: boolean
  nextWire(): string
  /** The server has granted it. */
  begin(wire: string, terms: Terms, sent: Moment, from?: Tenure): Tenure
  /** Other calls of the owner that has it now. */
  enterAll(tenure: Tenure, others: readonly Waiter[]): void
  /** Its calls at gates of other kinds on this key. */
  reconsiderBeside(owner: UnitOfWork): void
  /** Frees it on the server after all. */
  free(tenure: Tenure): Promise<boolean>
  /** Nobody waits, or the contest is over for now. */
  rested(): void
}

/** Those who wait at one gate, and what an attempt for the first of them brings. It is there only while it is needed. */
export class Contention extends Crowd<Host> {
  protected readonly contender: Contender | Spinner
  /** A tenure that the next attempt is to take over on the server. */
  #passing: { readonly from: Tenure; readonly done: (passed: boolean | Promise<boolean>) => void } | undefined
  readonly #watch: HoldWatch
  /** Freed openly although others wait here: until it is known whether other processes were told, nobody here asks. */
  #yielding = false
  #asking: Waiter | undefined
  /** The server has answered whoever waited at this moment: from then on, trouble is waited out. */
  answeredAt = -Infinity
  readonly passesOn = true

  constructor(host: Host) {
    super(host)
    this.#watch = new HoldWatch(host, () => this.room.first !== undefined)
    this.contender = host.protocol.spins === true ? new Spinner(this) : new Contender(this)
  }

  /** Who may have it next without the server's word. */
  heir(): Waiter | undefined {
    return this.room.first
  }

  /** Whether others must have their turn before the next of us. */
  get keepsTurns(): boolean {
    return this.contender.othersWait
  }

  asksFor({ owner }: Request): boolean {
    return this.#asking?.request.owner === owner
  }

  protected asks(waiter: Waiter): boolean {
    return this.#asking === waiter
  }

  // ---- waiting -----------------------------------------------------------------------------------------------------

  /** `behind`: somebody here comes first. */
  enter(request: Request, resolve: Waiter['resolve'], reject: Waiter['reject'], behind: boolean): void {
    const waiter = this.room.enter(request, resolve, reject)
    if (behind) this.admit(waiter)
    this.start()
  }

  /** Has asked already, before all who wait here. */
  enterFirst({ request, resolve, reject, sent }: LoneCall): void {
    this.answeredAt = sent.mono
    this.admit(this.room.enter(request, resolve, reject, sent.mono))
    this.contender.start(true)
  }

  start(): void {
    this.contender.start()
    this.#watchHold()
  }

  #watchHold(): void {
    this.#watch.start()
  }

  // ---- contending --------------------------------------------------------------------------------------------------

  next(): Waiter | undefined {
    // What is to be passed on is ours to take, whoever else was told of an earlier release.
    const yields = this.#yielding && this.#passing === undefined
    const { runtime, tenure } = this.host
    return runtime.closed || yields || tenure !== undefined || this.host.asks ? undefined : this.room.first
  }

  async attempt(waiter: Waiter): Promise<Outcome> {
    const { runtime, protocol } = this.host
    const wire = this.host.nextWire()
    const { lease } = waiter.request.terms
    const passing = this.#passing
    this.#passing = undefined
    this.#asking = waiter
    const sent = momentOf(this.clock)
    try {
      const left =
        passing === undefined
          ? await protocol.acquire(wire, lease, waiter.request.wait > 0)
          : await this.#takeOver(passing, wire, lease)
      this.answeredAt = sent.mono
      if (left !== null) return left
      await this.#granted(waiter, wire, sent, passing?.from)
      return 'served'
    } catch (trouble) {
      // It was passed on, and is given back for want of replicas.
      passing?.done(trouble instanceof ReplicationError || this.host.free(passing.from))
      void runtime.undo(protocol, wire, lease, trouble)
      return { trouble }
    } finally {
      this.#asking = undefined
      this.attempted()
    }
  }

  /** The hold of this process goes to the next one here by one script; 0: it was gone, ask as anyone does. */
  async #takeOver(passing: { from: Tenure; done: (passed: boolean) => void }, wire: string, lease: number) {
    const { from } = passing
    const passed = await this.host.protocol.pass(from.wire, wire, lease)
    if (passed) this.host.runtime.teller.released(this.host, from.wire, from.opened)
    passing.done(passed)
    return passed ? null : 0
  }

  /** The server has written `wire` as the holder. Its waiter may have left meanwhile. */
  async #granted(waiter: Waiter, wire: string, sent: Moment, from: Tenure | undefined): Promise<void> {
    const { runtime, protocol, name } = this.host
    const { terms } = waiter.request
    const taker = waiter.queued ? waiter : this.#likeMinded(terms)
    const late = isLate(this.clock, sent, terms.lease)
    if (taker !== undefined && !runtime.closed && !late) {
      this.hand(taker, this.host.begin(wire, terms, sent, from), false)
      return
    }
    if (taker !== undefined && !runtime.closed) {
      this.room.remove(taker)
      taker.reject(lateError(name, terms.lease))
    }
    await runtime.undo(protocol, wire, terms.lease, undefined)
  }

  #likeMinded(terms: Terms): Waiter | undefined {
    for (const waiter of this.room.all()) if (alike(waiter.request.terms, terms)) return waiter
    return undefined
  }

  async look(): Promise<number | undefined> {
    // What is to be passed on is ours to take.
    if (this.#passing !== undefined) return undefined
    // What goes wrong here goes wrong with the attempt too, and is dealt with there.
    const { ttl } = await this.host.protocol.inspect().catch(() => ({ ttl: -2 }))
    return ttl === -2 ? undefined : ttl
  }

  refused(waiter: Waiter): void {
    this.admit(waiter)
    this.room.refuseTries(waiter)
  }

  /** Rejects those for whom it is over. True: the others wait on. */
  troubled(trouble: unknown): boolean {
    return this.room.troubled(trouble, this.answeredAt)
  }

  override rested(): void {
    this.#dropPassing()
    super.rested()
  }

  /** Whoever it was to be passed on to has left. */
  #dropPassing(): void {
    const passing = this.#passing
    this.#passing = undefined
    passing?.done(this.host.free(passing.from))
  }

  // ---- when a hold of this process ends ------------------------------------------------------------------------------

  hand(waiter: Waiter, tenure: Tenure, local: boolean): void {
    serve(this.host, this.room, waiter, tenure, local)
    this.#watchHold()
  }

  /** The next one takes it over on the server. False: it was gone. */
  passOn(tenure: Tenure): Promise<boolean> {
    this.#dropPassing()
    return new Promise((done) => {
      this.#passing = { from: tenure, done }
      // It may be asleep: a hold that was adopted was another's when it asked.
      this.contender.wake()
      this.start()
    })
  }

  /** It is being freed openly, for all to compete. */
  freeing(): void {
    if (this.room.first === undefined) return
    this.#yielding = this.contender.freeing()
  }

  /** So many processes were told; undefined: not known. */
  freed(told: number | undefined): void {
    this.#yielding = false
    this.contender.freed(told)
    this.start()
  }

  /** Nobody waits any more. */
  end(): void {
    this.#watch.end()
  }
}
