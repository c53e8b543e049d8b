import { EngineError, LockLostError } from '../errors.js'
import type { Clock, Timer } from './clock.js'
import type { Asker, LineHost, LineProtocol, Standing } from './line-protocol.js'
import type { LoneCall } from './lone-call.js'
import type { Waiter } from './queue.js'
import { GRACE, type Request } from './request.js'
import type { Runtime } from './runtime.js'
import { serve } from './serve.js'
import type { ServerTime } from './server-time.js'
import type { Tenure } from './tenure.js'
import { marginOf } from './terms.js'
import { isAway, passes } from './trouble.js'
import { type Moment, TRIAL, momentOf } from './trust.js'
import { WaitingRoom } from './waiting-room.js'
import type { Ear } from './wakeups.js'

/** So that a living waiter is never taken for dead, it shows itself three times within a trial. */
const POLL = TRIAL / 3
/** A grant is believed without asking when at least so much of its trial is left. */
const ENOUGH = 500
/** What is to join the line comes there so soon, or not at all: else its place could be granted and lapse unseen. */
const PUNCTUAL = 2500
/** How many waiters one script call asks about. */
const BATCH = 250
/** No server's clock has come so far. */
const NEVER = Number.MAX_SAFE_INTEGER

/** One waiter's place in the server's line. */
interface Place {
  readonly waiter: Waiter
  readonly wire: string
  /** Server time of the reply that said it waits, µs: a grant from before is of an earlier round. */
  since: number | undefined
  /** A question about joining is on its way, or was never answered. */
  joining: boolean
  /** Polls that were not answered: each may have confirmed a grant already, and so have set the lease going. */
  asked: number
  /** Listens as a Redisson client would: whoever is ahead knows no other way. */
  ear: Ear | undefined
}

const askerOf = ({ wire, waiter: { request } }: Place): Asker => ({
  owner: wire,
  lease: request.terms.lease,
  wait: request.wait,
})

/**
 * Those of this process who wait in a line on the server, each at its own place: first come, first served among all
 * processes. Whoever frees the lock grants it to the next in the same step and tells its client; it starts on that word
 * when the word is provably fresh, and confirms behind its back.
 */
export class Line {
  readonly #host: LineHost
  readonly #protocol: LineProtocol
  readonly #room: WaitingRoom
  readonly #serverTime: ServerTime
  readonly #places = new Map<string, Place>()
  readonly #placeOf = new WeakMap<Waiter, Place>()
  #ear: Ear | undefined
  #timer: Timer | undefined
  #timerDue = Infinity
  #polling = false
  #troubles = 0
  readonly passesOn = false
  readonly keepsTurns = false
  readonly running = undefined
  answeredAt = -Infinity

  constructor(host: LineHost, protocol: LineProtocol) {
    this.#host = host
    this.#protocol = protocol
    this.#serverTime = host.runtime.serverTime(protocol.key)
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
    const place: Place = {
      waiter,
      wire: this.#host.nextWire(),
      since: undefined,
      joining: true,
      asked: 0,
      ear: undefined,
    }
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
      this.#troubled(place, trouble)
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
    const { options } = this.#host.runtime
    const sent = momentOf(this.#clock)
    const now = this.#serverTime.latest
    // Executed later than its reply is waited for, it would put somebody into the line who has gone.
    const notAfter = now === undefined ? NEVER : Math.ceil(now / 1000) + Math.min(options.commandTimeout, PUNCTUAL)
    place.joining = true
    const standing = await this.#protocol.enqueue(askerOf(place), notAfter)
    place.joining = false
    this.#serverTime.heard(standing.stamp, sent)
    this.answeredAt = sent.mono
    this.#troubles = 0
    if (standing.state === 'held') this.#granted(place, sent)
    else if (!place.waiter.queued) void this.#giveUp(place)
    else if (standing.state === 'late') await this.#join(place)
    else this.#waits(place, standing)
  }

  #waits(place: Place, { stamp, left, ours }: Standing): void {
    // A grant from before that was another round's, or has lapsed.
    place.since = stamp
    if (!this.#admit(place.waiter)) {
      void this.#giveUp(place)
      return
    }
    if (!ours && place.ear === undefined) this.#hearCalls(place)
    this.#pollIn(left < 0 ? POLL : left + 1)
  }

  #hearCalls(place: Place): void {
    const poll = (): void => {
      if (this.#places.has(place.wire)) this.#pollIn(0)
    }
    place.ear = this.#host.runtime.wakeups.listen(this.#protocol.callOf(place.wire), poll)
    // It may have been called before it could hear.
    place.ear.ready?.then(poll, () => undefined)
  }

  #troubled(place: Place, trouble: unknown): void {
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
      this.#pollIn(0)
      return
    }
    const [wire = '', stamp = ''] = payload.split(' ')
    const place = this.#places.get(wire)
    if (place !== undefined) {
      if (!this.#isFresh(place, Number(stamp))) void this.#host.staying(() => this.#confirmFirst(place))
      return
    }
    // Whoever it was for has gone. What it has confirmed already is no grant any more.
    if (this.#host.tenure?.wire !== wire) void this.#host.runtime.undo(this.#protocol, wire, TRIAL, undefined)
  }

  /** Starts at once when the grant is of this round and provably young enough. */
  #isFresh(place: Place, stamp: number): boolean {
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
    this.#serve(place.waiter, tenure)
    void this.#host.staying(async () => {
      const confirmed = await tenure.confirm((lease) => this.#protocol.confirm(place.wire, lease))
      // Gone: but it may stand in the line still.
      if (confirmed === 0) await this.#host.runtime.undo(this.#protocol, place.wire, terms.lease, undefined)
    })
    this.#rest()
    return true
  }

  #serve(waiter: Waiter, tenure: Tenure): void {
    const others = serve(this.#host, this.#room, waiter, tenure, false)
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
        this.#pollIn(0)
      }
    } catch {
      // Whether it was confirmed, the next poll tells.
      this.#pollIn(50)
    }
  }

  /** The server has it as the holder for its whole lease. */
  #granted(place: Place, sent: Moment): void {
    if (!this.#places.has(place.wire)) {
      if (this.#host.tenure?.wire !== place.wire) void this.#giveUp(place)
      return
    }
    const { waiter, wire } = place
    const { terms } = waiter.request
    this.#forget(place)
    const late = this.#clock.monotonic() - sent.mono >= terms.lease - marginOf(terms.lease)
    if (waiter.queued && !late && !this.#host.runtime.closed) {
      this.#serve(waiter, this.#host.begin(wire, terms, sent))
    } else {
      void this.#giveUp(place)
      if (waiter.queued) {
        const why = `its lease of ${terms.lease} ms was over before the server's answer came`
        this.#reject(waiter, new LockLostError(this.#host.name, why))
      }
    }
    this.#rest()
  }

  // ---- showing that we live ----------------------------------------------------------------------------------------

  #pollIn(ms: number): void {
    const wait = Math.min(ms, POLL * (0.9 + 0.1 * this.#clock.random()))
    const due = this.#clock.monotonic() + wait
    if (due >= this.#timerDue) return
    this.#timer?.cancel()
    this.#timerDue = due
    this.#timer = this.#clock.setTimer(() => {
      this.#timerDue = Infinity
      void this.#host.staying(() => this.#poll())
    }, wait)
  }

  async #poll(): Promise<void> {
    const waiting = [...this.#places.values()].filter(({ since }) => since !== undefined)
    if (waiting.length === 0 || this.#polling) return
    this.#polling = true
    let left = POLL
    try {
      for (let from = 0; from < waiting.length; from += BATCH) {
        left = Math.min(left, await this.#pollBatch(waiting.slice(from, from + BATCH)))
      }
    } catch (trouble) {
      if (!passes(trouble))
        for (const place of waiting) if (this.#places.has(place.wire)) this.#troubled(place, trouble)
    } finally {
      this.#polling = false
    }
    if (this.#places.size > 0) this.#pollIn(left)
  }

  async #pollBatch(places: readonly Place[]): Promise<number> {
    const sent = momentOf(this.#clock)
    for (const place of places) place.asked++
    const { stamp, left, states } = await this.#protocol.poll(places.map(askerOf))
    for (const place of places) place.asked--
    this.#serverTime.heard(stamp, sent)
    this.answeredAt = sent.mono
    places.forEach((place, i) => {
      const state = states[i] ?? 'gone'
      if (state === 'held') this.#granted(place, sent)
      else if (!this.#places.has(place.wire)) return
      else if (state !== 'gone') this.#waits(place, { state: 'waits', stamp, left, ours: state === 'behind ours' })
      // Taken for dead, or everything was deleted: it queues again, at the end.
      else if (!place.joining) void this.#host.staying(() => this.#again(place))
    })
    return left < 0 ? POLL : left + 1
  }

  async #again(place: Place): Promise<void> {
    place.since = undefined
    try {
      await this.#join(place)
    } catch (trouble) {
      this.#troubled(place, trouble)
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
    this.#timer?.cancel()
    this.#timer = undefined
    this.#timerDue = Infinity
    this.#ear?.close()
    this.#ear = undefined
  }
}
