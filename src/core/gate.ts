import { ClosedError, DeadlockError, EngineError, LockLostError } from '../errors.js'
import type { Clock, Timer } from './clock.js'
import { Contender, type Contest, type Outcome, POLL } from './contender.js'
import { Teller } from './diagnostics.js'
import type { TenureHold } from './hold.js'
import type { UnitOfWork } from './owner.js'
import type { LockKind, LockProtocol, ServerState } from './protocol.js'
import type { Waiter } from './queue.js'
import { GRACE, LATE, type Request, abortable } from './request.js'
import type { Runtime } from './runtime.js'
import { type Keeper, type Moment, Tenure, type Terms, marginOf, momentOf } from './tenure.js'
import { makeTicket } from './ticket.js'
import { WaitingRoom } from './waiting-room.js'

/** How long a hold may go from hand to hand here before other processes get their turn, and how often. */
const PASS_TIME = 60
const PASSES = 65_536
/** Trouble that passes: waited out, once the server has answered a waiter at all. */
const PASSING: ReadonlySet<string> = new Set([
  'OFFLINE',
  'NO_REPLY',
  'BUSY',
  'LOADING',
  'READONLY',
  'MASTERDOWN',
  'CLUSTERDOWN',
  'TRYAGAIN',
  'MOVED',
  'ASK',
])

/**
 * Where the acquirers of one lock in this process queue. Only the first contends on the server; who holds it here passes
 * it on to the next without telling the server, within bounds.
 */
export class Gate implements Keeper, Contest {
  readonly name: string
  readonly clock: Clock
  readonly protocol: LockProtocol
  readonly #runtime: Runtime
  readonly #kind: LockKind
  readonly #teller: Teller
  readonly #retired: () => void
  readonly #room: WaitingRoom
  readonly #contender = new Contender(this)
  #tenure: Tenure | undefined
  /** A tenure that the next attempt is to take over on the server. */
  #passing: { readonly from: Tenure; readonly done: (passed: boolean | Promise<boolean>) => void } | undefined
  /** Runs while others wait for a hold of this process. */
  #watch: Timer | undefined
  /** Freed openly although others wait here: until it is known whether other processes were told, nobody here asks. */
  #yielding = false
  /** Steps on their way that need this gate to stay. */
  #inFlight = 0
  #asking: Waiter | undefined
  #afterAsking: (() => void)[] = []
  /** The server has answered whoever waited at this moment: from then on, trouble is waited out. */
  #answeredAt = -Infinity

  constructor(runtime: Runtime, kind: LockKind, { name, key }: { name: string; key: string }, retired: () => void) {
    this.#runtime = runtime
    this.#kind = kind
    this.name = name
    this.clock = runtime.options.clock
    this.#teller = new Teller(this.clock, runtime.events, { client: runtime.options.id, kind: kind.name, name })
    this.protocol = kind.protocol(runtime.speaker(name), key)
    this.#retired = retired
    this.#room = new WaitingRoom(runtime, name, (waiter, settle) => {
      this.#left(waiter, settle)
    })
  }

  /** Who holds it here, if anybody does. */
  get tenure(): Tenure | undefined {
    return this.#tenure === undefined || this.#tenure.status() === 'lost' ? undefined : this.#tenure
  }

  get channel(): string {
    return this.protocol.channel
  }

  get wakeups(): Runtime['wakeups'] {
    return this.#runtime.wakeups
  }

  // ---- waiting -----------------------------------------------------------------------------------------------------

  /** Undefined: not had within the wait. */
  acquire(request: Request): Promise<TenureHold | undefined> {
    this.#teller.asked()
    // Whatever ends meanwhile, this gate must stay the lock's until the call stands in its queue.
    this.#inFlight++
    const simple = request.wait > 0 && this.tenure?.owner !== request.owner
    const joined = simple ? this.#queue(request) : this.#acquire(request)
    this.#inFlight--
    this.#retire()
    return joined
  }

  #queue(request: Request): Promise<TenureHold | undefined> {
    return new Promise((resolve, reject) => {
      this.#join(request, resolve, reject)
    })
  }

  /** By an owner who may hold it already, or a single try. */
  #acquire(request: Request): Promise<TenureHold | undefined> {
    const since = this.clock.monotonic()
    return this.#staying(async () => {
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
    if (hold !== undefined && hold !== LATE) this.#teller.granted(tenure.wire, since, false)
    return hold
  }

  #join(request: Request, resolve: Waiter['resolve'], reject: Waiter['reject']): void {
    const { signal, wait } = request
    if (this.#runtime.closed) {
      reject(new ClosedError(this.name))
      return
    }
    if (signal?.aborted === true) {
      reject(signal.reason)
      return
    }
    const behind = this.tenure !== undefined || this.#room.first !== undefined
    // A try beside another call of its owner shares that one's luck.
    if (behind && wait === 0 && this.#asking?.request.owner !== request.owner) {
      resolve(undefined)
      return
    }
    const waiter = this.#room.enter(request, resolve, reject)
    if (behind && wait > 0) this.#admit(waiter)
    this.#contender.start()
    this.#watchHold()
  }

  /** A single try believes in a hold of this process only as far as the server has confirmed it just now. */
  async #certain(request: Request): Promise<void> {
    const { tenure } = this
    if (tenure === undefined || this.clock.monotonic() - tenure.provenAt < PASS_TIME) return
    const verified = tenure.verify().catch(() => undefined)
    await abortable(verified, request, this.clock, () => Promise.resolve())
  }

  /** While others wait here, a hold of this process is not taken on trust for longer than from poll to poll. */
  #watchHold(): void {
    if (this.#watch !== undefined || this.#tenure === undefined || this.#room.first === undefined) return
    this.#watch = this.clock.setTimer(
      () => {
        this.#watch = undefined
        const { tenure } = this
        const aged = tenure !== undefined && this.clock.monotonic() - tenure.provenAt > POLL / 2
        if (aged && this.#room.first !== undefined) tenure.verify().catch(() => undefined)
        this.#watchHold()
      },
      POLL * (0.9 + 0.2 * this.clock.random()),
    )
  }

  #admit(waiter: Waiter): void {
    if (!waiter.counted && this.#room.admit(waiter)) this.#teller.waits()
  }

  /** The wait ended without the lock. What an attempt on its way may still bring goes to the next, or back. */
  #left(waiter: Waiter, settle: () => void): void {
    if (this.#asking !== waiter) settle()
    else {
      const timer = this.clock.setTimer(settle, GRACE)
      this.#afterAsking.push(() => {
        timer.cancel()
        settle()
      })
    }
    if (this.#room.first === undefined) this.#nobodyWaits()
  }

  #nobodyWaits(): void {
    if (this.#contender.running === undefined) this.#dropPassing()
    else this.#contender.wake()
  }

  // ---- contending --------------------------------------------------------------------------------------------------

  next(): Waiter | undefined {
    // What is to be passed on is ours to take, whoever else was told of an earlier release.
    const yields = this.#yielding && this.#passing === undefined
    return this.#runtime.closed || yields || this.tenure !== undefined ? undefined : this.#room.first
  }

  async attempt(waiter: Waiter): Promise<Outcome> {
    const wire = this.#runtime.nextWire()
    const { lease } = waiter.request.terms
    const passing = this.#passing
    this.#passing = undefined
    this.#asking = waiter
    const sent = momentOf(this.clock)
    try {
      const left =
        passing === undefined ? await this.protocol.acquire(wire, lease) : await this.#takeOver(passing, wire, lease)
      this.#answeredAt = sent.mono
      if (left !== undefined) return left
      await this.#granted(waiter, wire, sent, passing?.from)
      return 'served'
    } catch (trouble) {
      passing?.done(this.#free(passing.from))
      void this.#runtime.undo(this.protocol, wire, lease, trouble)
      return { trouble }
    } finally {
      this.#asking = undefined
      const settle = this.#afterAsking
      if (settle.length > 0) {
        this.#afterAsking = []
        for (const settled of settle) settled()
      }
    }
  }

  /** The hold of this process goes to the next one here by one script; 0: it was gone, ask as anyone does. */
  async #takeOver(passing: { from: Tenure; done: (passed: boolean) => void }, wire: string, lease: number) {
    const passed = await this.protocol.pass(passing.from.wire, wire, lease)
    if (passed) this.#teller.released(passing.from.wire, passing.from.opened)
    passing.done(passed)
    return passed ? undefined : 0
  }

  /** The server has written `wire` as the holder. Its waiter may have left meanwhile. */
  async #granted(waiter: Waiter, wire: string, sent: Moment, from: Tenure | undefined): Promise<void> {
    const { terms } = waiter.request
    const taker = waiter.queued ? waiter : this.#likeMinded(terms)
    if (taker === undefined || this.#runtime.closed) {
      await this.#runtime.undo(this.protocol, wire, terms.lease, undefined)
      return
    }
    if (this.clock.monotonic() - sent.mono >= terms.lease - marginOf(terms.lease)) {
      this.#room.remove(taker)
      taker.reject(
        new LockLostError(this.name, `its lease of ${terms.lease} ms was over before the server's answer came`),
      )
      await this.#runtime.undo(this.protocol, wire, terms.lease, undefined)
      return
    }
    this.#tenure = new Tenure(this, wire, terms, sent, from)
    this.#runtime.watchdog.add(this.#tenure)
    this.#hand(taker, this.#tenure, false)
  }

  #likeMinded(terms: Terms): Waiter | undefined {
    for (const waiter of this.#room.all()) if (alike(waiter.request.terms, terms)) return waiter
    return undefined
  }

  #hand(waiter: Waiter, tenure: Tenure, local: boolean): void {
    const { owner } = waiter.request
    this.#room.remove(waiter)
    waiter.resolve(tenure.give(owner))
    this.#teller.granted(tenure.wire, waiter.since, local)
    const others = this.#room.of(owner)
    for (const other of others) this.#room.remove(other)
    this.#enterAll(tenure, others)
    this.#watchHold()
  }

  /** Other calls of an owner that has it now would wait for themselves. */
  #enterAll(tenure: Tenure, others: readonly Waiter[]): void {
    for (const { request, resolve, reject, since } of others) {
      const wait = Math.max(0, request.wait - (this.clock.monotonic() - since))
      const enter = async (): Promise<TenureHold | undefined> => {
        const hold = await this.#enter(tenure, request)
        if (hold === LATE) return undefined
        return hold ?? this.acquire({ ...request, wait })
      }
      this.#staying(enter).then(resolve, reject)
    }
  }

  async look(): Promise<number | undefined> {
    // What is to be passed on is ours to take.
    if (this.#passing !== undefined) return undefined
    // What goes wrong here goes wrong with the attempt too, and is dealt with there.
    const { ttl } = await this.protocol.inspect().catch(() => ({ ttl: -2 }))
    return ttl === -2 ? undefined : ttl
  }

  refused(waiter: Waiter): void {
    if (waiter.queued && waiter.request.wait > 0) this.#admit(waiter)
    this.#room.refuseTries(waiter)
  }

  /** Rejects those for whom it is over. True: the others wait on. */
  troubled(trouble: unknown): boolean {
    const passing = trouble instanceof EngineError && PASSING.has(trouble.code)
    const away = passing && (trouble.code === 'OFFLINE' || trouble.code === 'NO_REPLY')
    const first = this.#room.first
    for (const waiter of this.#room.all()) {
      waiter.request.trouble = trouble
      // Each is told by the server itself, save that it cannot be reached: that is so for all.
      if (passing && waiter.since <= this.#answeredAt) continue
      if (waiter !== first && !away) break
      this.#room.remove(waiter)
      waiter.reject(trouble)
    }
    return passing && (this.#room.first?.since ?? Infinity) <= this.#answeredAt
  }

  cannotSubscribe(error: unknown): void {
    this.#runtime.options.logger.warn(`cannot subscribe for '${this.name}': waiting by polling`, error)
  }

  rested(): void {
    this.#dropPassing()
    this.#retire()
  }

  /** Whoever it was to be passed on to has left. */
  #dropPassing(): void {
    const passing = this.#passing
    this.#passing = undefined
    passing?.done(this.#free(passing.from))
  }

  // ---- giving back -------------------------------------------------------------------------------------------------

  giveBack(tenure: Tenure): Promise<boolean> {
    const now = this.clock.monotonic()
    this.#answeredAt = now
    const next = this.#room.first
    const mayPass =
      next !== undefined && !this.#runtime.closed && tenure.passes < PASSES && now - tenure.opened < PASS_TIME
    if (!mayPass || tenure !== this.#tenure) return this.#free(tenure)
    const half = tenure.lease / 2
    const fresh = tenure.status() === 'held' && now - tenure.provenAt < half && tenure.lastsUntil - now >= half
    if (fresh && tenure.watched && alike(next.request.terms, tenure)) {
      this.#teller.released(tenure.wire, tenure.opened)
      tenure.passes++
      this.#hand(next, tenure, true)
      return FREED
    }
    this.#forget(tenure)
    this.#dropPassing()
    return new Promise((done) => {
      this.#passing = { from: tenure, done }
      // It may be asleep: a hold that was adopted was another's when it asked.
      this.#contender.wake()
      this.#contender.start()
    })
  }

  #forget(tenure: Tenure): void {
    tenure.end()
    this.#runtime.watchdog.remove(tenure)
    if (this.#tenure === tenure) this.#tenure = undefined
  }

  /** Frees it on the server and lets all compete. False: it was lost, or nobody answered in time. */
  async #free(tenure: Tenure): Promise<boolean> {
    this.#forget(tenure)
    this.#inFlight++
    const wanted = this.#room.first !== undefined
    this.#yielding = wanted && this.#contender.othersWait
    if (wanted) this.#contender.freeing()
    let unanswered = false
    const outcome = this.#runtime.insist(async () => {
      try {
        return await this.protocol.release(tenure.wire)
      } catch (error) {
        unanswered ||= error instanceof EngineError && error.code === 'NO_REPLY'
        this.#yielding = false
        this.#contender.start()
        throw error
      }
    }, tenure.lostAt)
    this.#runtime.track(outcome)
    // Where nobody else is known to wait, the next of us asks right behind.
    if (wanted && !this.#yielding) this.#contender.start()
    const result = await outcome
    this.#inFlight--
    this.#yielding = false
    const freed = 'answer' in result && (result.answer !== undefined || unanswered)
    if ('error' in result) this.#runtime.fail(result.error)
    else if (wanted && result.answer !== undefined) this.#contender.freed(result.answer)
    this.#teller.released(tenure.wire, tenure.opened)
    this.#contender.start()
    this.#retire()
    return freed
  }

  lost(tenure: Tenure, error: LockLostError, ours: boolean): void {
    this.#forget(tenure)
    this.lapsed(tenure, error)
    if (ours) this.#runtime.track(this.#cleanUp(tenure))
    this.#contender.start()
    this.#retire()
  }

  lapsed(tenure: Tenure, error: LockLostError): void {
    this.#teller.lost(tenure.wire, error)
  }

  /** A renewal that was never answered may have kept it alive. Not before its end: the holder has that time to stop. */
  async #cleanUp(tenure: Tenure): Promise<void> {
    await this.#runtime.pause(marginOf(tenure.lease))
    await this.#runtime.undo(this.protocol, tenure.wire, tenure.lease, undefined)
  }

  doubted(tenure: Tenure, cause: unknown): void {
    this.#teller.doubted(tenure.wire, cause)
  }

  renewed(tenure: Tenure): void {
    this.#teller.renewed(tenure.wire)
  }

  moved(tenure: Tenure): void {
    this.#runtime.watchdog.moved(tenure)
  }

  async insist<T>(tenure: Tenure, step: () => Promise<T>): Promise<T | undefined> {
    const outcome = await this.#runtime.insist(step, tenure.lostAt)
    return 'answer' in outcome ? outcome.answer : undefined
  }

  ticket(tenure: Tenure, terms: Terms): string {
    this.#forget(tenure)
    this.#contender.start()
    this.#retire()
    return makeTicket({ kind: this.#kind.name, name: this.name, wire: tenure.wire, ...terms })
  }

  /** Takes over what was detached, here or elsewhere. Undefined: it is gone. */
  adopt(from: string, owner: UnitOfWork, terms: Terms): Promise<TenureHold | undefined> {
    const adopting = this.#staying(async () => {
      const wire = this.#runtime.nextWire()
      const sent = momentOf(this.clock)
      try {
        if (!(await this.protocol.pass(from, wire, terms.lease))) return undefined
        if (this.#runtime.closed) throw new ClosedError(this.name)
      } catch (error) {
        const cause = error instanceof ClosedError ? undefined : error
        await this.#runtime.undo(this.protocol, wire, terms.lease, cause)
        throw error
      }
      this.#tenure = new Tenure(this, wire, terms, sent)
      this.#runtime.watchdog.add(this.#tenure)
      this.#teller.granted(wire, sent.mono, false)
      return this.#tenure.give(owner)
    })
    this.#runtime.track(adopting.catch(() => undefined))
    return adopting
  }

  inspect(): Promise<ServerState> {
    return this.#staying(() => this.protocol.inspect())
  }

  /** After a release by force: a hold of this process that was there before is told now, not at its next renewal. */
  forceRelease(): Promise<boolean> {
    return this.#staying(async () => {
      const sent = this.clock.monotonic()
      const forced = await this.protocol.forceRelease()
      const tenure = this.#tenure
      if (forced && tenure !== undefined && tenure.opened < sent) tenure.lose('it was released by force', false)
      return forced
    })
  }

  async #staying<T>(step: () => Promise<T>): Promise<T> {
    this.#inFlight++
    try {
      return await step()
    } finally {
      this.#inFlight--
      this.#retire()
    }
  }

  /** Rejects who waits, tells who holds, and frees it unless the lease shall run out. */
  async close(release: boolean): Promise<void> {
    this.#room.rejectAll(new ClosedError(this.name))
    this.#nobodyWaits()
    const tenure = this.tenure
    if (tenure !== undefined) {
      tenure.abandon(new ClosedError(this.name))
      if (release) await this.#free(tenure)
      else this.#forget(tenure)
    }
    await this.#contender.running
  }

  #retire(): void {
    const idle = this.#room.first === undefined && this.#tenure === undefined && this.#contender.running === undefined
    if (!idle || this.#inFlight > 0) return
    this.#watch?.cancel()
    this.#watch = undefined
    this.#retired()
  }
}

const FREED = Promise.resolve(true)

const alike = (one: Terms, other: Terms): boolean => one.watched === other.watched && one.lease === other.lease
