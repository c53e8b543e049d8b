import { DeadlockError, type LockLostError } from '../../errors.js'
import { reasonOf } from '../../base/abort.js'
import type { Clock, Moment } from '../../base/clock.js'
import type { UnitOfWork } from '../../base/owner.js'
import { NamedRunner } from '../client/named-runner.js'
import type { Runtime } from '../client/runtime.js'
import type { TenureHold } from '../hold/hold.js'
import { type TenureHost, Tenure } from '../hold/tenure.js'
import type { LeaseTerms } from '../hold/lease-terms.js'
import { makeTicket } from '../hold/detach-ticket.js'
import type { Line } from '../line/line.js'
import type { LockProtocol, ServerState } from '../protocol/lock-protocol.js'
import type { Request } from '../waiting/acquire-request.js'
import type { Waiter } from '../waiting/waiter.js'
import { adoptOrSteal } from './adopt-or-steal.js'
import type { GateHome, LockKind, OpenGate } from './lock-kind.js'
import { releaseByForce } from './release-by-force.js'
import type { SpinWaiters } from './spin-waiters.js'
import { limitedStep, LATE } from '../waiting/limited-step-outside-queue.js'

/** One lock in this process, while a call here holds it or waits for it: what all kinds of gates have in common. */
export abstract class Gate<P extends LockProtocol = LockProtocol> implements TenureHost, OpenGate {
  readonly name: string
  readonly home: GateHome
  readonly runtime: Runtime
  readonly kind: LockKind
  readonly protocol: P
  /** How many steps in progress need this gate to stay. */
  protected inFlight = 0
  /** Created for the first waiter: most locks are held without one. */
  protected waiters: Line | SpinWaiters | undefined

  constructor(home: GateHome, kind: LockKind, name: string, key: string) {
    this.home = home
    this.runtime = home.runtime
    this.kind = kind
    this.name = name
    this.protocol = kind.protocol(new NamedRunner(home.runtime, name), key) as P
  }

  /** The tenures acquired through this gate that have not ended. */
  protected abstract readonly tenures: Iterable<Tenure>
  /** Adds a tenure that begins; `drop` removes one that has ended. */
  protected abstract take(tenure: Tenure): void
  protected abstract drop(tenure: Tenure): void
  /** Undefined: it could not be acquired within the wait. */
  abstract acquire(request: Request): Promise<TenureHold | undefined>
  abstract giveBack(tenure: Tenure): Promise<boolean>
  /** A holder here has ended: waiters may ask now. */
  protected abstract vacated(): void
  /** Removes what is unused, such as the gate itself. */
  abstract rested(): void
  /** Rejects all waiters, because the client drains or closes. */
  abstract turnAway(): void
  /** Rejects all waiters, ends the holds, and frees the lock, unless `release` is false: then its lease runs out. */
  abstract close(release: boolean): Promise<void>

  get clock(): Clock {
    return this.runtime.options.clock
  }

  /** How many holds there are. */
  get held(): number {
    return [...this.tenures].filter(({ over }) => !over).length
  }

  get firstWaiter(): Waiter | undefined {
    return this.waiters?.first
  }

  /** The tenure of this owner. */
  tenureOf(owner: UnitOfWork): Tenure | undefined {
    for (const tenure of this.tenures) if (tenure.owner === owner && tenure.status() !== 'lost') return tenure
    return undefined
  }

  /** Whether the lock is held here under this wire name. */
  has(wire: string): boolean {
    for (const tenure of this.tenures) if (tenure.wire === wire && tenure.status() !== 'lost') return true
    return false
  }

  carries(): boolean {
    return false
  }

  /** A new wire name: for one tenure, never used again. */
  nextWire(): string {
    return this.runtime.nextWire() + (this.kind.mark ?? '')
  }

  /** The server has granted the lock. */
  begin(wire: string, terms: LeaseTerms, sent: Moment, from?: Tenure): Tenure {
    const tenure = new Tenure(this, wire, terms, sent)
    if (from !== undefined) tenure.succeed(from)
    this.take(tenure)
    this.runtime.watchdog.add(tenure)
    return tenure
  }

  // ---- waiting -----------------------------------------------------------------------------------------------------

  /** Lets the call in: it acquires the lock, or waits for it. */
  protected abstract enter(request: Request, resolve: Waiter['resolve'], reject: Waiter['reject']): void

  /** `since`: when the call started, if it has spent time already. */
  protected queue(request: Request, since?: number): Promise<TenureHold | undefined> {
    const left = since === undefined ? request.wait : request.wait - (this.clock.monotonic() - since)
    if (since !== undefined && left <= 0) return Promise.resolve(undefined)
    return new Promise((resolve, reject) => {
      this.runtime.checkOpen(this.name)
      if (request.signal?.aborted === true) throw reasonOf(request.signal)
      const hopeless = this.hopeless(request)
      if (hopeless === undefined)
        this.enter(since === undefined ? request : { ...request, wait: left }, resolve, reject)
      else if (request.wait === 0) resolve(undefined)
      else reject(hopeless)
    })
  }

  /** The error if this call would wait for itself. */
  protected hopeless({ owner, explicit }: Request): DeadlockError | undefined {
    return explicit ? this.home.inVain(this.protocol.key, this.kind, this.name, owner) : undefined
  }

  /** The owner has acquired another lock on the same key: its calls here would wait for themselves. */
  reconsider(owner: UnitOfWork): void {
    this.waiters?.dismiss(owner, (waiter) => this.again(waiter))
  }

  /** Other calls of a named owner may wait at gates of other kinds. */
  reconsiderBeside(owner: UnitOfWork): void {
    for (const gate of this.home.beside(this.protocol.key, this.kind)) gate.reconsider(owner)
  }

  // ---- acquiring again ---------------------------------------------------------------------------------------------

  /** Adds a level for an owner that holds the lock. Undefined: the owner does not hold it. LATE: not within the wait. */
  protected async enterAgain(request: Request): Promise<TenureHold | typeof LATE | undefined> {
    for (let tenure = this.tenureOf(request.owner); tenure !== undefined; tenure = this.tenureOf(request.owner)) {
      const hold = await this.#enter(tenure, request)
      if (hold !== undefined) return hold
    }
    return undefined
  }

  /** Undefined: the tenure has ended. */
  async #enter(tenure: Tenure, request: Request): Promise<TenureHold | typeof LATE | undefined> {
    if (!request.reentrant) throw new DeadlockError(this.name, 'its owner already holds it, and it is not reentrant')
    request.signal?.throwIfAborted()
    const entering = tenure.enter(request, request.terms)
    return limitedStep(entering, request, this.clock, async (late) => late?.release())
  }

  /** Other waiting calls of the owner that holds the lock now would wait for themselves: they get a level each. */
  enterAll(tenure: Tenure, others: readonly Waiter[]): void {
    for (const waiter of others) {
      const { request, resolve, reject } = waiter
      this.staying(() => this.#enter(tenure, request)).then((hold) => {
        if (hold === undefined) this.again(waiter)
        else resolve(hold === LATE ? undefined : hold)
      }, reject)
    }
  }

  /** A waiter that was removed but not settled asks again, with the rest of its time. */
  protected again({ request, resolve, reject, since }: Waiter): void {
    const wait = Math.max(0, request.wait - (this.clock.monotonic() - since))
    // Another gate may serve this lock now.
    this.home
      .at(this.kind, this.name, this.protocol.key)
      .acquire({ ...request, wait })
      .then(resolve, reject)
  }

  // ---- from one process to another ---------------------------------------------------------------------------------

  async adopt(from: string, owner: UnitOfWork, terms: LeaseTerms): Promise<TenureHold | undefined> {
    const pass = (wire: string): Promise<boolean> => this.protocol.pass(from, wire, terms.lease)
    return this.begins(() => adoptOrSteal(this, pass, owner, terms))
  }

  protected begins<T>(step: () => Promise<T>): Promise<T> {
    const beginning = this.staying(step)
    this.runtime.background.track(beginning.catch(() => undefined))
    return this.runtime.untilClosed(() => beginning, this.name)
  }

  ticketOf({ wire }: Tenure, terms: LeaseTerms): string {
    const { name, kind } = this
    return makeTicket({ kind: kind.name, keys: kind.keys, name, wire, ...terms })
  }

  detach(tenure: Tenure): void {
    this.forget(tenure)
    this.runtime.detached(tenure)
    this.leaveLine(tenure)
    this.vacated()
  }

  // ---- no longer held ----------------------------------------------------------------------------------------------

  protected forget(tenure: Tenure): void {
    tenure.end()
    this.runtime.watchdog.remove(tenure)
    this.drop(tenure)
  }

  lost(tenure: Tenure, error: LockLostError, ours: boolean): void {
    this.forget(tenure)
    this.runtime.lockEvents.lost(this, tenure.wire, error)
    this.leaveLine(tenure)
    // A hold on trial may still stand in the line.
    if (ours || tenure.trial) this.runtime.background.track(this.#cleanUp(tenure))
    this.vacated()
  }

  /** Waiters that were served without the server, and still stand in its line, leave it before the hold is freed. */
  leaveLine(tenure: Tenure): void {
    for (const place of tenure.served) void this.runtime.undo.acquire(this.protocol, place, tenure.lease, undefined)
    tenure.served = []
  }

  /** A renewal that was never answered may have kept the hold alive, or only a clock was set. The holder has time to stop first. */
  async #cleanUp(tenure: Tenure): Promise<void> {
    await tenure.untilStopped(this.runtime.background)
    await this.runtime.undo.acquire(this.protocol, tenure.wire, tenure.lease, undefined)
  }

  // ---- the server's side -------------------------------------------------------------------------------------------

  inspect(briefly?: boolean, owner?: string): Promise<ServerState> {
    return this.staying(() => this.protocol.inspect(briefly, owner))
  }

  forceRelease(owner?: string): Promise<boolean> {
    return this.staying(() => releaseByForce(this, owner))
  }

  forceExtend(owner: string, lease: number): Promise<boolean> {
    return this.staying(() => this.runtime.watchdog.extend({ protocol: this.protocol, wire: owner }, lease))
  }

  /** Ends the tenures that were asked for before that moment; of an owner, if it is given. */
  evict(order: number, owner?: string): void {
    for (const tenure of [...this.tenures]) {
      if (owner !== undefined && tenure.wire !== owner) continue
      if (tenure.order < order) tenure.lose('it was released by force', false)
      // It was asked for in the meantime, so the release may have come before or after it.
      else tenure.verify().catch(() => undefined)
    }
  }

  /** Keeps this gate the lock's gate while the step runs. */
  async staying<T>(step: () => Promise<T>): Promise<T> {
    this.inFlight++
    try {
      return await step()
    } finally {
      this.inFlight--
      this.rested()
    }
  }
}
