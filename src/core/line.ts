import { EngineError } from '../errors.js'
import type { Clock, Timer } from './clock.js'
import { LinePoll, POLL, type Polled, type Told } from './line-poll.js'
import { LineJoin } from './line-join.js'
import type { LineHost, LineProtocol, Place as State } from './line-protocol.js'
import type { LoneCall } from './lone-call.js'
import { type Place, askerOf, newPlace } from './place.js'
import { wireOwner } from '../keys.js'
import type { Waiter } from './queue.js'
import { GRACE, type Request } from './request.js'
import type { Runtime } from './runtime.js'
import { isLate, lateError, serve } from './serve.js'
import type { ServerTime } from './server-time.js'
import type { Tenure } from './tenure.js'
import { isAway, passes } from './trouble.js'
import { type Moment, TRIAL, momentOf } from './trust.js'
import { WaitingRoom } from './waiting-room.js'
import type { Ear } from './wakeups.js'

/** A grant is believed without asking when at least so much of its trial is left. */
const ENOUGH = 500
/** Those who stand right behind it may have a grant after it without the server's word for so long, ms. */
const TURN = 90

/**
 * Those of this process who wait in a line on the server, each at its own place: first come, first served among all
 * processes. Whoever frees the lock grants it to the next in the same step and tells its client; it starts on that word
 * when the word is provably fresh, and confirms behind its back.
 */
export class Line implements Polled {
  readonly #host: LineHost
  readonly #protocol: LineProtocol
  readonly #room: WaitingRoom
  readonly #serverTime: ServerTime
  readonly #joining: LineJoin
  readonly #poll: LinePoll
  readonly #places = new Map<string, Place>()
  readonly #placeOf = new WeakMap<Waiter, Place>()
  #ear: Ear | undefined
  /** Until those who were served without the server leave its line, if the hold lasts. */
  #tidying: Timer | undefined
  #troubles = 0
  /** Whose grant came last, and who stood right behind in the line of the server: nobody can have come between. */
  #run = { of: '', next: [] as string[], until: 0 }
  readonly passesOn = false
  readonly keepsTurns = false
  readonly running = undefined
  answeredAt = -Infinity

  constructor(host: LineHost, protocol: LineProtocol) {
    this.#host = host
    this.#protocol = protocol
    this.#serverTime = host.runtime.serverTime(protocol.key)
    this.#joining = new LineJoin(host, protocol, (place) => this.#places.get(place.wire) === place)
    this.#poll = new LinePoll(host, protocol, this)
    this.#room = new WaitingRoom(host.runtime, host.name, (waiter, settle) => {
      this.#left(waiter, settle)
    })
  }

  get #clock(): Clock {
    return this.#host.runtime.options.clock
  }

  get first(): Waiter | undefined {
    return this.#room.first
  }

  /** A try beside another call of its owner shares that one's luck. */
  asksFor({ owner, explicit }: Request): boolean {
    if (!explicit) return false
    for (const { waiter } of this.#places.values()) if (waiter.queued && waiter.request.owner === owner) return true
    return false
  }

  /** `behind`: somebody here comes first. */
  enter(request: Request, resolve: Waiter['resolve'], reject: Waiter['reject'], behind: boolean): void {
    // One owner stands in the line once; its other calls take the lock again when it has it.
    const shares = this.asksFor(request)
    const waiter = this.#room.enter(request, resolve, reject)
    if (behind && request.wait > 0 && !this.#admit(waiter)) return
    if (!shares) void this.#host.staying(() => this.#ask(waiter))
  }

  /** Has asked already, before all who wait here: it is to join the line. */
  enterFirst({ request, resolve, reject, sent }: LoneCall): void {
    this.answeredAt = sent.mono
    const waiter = this.#room.enter(request, resolve, reject, sent.mono)
    if (this.#admit(waiter)) void this.#host.staying(() => this.#ask(waiter, true))
  }

  /** From here on the call waits. False: too many do, or it does not any more. */
  #admit(waiter: Waiter): boolean {
    if (waiter.queued && !waiter.counted && this.#room.admit(waiter)) this.#host.runtime.teller.waits(this.#host)
    return waiter.queued
  }

  // ---- joining -----------------------------------------------------------------------------------------------------

  /** Takes it where it is free; else joins the line, once grants can be heard. */
  async #ask(waiter: Waiter, refused = false): Promise<void> {
    const place = newPlace(waiter, this.#host.nextWire())
    this.#places.set(place.wire, place)
    this.#placeOf.set(waiter, place)
    try {
      if (waiter.request.wait === 0) {
        if (!(await this.#try(place))) this.#refuse(place)
      } else if (refused || Line.hears(this.#host.runtime, this.#protocol) || !(await this.#try(place))) {
        await this.#listen()
        if (waiter.queued) await this.#join(place)
      }
      // It was rejected, or served as another call of its owner.
      if (!waiter.queued && this.#places.has(place.wire)) void this.#giveUp(place)
    } catch (trouble) {
      this.troubled(place, trouble)
    }
  }

  /** Whether grants are heard, and told from old ones, already: a free lock is worth no subscription. */
  static hears(runtime: Runtime, protocol: LineProtocol): boolean {
    const channel = protocol.grants(runtime.options.id)
    const heard = channel === undefined || runtime.wakeups.hears(channel)
    return heard && runtime.serverTime(protocol.key).latest !== undefined
  }

  /** Grants are heard from now on. */
  async #listen(): Promise<void> {
    const { wakeups, options } = this.#host.runtime
    const channel = this.#protocol.grants(options.id)
    if (channel === undefined) return
    this.#ear ??= wakeups.listen(channel, (payload) => {
      this.#hear(payload)
    })
    try {
      await this.#ear.ready
    } catch (error) {
      options.logger.warn(`cannot subscribe for '${this.#host.name}': waiting by polling`, error)
    }
  }

  /** Whether there is nothing left to do. */
  async #try(place: Place): Promise<boolean> {
    const sent = momentOf(this.#clock)
    const left = await this.#protocol.acquire(place.wire, place.waiter.request.terms.lease, false)
    this.answeredAt = sent.mono
    if (left === undefined) this.#granted(place, sent)
    return left === undefined || !place.waiter.queued
  }

  #refuse(place: Place): void {
    this.#places.delete(place.wire)
    this.#room.refuseTries(place.waiter)
    this.#shareOn(place.waiter)
    this.#rest()
  }

  async #join(place: Place): Promise<void> {
    place.joining = true
    const standing = await this.#joining.join(place)
    place.joining = false
    if (standing === undefined) return
    const { state, sent, ...told } = standing
    this.heard(told.stamp, sent)
    this.#troubles = 0
    if (state === 'held') this.#granted(place, sent)
    else if (!place.waiter.queued) this.#abandon(place)
    else if (state === 'late') await this.#join(place)
    else this.#waits(place, state, told)
  }

  #waits(place: Place, state: State, { stamp, left }: Told): void {
    // A grant from before that was another round's, or has lapsed.
    place.since = stamp
    if (!this.#admit(place.waiter)) {
      void this.#giveUp(place)
      return
    }
    if (state === 'behind others' && place.ear === undefined) this.#hearCalls(place)
    this.#poll.in(left < 0 ? POLL : left + 1)
  }

  #hearCalls(place: Place): void {
    const poll = (): void => {
      if (this.#places.has(place.wire)) this.#poll.in(0)
    }
    place.ear = this.#host.runtime.wakeups.listen(this.#protocol.callOf(place.wire), poll)
    // It may have been called before it could hear.
    place.ear.ready?.then(poll, () => undefined)
  }

  troubled(place: Place, trouble: unknown): void {
    // A grant came, or it was given up, before this was known.
    if (!this.#places.has(place.wire)) return
    const { waiter } = place
    const { runtime } = this.#host
    this.#forget(place)
    // Who stands in the line already leaves it, whatever this trouble says.
    const cause = place.since === undefined ? trouble : undefined
    void this.#undo(place, cause)
    waiter.request.trouble = trouble
    if (!waiter.queued) return
    if (passes(trouble) && waiter.since <= this.answeredAt && waiter.request.wait > 0) {
      const pause = Math.min(50 * 2 ** this.#troubles++, POLL)
      void this.#host.staying(async () => {
        await runtime.pause(pause)
        if (waiter.queued) await this.#ask(waiter)
      })
      return
    }
    this.#reject(waiter, trouble)
    if (isAway(trouble)) this.#awayForAll(trouble)
  }

  #reject(waiter: Waiter, reason: unknown): void {
    this.#room.remove(waiter)
    waiter.reject(reason)
    const place = this.#placeOf.get(waiter)
    if (place !== undefined && this.#places.has(place.wire)) void this.#giveUp(place)
    this.#shareOn(waiter)
    this.#rest()
  }

  /** That the server cannot be reached is so for all whom it has never answered. */
  #awayForAll(trouble: unknown): void {
    for (const waiter of this.#room.all()) {
      if (waiter.since > this.answeredAt) this.#reject(waiter, trouble)
    }
  }

  // ---- being granted -----------------------------------------------------------------------------------------------

  /** A grant: whose, and when by the server's clock. Undefined: messages may have been missed. */
  #hear(payload: string | undefined): void {
    if (payload === undefined) {
      this.#poll.in(0)
      return
    }
    const [wire = '', stamp = '', ...behind] = payload.split(' ')
    const place = this.#places.get(wire)
    if (place !== undefined) {
      if (!this.#isFresh(place, Number(stamp), behind)) void this.#host.staying(() => this.#confirmFirst(place))
      return
    }
    // Whoever it was for has gone. What it has confirmed already is no grant any more.
    if (this.#host.tenure?.wire !== wire) void this.#host.runtime.undo(this.#protocol, wire, TRIAL, undefined)
  }

  /** Starts at once when the grant is of this round and provably young enough. */
  #isFresh(place: Place, stamp: number, behind: readonly string[]): boolean {
    // Before what it is compared with: should this process be stopped in between, the grant only looks older.
    const now = momentOf(this.#clock)
    const age = this.#serverTime.ageOf(stamp)
    if (place.since === undefined || age === undefined || stamp <= place.since || place.asked > 0) return false
    const left = TRIAL - age
    if (left < ENOUGH || !place.waiter.queued) return false
    this.#forget(place)
    const { terms } = place.waiter.request
    const tenure = this.#host.begin(place.wire, terms, now)
    tenure.onTrial(now, Math.min(left, terms.lease))
    const { id } = this.#host.runtime.options
    this.#run = {
      of: place.wire,
      next: behind.map((number) => wireOwner(id, Number(number))),
      until: now.mono - age + TURN,
    }
    this.#serve(place.waiter, tenure)
    void this.#host.staying(async () => {
      const confirmed = await tenure.confirm((lease) => this.#protocol.confirm(place.wire, lease))
      // Gone: but it may stand in the line still.
      if (confirmed === 0) await this.#host.runtime.undo(this.#protocol, place.wire, terms.lease, undefined)
    })
    this.#rest()
    return true
  }

  /** The next of those who stand right behind whom the server knows as the holder. */
  heir({ wire }: Tenure): Waiter | undefined {
    const { of, next, until } = this.#run
    if (of !== wire || this.#clock.monotonic() > until) return undefined
    while (next.length > 0) {
      const place = this.#places.get(next.shift() ?? '')
      // Who does not know yet that it waits may be about to leave; who is not there has left.
      if (place !== undefined) return place.since === undefined || !place.waiter.queued ? undefined : place.waiter
    }
    return undefined
  }

  /** It has its turn; its place goes when the tenure does. */
  hand(waiter: Waiter, tenure: Tenure): void {
    const place = this.#placeOf.get(waiter)
    if (place !== undefined) {
      this.#forget(place)
      tenure.served = [...tenure.served, place.wire]
      this.#tidying ??= this.#clock.setTimer(() => {
        this.#tidying = undefined
        if (this.#host.tenure !== undefined) this.#host.leaveLine(this.#host.tenure)
        this.#host.rested()
      }, POLL)
    }
    this.#serve(waiter, tenure, true)
    this.#rest()
  }

  #serve(waiter: Waiter, tenure: Tenure, local = false): void {
    const others = serve(this.#host, this.#room, waiter, tenure, local)
    if (others === 0) return
    for (const place of this.#places.values()) if (!place.waiter.queued) void this.#giveUp(place)
  }

  async #confirmFirst(place: Place): Promise<void> {
    const sent = momentOf(this.#clock)
    try {
      const confirmed = await this.#protocol.confirm(place.wire, place.waiter.request.terms.lease)
      if (confirmed > 0) this.#granted(place, sent)
      else {
        // What was granted before now is no grant any more.
        place.since = this.#serverTime.latest ?? Infinity
        this.#poll.in(0)
      }
    } catch {
      // Whether it was confirmed, the next poll tells.
      this.#poll.in(50)
    }
  }

  /** The server has it as the holder for its whole lease. */
  #granted(place: Place, sent: Moment): void {
    if (!this.#places.has(place.wire)) {
      this.#abandon(place)
      return
    }
    const { waiter, wire } = place
    const { terms } = waiter.request
    this.#forget(place)
    const late = isLate(this.#clock, sent, terms.lease)
    if (waiter.queued && !late && !this.#host.runtime.closed) {
      this.#serve(waiter, this.#host.begin(wire, terms, sent))
    } else {
      void this.#giveUp(place)
      if (waiter.queued) this.#reject(waiter, lateError(this.#host.name, terms.lease))
    }
    this.#rest()
  }

  // ---- showing that we live ----------------------------------------------------------------------------------------

  standing(): readonly Place[] {
    return [...this.#places.values()].filter(({ since }) => since !== undefined)
  }

  heard(stamp: number, sent: Moment): void {
    this.#serverTime.heard(stamp, sent)
    this.answeredAt = sent.mono
  }

  stands(place: Place, state: State, told: Told, sent: Moment): void {
    if (state === 'held') this.#granted(place, sent)
    else if (!this.#places.has(place.wire)) return
    else if (state !== 'gone') this.#waits(place, state, told)
    // Taken for dead, or everything was deleted: it queues again, at the end.
    else if (!place.joining) void this.#host.staying(() => this.#again(place))
  }

  async #again(place: Place): Promise<void> {
    place.since = undefined
    try {
      await this.#join(place)
    } catch (trouble) {
      this.troubled(place, trouble)
    }
  }

  // ---- leaving -----------------------------------------------------------------------------------------------------

  /** The wait ended without the lock: the place is given up before the caller hears of it, or the grace is over. */
  #left(waiter: Waiter, settle: () => void): void {
    const place = this.#placeOf.get(waiter)
    if (place === undefined || !this.#places.has(place.wire)) {
      settle()
      this.#rest()
      return
    }
    const timer = this.#clock.setTimer(settle, GRACE)
    void this.#giveUp(place).then(() => {
      timer.cancel()
      settle()
    })
    this.#shareOn(waiter)
    this.#rest()
  }

  /** Another call of the same owner has stood behind this one: it stands for itself now. */
  #shareOn(waiter: Waiter): void {
    const [next] = this.#room.of(waiter.request.owner)
    if (next !== undefined) void this.#host.staying(() => this.#ask(next))
  }

  /** Out of the line, and what it may have been granted goes to the next. */
  #giveUp(place: Place): Promise<void> {
    this.#forget(place)
    return this.#undo(place, place.joining ? new EngineError('NO_REPLY', 'left while joining') : undefined)
  }

  /** Nobody waits at it any more: but it may be what is held here. */
  #abandon(place: Place): void {
    if (this.#host.tenure?.wire !== place.wire) void this.#giveUp(place)
  }

  #undo(place: Place, cause: unknown): Promise<void> {
    const asker = askerOf(place)
    const leaving = { release: () => this.#protocol.leave(asker) }
    return this.#host.runtime.undo(leaving, asker.owner, asker.lease, cause)
  }

  #forget(place: Place): void {
    this.#places.delete(place.wire)
    place.ear?.close()
    place.ear = undefined
  }

  #rest(): void {
    if (this.#places.size === 0 && this.#room.first === undefined) this.#host.rested()
  }

  start(): void {
    // Whoever waits stands in the line already.
  }

  freeing(): void {
    // The server grants it to the next.
  }

  freed(): void {
    // The next has been told.
  }

  close(reason: Error): void {
    const places = [...this.#places.values()]
    this.#room.rejectAll(reason)
    for (const place of places) void this.#giveUp(place)
  }

  end(): void {
    this.#poll.stop()
    this.#tidying?.cancel()
    this.#tidying = undefined
    this.#ear?.close()
    this.#ear = undefined
  }
}
