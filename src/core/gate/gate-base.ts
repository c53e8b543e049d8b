import { DeadlockError, type LockLostError } from '../../errors.js'
import { reasonOf } from '../../base/abort.js'
import { type Clock, type Moment, momentOf } from '../../base/clock.js'
import type { UnitOfWork } from '../../base/owner.js'
import { NamedRunner } from '../client/named-runner.js'
import type { Runtime } from '../client/runtime.js'
import type { TenureHold } from '../hold/hold.js'
import { type TenureHost, Tenure } from '../hold/tenure.js'
import type { Terms } from '../hold/terms.js'
import { makeTicket } from '../hold/ticket.js'
import type { Line } from '../line/line.js'
import type { LockProtocol, ServerState } from '../protocol/protocol.js'
import type { Request } from '../waiting/request.js'
import type { Waiter } from '../waiting/waiter.js'
import { adopt } from './adopt.js'
import type { GateHome, LockKind, OpenGate } from './lock-kind.js'
import type { SpinWaiters } from './spin-waiters.js'
import { limitedStep, LATE } from '../waiting/limited-step.js'
import { marginOf } from '../hold/margin.js'

/** One lock in this process, while somebody here holds it or waits for it: what is so for every kind of gate. */
export abstract class GateBase<P extends LockProtocol = LockProtocol> implements TenureHost, OpenGate {
  readonly name: string
  readonly home: GateHome
  readonly runtime: Runtime
  readonly kind: LockKind
  readonly protocol: P
  /** Steps on their way that need this gate to stay. */
  protected inFlight = 0
  /** Made when somebody waits: most locks are held without that. */
  protected waiters: Line | SpinWaiters | undefined

  constructor(home: GateHome, kind: LockKind, name: string, key: string) {
    this.home = home
    this.runtime = home.runtime
    this.kind = kind
    this.name = name
    this.protocol = kind.protocol(new NamedRunner(home.runtime, name), key) as P
  }

  /** Those taken through it that are not over. */
  protected abstract readonly tenures: Iterable<Tenure>
  /** Takes in a tenure that begins, or lets go of one that has ended. */
  protected abstract take(tenure: Tenure): void
  protected abstract drop(tenure: Tenure): void
  /** Undefined: not had within the wait. */
  abstract acquire(request: Request): Promise<TenureHold | undefined>
  abstract giveBack(tenure: Tenure): Promise<boolean>
  /** Somebody who held it does not any more: whoever waits may ask. */
  protected abstract vacated(): void
  /** What nobody needs any more goes. */
  abstract rested(): void
  /** Rejects all waiters: the client drains, or closes. */
  abstract turnAway(): void
  /** Rejects all waiters, tells the holders, and frees it unless the lease shall run out. */
  abstract close(release: boolean): Promise<void>

  get clock(): Clock {
    return this.runtime.options.clock
  }

  /** How many holds there are. */
  get held(): number {
    return [...this.tenures].filter(({ over }) => !over).length
  }

  /** What this owner has of it. */
  tenureOf(owner: UnitOfWork): Tenure | undefined {
    for (const tenure of this.tenures) if (tenure.owner === owner && tenure.status() !== 'lost') return tenure
    return undefined
  }

  /** Whether it is held here under this name. */
  has(wire: string): boolean {
    for (const tenure of this.tenures) if (tenure.wire === wire && tenure.status() !== 'lost') return true
    return false
  }

  carries(): boolean {
    return false
  }

  /** An owner's name on the server: for one tenure, never used again. */
  nextWire(): string {
    return this.runtime.nextWire() + (this.kind.mark ?? '')
  }

  /** The server has granted it. */
  begin(wire: string, terms: Terms, sent: Moment, from?: Tenure): Tenure {
    const tenure = new Tenure(this, wire, terms, sent)
    if (from !== undefined) tenure.succeed(from)
    this.take(tenure)
    this.runtime.watchdog.add(tenure)
    return tenure
  }

  // ---- waiting -----------------------------------------------------------------------------------------------------

  /** It may come in: it takes the lock, or waits for it. */
  protected abstract enter(request: Request, resolve: Waiter['resolve'], reject: Waiter['reject']): void

  /** `since`: what was found out from then on took its time. */
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

  /** Why this call would wait for itself, where it would. */
  protected hopeless({ owner, explicit }: Request): DeadlockError | undefined {
    return explicit ? this.home.inVain(this.protocol.key, this.kind, this.name, owner) : undefined
  }

  /** Its owner has another lock on the same key now, and would wait for itself. */
  reconsider(owner: UnitOfWork): void {
    this.waiters?.dismiss(owner, (waiter) => this.again(waiter))
  }

  /** Other calls of an owner that was named may wait at gates of other kinds. */
  reconsiderBeside(owner: UnitOfWork): void {
    for (const gate of this.home.beside(this.protocol.key, this.kind)) gate.reconsider(owner)
  }

  // ---- taking it again ---------------------------------------------------------------------------------------------

  /** One level more for an owner that holds it already. Undefined: it does not; LATE: not within the wait. */
  protected async enterAgain(request: Request): Promise<TenureHold | typeof LATE | undefined> {
    for (let tenure = this.tenureOf(request.owner); tenure !== undefined; tenure = this.tenureOf(request.owner)) {
      const hold = await this.#enter(tenure, request)
      if (hold !== undefined) return hold
    }
    return undefined
  }

  /** Undefined: it is gone. */
  async #enter(tenure: Tenure, request: Request): Promise<TenureHold | typeof LATE | undefined> {
    if (!request.reentrant) throw new DeadlockError(this.name, 'its owner holds it already, and it is not re-entrant')
    request.signal?.throwIfAborted()
    const since = this.clock.monotonic()
    const entering = tenure.enter(request.owner, request.terms)
    const hold = await limitedStep(entering, request, this.clock, async (late) => late?.release())
    if (hold !== undefined && hold !== LATE) this.runtime.lockEvents.granted(this, tenure.wire, since, false)
    return hold
  }

  /** Other calls of an owner that has it now would wait for themselves. */
  enterAll(tenure: Tenure, others: readonly Waiter[]): void {
    for (const waiter of others) {
      const { request, resolve, reject } = waiter
      this.staying(() => this.#enter(tenure, request)).then((hold) => {
        if (hold === undefined) this.again(waiter)
        else resolve(hold === LATE ? undefined : hold)
      }, reject)
    }
  }

  /** A call that has left without being told asks anew, in what is left of its time. */
  protected again({ request, resolve, reject, since }: Waiter): void {
    const wait = Math.max(0, request.wait - (this.clock.monotonic() - since))
    // There may be another gate by now.
    this.home
      .at(this.kind, this.name, this.protocol.key)
      .acquire({ ...request, wait })
      .then(resolve, reject)
  }

  // ---- from one process to another ---------------------------------------------------------------------------------

  async adopt(from: string, owner: UnitOfWork, terms: Terms): Promise<TenureHold | undefined> {
    const { runtime } = this
    const adopting = this.staying(() => adopt(this, from, owner, terms))
    runtime.background.track(adopting.catch(() => undefined))
    return runtime.untilClosed(() => adopting, this.name)
  }

  ticketOf({ wire }: Tenure, terms: Terms): string {
    const { name, kind } = this
    return makeTicket({ kind: kind.name, keys: kind.part, name, wire, ...terms })
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
    // What is on trial may stand in the line still.
    if (ours || tenure.trial) this.runtime.background.track(this.#cleanUp(tenure))
    this.vacated()
  }

  /** Those who were served without the server and still stand in its line leave before the hold is freed. */
  leaveLine(tenure: Tenure): void {
    for (const place of tenure.served) void this.runtime.undo.acquire(this.protocol, place, tenure.lease, undefined)
    tenure.served = []
  }

  /** A renewal that was never answered may have kept it alive. Not before its end: the holder has that time to stop. */
  async #cleanUp(tenure: Tenure): Promise<void> {
    await this.runtime.background.pause(marginOf(tenure.lease))
    await this.runtime.undo.acquire(this.protocol, tenure.wire, tenure.lease, undefined)
  }

  // ---- the server's side -------------------------------------------------------------------------------------------

  inspect(briefly?: boolean, owner?: string): Promise<ServerState> {
    return this.staying(() => this.protocol.inspect(briefly, owner))
  }

  /** After a release by force: what this process held before is lost now, not at its next renewal. */
  forceRelease(): Promise<boolean> {
    return this.staying(async () => {
      const { order } = momentOf(this.clock)
      const forced = await this.protocol.forceRelease()
      if (forced) this.evict(order)
      return forced
    })
  }

  /** Whoever asked for it before that moment does not have it any more. */
  evict(order: number): void {
    for (const tenure of [...this.tenures]) {
      if (tenure.order < order) tenure.lose('it was released by force', false)
      // It was asked for meanwhile, and either may have come first.
      else tenure.verify().catch(() => undefined)
    }
  }

  /** While the step is on its way, this stays the lock's gate. */
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
