import { ClosedError, DeadlockError, EngineError, type LockLostError } from '../errors.js'
import type { Clock } from './clock.js'
import { Contention } from './contention.js'
import { Line } from './line.js'
import { isLine } from './line-protocol.js'
import { LoneCall, type LoneHost } from './lone-call.js'
import type { TenureHold } from './hold.js'
import type { Keeper } from './keeper.js'
import type { LockKind, LockProtocol, ServerState } from './protocol.js'
import type { Waiter } from './queue.js'
import { LATE, type Request, abortable } from './request.js'
import type { Runtime } from './runtime.js'
import { Speaker } from './speaker.js'
import { Tenure } from './tenure.js'
import { type Terms, alike, marginOf } from './terms.js'
import { makeTicket } from './ticket.js'
import type { Moment } from './trust.js'

/** How long a hold may go from hand to hand here before other processes get their turn, ms; and where none is known to wait. */
const PASS_TIME = 60
const PASS_TIME_ALONE = 90
/** How often it may. */
const PASSES = 65_536

/**
 * One lock in this process, while somebody here holds it or waits for it. Only the first who waits contends on the
 * server; who holds it here passes it on to the next without telling the server, within bounds.
 */
export class Gate implements Keeper, LoneHost {
  readonly name: string
  readonly runtime: Runtime
  readonly kind: LockKind
  readonly protocol: LockProtocol
  #tenure: Tenure | undefined
  /** Made when somebody waits: most locks are held without that. */
  #contention: Contention | Line | undefined
  #asking: LoneCall | undefined
  /** Steps on their way that need this gate to stay. */
  #inFlight = 0

  constructor(runtime: Runtime, kind: LockKind, name: string, key: string) {
    this.runtime = runtime
    this.kind = kind
    this.name = name
    this.protocol = kind.protocol(new Speaker(runtime, name), key)
  }

  get clock(): Clock {
    return this.runtime.options.clock
  }

  get tenure(): Tenure | undefined {
    return this.#tenure === undefined || this.#tenure.status() === 'lost' ? undefined : this.#tenure
  }

  // ---- taking it ---------------------------------------------------------------------------------------------------

  /** Undefined: not had within the wait. */
  acquire(request: Request): Promise<TenureHold | undefined> {
    this.runtime.teller.asked(this)
    if (this.#isAlone(request)) return this.#ask(request)
    // Whatever ends meanwhile, this gate must stay the lock's until the call stands in its queue.
    this.#inFlight++
    const simple = request.wait > 0 && this.tenure?.owner !== request.owner
    const joined = simple ? this.#queue(request) : this.#acquire(request)
    this.#inFlight--
    this.rested()
    return joined
  }

  /** Only an answer ends the call, and nobody here is before it. */
  #isAlone({ wait, signal, explicit }: Request): boolean {
    if (explicit || signal !== undefined || (wait > 0 && wait !== Infinity)) return false
    const unused = this.#tenure === undefined && this.#contention === undefined && this.#inFlight === 0
    return unused && !(isLine(this.protocol) && Line.hears(this.runtime, this.protocol))
  }

  #ask(request: Request): Promise<TenureHold | undefined> {
    this.#inFlight++
    return new Promise((resolve, reject) => {
      this.#asking = new LoneCall(this, request, resolve, reject)
    })
  }

  get asks(): boolean {
    return this.#asking !== undefined
  }

  answered(call: LoneCall, mustWait: boolean): void {
    this.#asking = undefined
    this.#inFlight--
    if (mustWait && call.request.wait > 0) this.#contend().enterFirst(call)
    else {
      if (mustWait) call.resolve(undefined)
      this.#contention?.start()
    }
    this.rested()
  }

  #contend(): Contention | Line {
    return (this.#contention ??= isLine(this.protocol) ? new Line(this, this.protocol) : new Contention(this))
  }

  #queue(request: Request): Promise<TenureHold | undefined> {
    return new Promise((resolve, reject) => {
      this.#join(request, resolve, reject)
    })
  }

  /** By an owner who may hold it already, or a single try. */
  #acquire(request: Request): Promise<TenureHold | undefined> {
    const since = this.clock.monotonic()
    return this.staying(async () => {
      for (let tenure = this.tenure; tenure?.owner === request.owner; tenure = this.tenure) {
        const hold = await this.#enter(tenure, request)
        if (hold !== undefined) return hold === LATE ? undefined : hold
      }
      if (request.wait === 0) {
        await this.#certain(request)
        return this.#queue(request)
      }
      // What it found out took its time.
      const left = request.wait - (this.clock.monotonic() - since)
      return left > 0 ? this.#queue({ ...request, wait: left }) : undefined
    })
  }

  /** One level more for who holds it already. Undefined: it turned out to be gone. */
  async #enter(tenure: Tenure, request: Request): Promise<TenureHold | typeof LATE | undefined> {
    if (!request.reentrant) throw new DeadlockError(this.name, 'its owner holds it already, and it is not re-entrant')
    request.signal?.throwIfAborted()
    const since = this.clock.monotonic()
    const entering = tenure.enter(request.owner, request.terms)
    const hold = await abortable(entering, request, this.clock, async (late) => late?.release())
    if (hold !== undefined && hold !== LATE) this.runtime.teller.granted(this, tenure.wire, since, false)
    return hold
  }

  /** Other calls of an owner that has it now would wait for themselves. */
  enterAll(tenure: Tenure, others: readonly Waiter[]): void {
    for (const { request, resolve, reject, since } of others) {
      const wait = Math.max(0, request.wait - (this.clock.monotonic() - since))
      const enter = async (): Promise<TenureHold | undefined> => {
        const hold = await this.#enter(tenure, request)
        if (hold === LATE) return undefined
        return hold ?? this.acquire({ ...request, wait })
      }
      this.staying(enter).then(resolve, reject)
    }
  }

  #join(request: Request, resolve: Waiter['resolve'], reject: Waiter['reject']): void {
    const { signal, wait } = request
    if (this.runtime.closed) {
      reject(new ClosedError(this.name))
      return
    }
    if (signal?.aborted === true) {
      reject(signal.reason)
      return
    }
    const behind = this.tenure !== undefined || this.asks || this.#contention?.first !== undefined
    // A try beside another call of its owner shares that one's luck.
    if (behind && wait === 0 && this.#contention?.asksFor(request) !== true) {
      resolve(undefined)
      return
    }
    this.#contend().enter(request, resolve, reject, behind)
  }

  /** A single try believes in a hold of this process only as far as the server has confirmed it just now. */
  async #certain(request: Request): Promise<void> {
    const { tenure } = this
    if (tenure === undefined || this.clock.monotonic() - tenure.provenAt < PASS_TIME) return
    const verified = tenure.verify().catch(() => undefined)
    await abortable(verified, request, this.clock, () => Promise.resolve())
  }

  begin(wire: string, terms: Terms, sent: Moment, from?: Tenure): Tenure {
    const tenure = new Tenure(this, wire, terms, sent, from)
    this.#tenure = tenure
    this.runtime.watchdog.add(tenure)
    return tenure
  }

  // ---- giving it back ----------------------------------------------------------------------------------------------

  giveBack(tenure: Tenure): Promise<boolean> {
    const contention = this.#contention
    const next = contention?.first
    // A line on the server is passed along there.
    if (contention?.passesOn !== true || next === undefined) return this.free(tenure)
    const now = this.clock.monotonic()
    contention.answeredAt = now
    const turn = contention.keepsTurns ? PASS_TIME : PASS_TIME_ALONE
    const mayPass = !this.runtime.closed && tenure.passes < PASSES && now - tenure.opened < turn
    if (!mayPass || tenure !== this.#tenure) return this.free(tenure)
    const half = tenure.lease / 2
    const fresh = tenure.status() === 'held' && now - tenure.provenAt < half && tenure.lastsUntil - now >= half
    if (fresh && tenure.watched && tenure.token === undefined && alike(next.request.terms, tenure)) {
      this.runtime.teller.released(this, tenure.wire, tenure.opened)
      tenure.passes++
      contention.hand(next, tenure, true)
      return FREED
    }
    this.#forget(tenure)
    return contention.passOn(tenure)
  }

  #forget(tenure: Tenure): void {
    tenure.end()
    this.runtime.watchdog.remove(tenure)
    if (this.#tenure === tenure) this.#tenure = undefined
  }

  /** Frees it on the server and lets all compete. False: it was lost, or nobody answered in time. */
  async free(tenure: Tenure): Promise<boolean> {
    this.#forget(tenure)
    this.#inFlight++
    const wanted = this.#contention?.first !== undefined
    if (wanted) this.#contention?.freeing()
    let unanswered = false
    this.runtime.begun()
    const outcome = this.runtime.insist(
      () => this.protocol.release(tenure.wire),
      tenure.lostAt,
      (error) => {
        unanswered ||= error instanceof EngineError && error.code === 'NO_REPLY'
        this.#contention?.freed(undefined)
      },
    )
    // Where nobody else is known to wait, the next of us asks right behind.
    this.#contention?.start()
    const result = await outcome
    this.runtime.ended()
    this.#inFlight--
    const answer = 'answer' in result ? result.answer : undefined
    if ('error' in result) {
      this.runtime.fail(result.error)
      // Its place in the line has no lease that would end it.
      if (tenure.trial) void this.runtime.undo(this.protocol, tenure.wire, tenure.lease, undefined)
    }
    this.runtime.teller.released(this, tenure.wire, tenure.opened)
    this.#contention?.freed(wanted ? answer : undefined)
    this.rested()
    return 'answer' in result && (answer !== undefined || unanswered)
  }

  lost(tenure: Tenure, error: LockLostError, ours: boolean): void {
    this.#forget(tenure)
    this.lapsed(tenure, error)
    if (ours) this.runtime.track(this.#cleanUp(tenure))
    this.#contention?.start()
    this.rested()
  }

  lapsed(tenure: Tenure, error: LockLostError): void {
    this.runtime.teller.lost(this, tenure.wire, error)
  }

  /** A renewal that was never answered may have kept it alive. Not before its end: the holder has that time to stop. */
  async #cleanUp(tenure: Tenure): Promise<void> {
    await this.runtime.pause(marginOf(tenure.lease))
    await this.runtime.undo(this.protocol, tenure.wire, tenure.lease, undefined)
  }

  doubted(tenure: Tenure, cause: unknown): void {
    this.runtime.teller.doubted(this, tenure.wire, cause)
  }

  renewed(tenure: Tenure): void {
    this.runtime.teller.renewed(this, tenure.wire)
  }

  moved(tenure: Tenure): void {
    this.runtime.watchdog.moved(tenure)
  }

  async insist<T>(tenure: Tenure, step: () => Promise<T>): Promise<T | undefined> {
    const outcome = await this.runtime.insist(step, tenure.lostAt)
    return 'answer' in outcome ? outcome.answer : undefined
  }

  ticket(tenure: Tenure, terms: Terms): string {
    this.#forget(tenure)
    this.#contention?.start()
    this.rested()
    return makeTicket({ kind: this.kind.name, name: this.name, wire: tenure.wire, ...terms })
  }

  inspect(): Promise<ServerState> {
    return this.staying(() => this.protocol.inspect())
  }

  /** After a release by force: a hold of this process that was there before is told now, not at its next renewal. */
  forceRelease(): Promise<boolean> {
    return this.staying(async () => {
      const sent = this.clock.monotonic()
      const forced = await this.protocol.forceRelease()
      const tenure = this.#tenure
      if (forced && tenure !== undefined && tenure.opened < sent) tenure.lose('it was released by force', false)
      return forced
    })
  }

  /** While the step is on its way, this stays the lock's gate. */
  async staying<T>(step: () => Promise<T>): Promise<T> {
    this.#inFlight++
    try {
      return await step()
    } finally {
      this.#inFlight--
      this.rested()
    }
  }

  /** Rejects who waits, tells who holds, and frees it unless the lease shall run out. */
  async close(release: boolean): Promise<void> {
    const contention = this.#contention
    const asking = this.#asking
    contention?.close(new ClosedError(this.name))
    asking?.close(new ClosedError(this.name))
    const { tenure } = this
    if (tenure !== undefined) {
      tenure.abandon(new ClosedError(this.name))
      if (release) await this.free(tenure)
      else this.#forget(tenure)
    }
    await Promise.all([contention?.running, asking?.running])
    this.rested()
  }

  /** What nobody needs any more goes: what was there for waiting, and the gate itself. */
  rested(): void {
    const contention = this.#contention
    if (this.#inFlight > 0 || contention?.first !== undefined || contention?.running !== undefined) return
    const held = this.#tenure !== undefined
    if (!held || contention?.keepsTurns === false) {
      contention?.end()
      this.#contention = undefined
    }
    if (!held) this.runtime.retired(this)
  }
}

const FREED = Promise.resolve(true)
