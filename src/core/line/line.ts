import { ReplicationError } from '../../errors.js'
import { numberOf } from '../../keys.js'
import { type Clock, type Moment, momentOf } from '../../base/clock.js'
import { type Grant, GrantEar, isProven } from './grants.js'
import { HandToHand } from './hand-to-hand.js'
import { type Joinable, LineJoin, SOON } from './line-join.js'
import { LinePoll, type Polled, type Told } from './line-poll.js'
import type { Joined, LineProtocol, Place as State } from '../protocol/line-protocol.js'
import { HoldWatch } from '../waiting/hold-watch.js'
import type { LoneCall } from '../waiting/lone-call.js'
import type { UnitOfWork } from '../../base/owner.js'
import { Places } from './place.js'
import { GRACE, type Request } from '../waiting/request.js'
import { isLate, lateError, serve } from '../waiting/serve.js'
import type { ServerTime } from '../server/server-time.js'
import type { Tenure } from '../hold/tenure.js'
import { alike } from '../hold/terms.js'
import { Strangers } from './strangers.js'
import { Trials } from './trials.js'
import { isAway, waitsOut } from '../server/trouble.js'
import { POLL, TRIAL } from '../hold/trust.js'
import { WaitingRoom } from '../waiting/waiting-room.js'
import type { Place, Waiter } from '../waiting/waiter.js'
import type { LineHost } from '../waiting/host.js'

/** A grant is believed without asking when at least so much of its trial is left. */
const ENOUGH = 500

/**
 * Those of this process who wait in a line on the server, each at its own place, or all at one: first come, first served among all
 * processes. Whoever frees the lock grants it to the next in the same step and tells its client; it starts on that word
 * when the word is provably fresh, and confirms behind its back.
 */
export class Line implements Polled, Joinable {
  readonly #host: LineHost
  readonly #protocol: LineProtocol
  readonly #room: WaitingRoom
  readonly #serverTime: ServerTime
  readonly #joining: LineJoin
  readonly #poll: LinePoll
  readonly #places: Places
  readonly #grants: GrantEar
  readonly #hands: HandToHand
  readonly #trials: Trials
  readonly #strangers: Strangers
  readonly #standsOnce: boolean
  readonly #watch: HoldWatch
  #troubles = 0
  #calls = 0
  /** It was asked just now whether what is held here was taken by force. */
  #doubts = false
  /** So many are still to join: each asks first, or waits until grants can be heard. */
  #approaching = 0
  /** What is held here may have been taken by force. */
  #suspect: Tenure | undefined
  /** Who has it, or had it last, was told that others stand behind. */
  #followed = false
  /** The wire name of a hold that a step on the server is passing on. */
  #passing: string | undefined
  readonly running = undefined
  answeredAt = -Infinity

  constructor(host: LineHost, protocol: LineProtocol) {
    this.#host = host
    this.#protocol = protocol
    this.#serverTime = host.runtime.serverTime(protocol.key)
    this.#standsOnce = protocol.standsOnce === true
    this.#strangers = new Strangers(host, protocol, () => {
      this.#poll.now()
    })
    this.#poll = new LinePoll(host, protocol, this, () => this.#strangers.news)
    this.#places = new Places(host, protocol)
    this.#joining = new LineJoin(host, protocol, this)
    this.#hands = new HandToHand(host, this.#places)
    this.#trials = new Trials(host, protocol)
    this.#grants = new GrantEar(host, protocol, (grant) => {
      this.#hear(grant)
    })
    this.#watch = new HoldWatch(host, () => this.#room.first !== undefined)
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
  asksFor(request: Request): boolean {
    return this.#placeOf(request) !== undefined
  }

  #placeOf({ owner, explicit }: Request): Place | undefined {
    if (!explicit) return undefined
    return this.#room.of(owner).find(({ place }) => place !== undefined)?.place
  }

  /** `behind`: somebody here comes first. */
  enter(request: Request, resolve: Waiter['resolve'], reject: Waiter['reject'], behind: boolean): void {
    // One owner stands in the line once; its other calls take the lock again when it has it.
    const place = this.#placeOf(request)
    const shares = place !== undefined
    if (request.wait === 0 && place?.since !== undefined) {
      resolve(undefined)
      return
    }
    const waiter = this.#room.enter(request, resolve, reject)
    if (behind && request.wait > 0 && !this.#admit(waiter)) return
    if (this.#standsOnce) this.#stand()
    else if (!shares) this.#ask(waiter)
  }

  /** Has asked already, before all who wait here: it is to join the line. */
  enterFirst({ request, resolve, reject, sent }: LoneCall): void {
    this.answeredAt = sent.mono
    const waiter = this.#room.enter(request, resolve, reject, sent.mono)
    if (this.#admit(waiter)) this.#ask(waiter, true)
    else this.#rest()
  }

  /** From here on the call waits. False: too many do, or it does not any more. */
  #admit(waiter: Waiter): boolean {
    if (waiter.queued && !waiter.counted && this.#room.admit(waiter)) this.#host.runtime.teller.waits(this.#host)
    return waiter.queued
  }

  // ---- joining -----------------------------------------------------------------------------------------------------

  /** Where each waiter has a place of its own, the release on the server grants it to the next. */
  get passesOn(): boolean {
    return this.#standsOnce
  }

  /** Whoever is first here stands for all, where a process stands in the line once; not while it has the lock. */
  #stand(): void {
    const { first } = this.#room
    if (!this.#standsOnce || first === undefined || !this.#places.none) return
    if (this.#passing !== undefined) return
    if (this.#host.tenure !== undefined) this.#watch.start()
    else if (!this.#host.asks && !this.#host.runtime.closed) this.#ask(first)
  }

  /** Whoever stood there has gone: the place goes to the first here, or out of the line. */
  #vacate(place: Place): Promise<void> | undefined {
    const { first } = this.#room
    if (!this.#standsOnce || first === undefined || !this.#places.has(place)) return this.#places.giveUp(place)
    this.#places.giveTo(place, first)
    return undefined
  }

  /** Takes it where it is free; else joins the line, once grants can be heard. */
  #ask(waiter: Waiter, refused = false): void {
    // It may stand in the line already, for another call of its owner.
    if (waiter.place !== undefined) return
    const place = this.#places.add(waiter)
    const hears = this.#grants.hears && this.#serverTime.latest !== undefined
    const joins = waiter.request.wait > 0 && (refused || hears)
    // Nobody goes past those who are on their way.
    if (joins && this.#approaching === 0 && this.#grants.listens()) this.#join(place)
    else void this.#host.staying(() => this.#approach(place, joins))
  }

  async #approach(place: Place, joins: boolean): Promise<void> {
    this.#approaching++
    try {
      if (joins || !(await this.#try(place))) {
        // Whoever stands there may be another by now.
        if (place.waiter.request.wait === 0) this.#refuse(place)
        else {
          await this.#grants.listen()
          if (place.waiter.queued && this.#places.has(place)) this.#join(place)
        }
      }
      // It was rejected, or served as another call of its owner: the next one here goes on from there.
      if (!place.waiter.queued && this.#places.has(place)) {
        void this.#vacate(place)
        if (this.#places.has(place)) void this.#host.staying(() => this.#approach(place, true))
      }
    } catch (trouble) {
      this.troubled(place, trouble)
    } finally {
      this.#approaching--
    }
  }

  /** Whether there is nothing left to do. */
  async #try(place: Place): Promise<boolean> {
    const sent = momentOf(this.#clock)
    const left = await this.#protocol.acquire(place.wire, place.waiter.request.terms.lease, false)
    this.answeredAt = sent.mono
    if (left === null) await this.#had(place, undefined, sent)
    return left === null || !place.waiter.queued
  }

  #refuse(place: Place): void {
    this.#places.forget(place)
    this.#room.refuseTries(place.waiter)
    this.#shareOn(place.waiter)
    this.#rest()
  }

  #join(place: Place): void {
    place.joining = true
    place.calls = this.#calls
    // Some of ours and then some of others are before it.
    const patient = this.#followed && this.#host.tenure !== undefined && place.waiter.request.wait > SOON
    this.#joining.join(place, patient)
  }

  stays(place: Place): boolean {
    return this.#places.has(place)
  }

  joined(place: Place, state: Joined, told: Told, sent: Moment): void {
    place.joining = false
    this.#troubles = 0
    if (state === 'held') void this.#had(place, told.stamp, sent)
    else if (!this.#places.has(place) || !place.waiter.queued) this.#places.abandon(place)
    else if (state === 'late') this.#join(place)
    else {
      this.#waits(place, state, told)
      if (place.calls !== this.#calls) this.#poll.now()
    }
  }

  #waits(place: Place, state: State, told: Told): void {
    const { stamp, left, open, share } = told
    // A grant from before that was another round's, or has lapsed.
    place.since = stamp
    const { waiter } = place
    this.#room.refuseTries(waiter)
    if (!this.#admit(waiter)) {
      void this.#vacate(place)
      this.#shareOn(waiter)
      // It may be the next one's now, who has to show itself there as well.
      if (this.#places.has(place)) this.#waits(place, state, told)
      else this.#rest()
      return
    }
    const call = this.#protocol.callOf?.(place.wire)
    if (state !== 'behind others') this.#strangers.leave(place)
    else if (call === undefined) this.#strangers.attend(place, open ?? 0, share ?? 0)
    else {
      this.#places.hearCalls(place, call, () => {
        this.#poll.now()
      })
    }
    this.#poll.in(left < 0 ? POLL : left + 1)
  }

  met(trouble: unknown): void {
    for (const { request } of this.#room.all()) request.trouble = trouble
  }

  troubled(place: Place, trouble: unknown): void {
    // A grant came, or it was given up, before this was known.
    if (!this.#places.has(place)) return
    const { waiter } = place
    const { runtime } = this.#host
    this.#places.forget(place)
    // Who stands in the line already leaves it, whatever this trouble says.
    const cause = place.since === undefined ? trouble : undefined
    void this.#places.undo(place, cause)
    waiter.request.trouble = trouble
    if (!waiter.queued) return
    const { request, since } = waiter
    if (request.wait > 0 && waitsOut(trouble, request, since <= this.answeredAt)) {
      const pause = Math.min(50 * 2 ** this.#troubles++, POLL)
      void this.#host.staying(async () => {
        await runtime.background.pause(pause)
        if (waiter.queued && !this.#standsOnce) this.#ask(waiter)
        this.#stand()
      })
      return
    }
    this.#reject(waiter, trouble)
    if (isAway(trouble)) this.#awayForAll(trouble)
  }

  #reject(waiter: Waiter, reason: unknown): void {
    this.#room.remove(waiter)
    waiter.reject(reason)
    const { place } = waiter
    if (place !== undefined) void this.#vacate(place)
    this.#shareOn(waiter)
    this.#rest()
  }

  /** That the server cannot be reached is so for all whom it has never answered. */
  #awayForAll(trouble: unknown): void {
    for (const waiter of this.#room.all()) {
      if (!waitsOut(trouble, waiter.request, waiter.since <= this.answeredAt)) this.#reject(waiter, trouble)
    }
  }

  // ---- being granted -----------------------------------------------------------------------------------------------

  /** Anybody may have said it: what is not proven is worth a question, and no more. Undefined: so is this. */
  #hear(grant: Grant | undefined): void {
    const place = grant && this.#places.at(grant.number)
    if (grant === undefined || place === undefined || !isProven(grant, place.wire)) {
      // Of what is held here nobody has to tell.
      if (grant !== undefined && this.#isHeld(grant)) return
      this.#called()
      if (grant !== undefined) this.#doubt(false)
    } else if (grant.stamp > place.granted) {
      place.granted = grant.stamp
      if (this.#isFresh(place, grant)) return
      this.#doubt(true)
      void this.#host.staying(() => this.#confirmFirst(place))
    }
  }

  #isHeld({ number }: Grant): boolean {
    const { tenure } = this.#host
    return tenure !== undefined && numberOf(tenure.wire) === number
  }

  /** Also while somebody is joining, who cannot be asked about yet. */
  #called(): void {
    this.#calls += 1
    this.#poll.now()
  }

  /** If it was granted to another, what is held here was taken by force. */
  #doubt(proven: boolean): void {
    const { tenure, runtime } = this.#host
    if (tenure === undefined) return
    this.#hands.stop()
    this.#suspect = tenure
    if (this.#doubts && !proven) return
    this.#doubts = true
    const rest = (): void => {
      void runtime.background.pause(POLL / 50).then(() => (this.#doubts = false))
    }
    tenure.verify().then(rest, rest)
  }

  /** Starts at once when the grant is of this round and provably young enough. */
  #isFresh(place: Place, grant: Grant): boolean {
    // A token comes with the answer.
    if (this.#protocol.takeToken !== undefined) return false
    // Before what it is compared with: should this process be stopped in between, the grant only looks older.
    const now = momentOf(this.#clock)
    const age = this.#serverTime.ageOf(grant.stamp)
    if (place.since === undefined || age === undefined || grant.stamp <= place.since || place.asked > 0) return false
    if (this.#hasReplicas || place.named) return false
    const left = TRIAL - age
    if (left < ENOUGH || !place.waiter.queued) return false
    this.#places.forget(place)
    const { terms } = place.waiter.request
    const tenure = this.#host.begin(place.wire, terms, now)
    tenure.onTrial(now, Math.min(left, terms.lease))
    this.#hands.begin(place.wire, grant.behind)
    this.#followed = grant.followed && !this.#standsOnce
    this.#trials.begin(tenure)
    this.#serve(place.waiter, tenure)
    this.#rest()
    return true
  }

  heir(tenure: Tenure): Waiter | undefined {
    if (this.#standsOnce) return tenure === this.#suspect ? undefined : this.#room.first
    return this.#hands.heir(tenure)
  }

  /** It has its turn; its place goes when the tenure does. */
  hand(waiter: Waiter, tenure: Tenure): void {
    const { place } = waiter
    if (place !== undefined && !this.#standsOnce) {
      this.#places.forget(place)
      this.#hands.served(place, tenure)
    }
    this.#serve(waiter, tenure, true)
    this.#rest()
  }

  /** The first here takes it over on the server: its terms are others, or it needs a token. False: it was gone. */
  passOn(from: Tenure): Promise<boolean> {
    const { first } = this.#room
    return first === undefined ? this.#host.free(from) : this.#host.staying(() => this.#pass(from, first))
  }

  async #pass(from: Tenure, waiter: Waiter): Promise<boolean> {
    const { runtime, name } = this.#host
    const { terms } = waiter.request
    const [wire, sent] = [this.#host.nextWire(), momentOf(this.#clock)]
    this.#passing = from.wire
    const outcome = await this.#takeOver(from, wire, terms.lease).catch((trouble: unknown) => ({ trouble }))
    this.#passing = undefined
    if (typeof outcome === 'object') {
      const { trouble } = outcome
      this.met(trouble)
      void runtime.background.undo(this.#protocol, wire, terms.lease, trouble)
      // It was passed on, and is given back for want of replicas.
      if (!(trouble instanceof ReplicationError)) return this.#host.free(from)
      this.#rest()
      return true
    }
    if (outcome) {
      runtime.teller.released(this.#host, from.wire, from.opened)
      const late = isLate(this.#clock, sent, terms.lease)
      const taker = [waiter, ...this.#room.all()].find((one) => one.queued && alike(one.request.terms, terms))
      if (taker !== undefined && !late && !runtime.closed) {
        this.#serve(taker, this.#host.begin(wire, terms, sent, from))
      } else {
        if (taker !== undefined && late) this.#reject(taker, lateError(name, terms.lease))
        void runtime.background.undo(this.#protocol, wire, terms.lease, undefined)
      }
    } else void runtime.background.undo(this.#protocol, from.wire, from.lease, undefined)
    this.#rest()
    return outcome
  }

  async #takeOver(from: Tenure, wire: string, lease: number): Promise<boolean> {
    // On trial it stands in the line still.
    if (from.trial) await this.#protocol.confirm(from.wire, from.lease)
    return this.#protocol.pass(from.wire, wire, lease)
  }

  #serve(waiter: Waiter, tenure: Tenure, local = false): void {
    const others = serve(this.#host, this.#room, waiter, tenure, local)
    this.#strangers.leave()
    if (others === 0 && !this.#standsOnce) return
    for (const place of this.#places) if (!place.waiter.queued) void this.#vacate(place)
  }

  /** `stands`: it is in the line till then. */
  async #confirmFirst(place: Place, stands = true): Promise<void> {
    const sent = momentOf(this.#clock)
    const { lease } = place.waiter.request.terms
    try {
      const confirmed = await this.#protocol.confirm(place.wire, lease)
      if (confirmed > 0) {
        // Whoever it is for now may want it for another time.
        const again = this.#places.has(place) && place.waiter.request.terms.lease !== lease
        if (again) await this.#confirmFirst(place, stands)
        else this.#granted(place, sent)
      } else if (!stands) this.#again(place)
      else {
        // What was granted before now is no grant any more, but it has been heard.
        place.named = true
        place.since = this.#serverTime.latest ?? Infinity
        this.#poll.now()
      }
    } catch (trouble) {
      // Of whoever stands in the line, the next poll tells whether it was confirmed.
      if (trouble instanceof ReplicationError || place.since === undefined) this.troubled(place, trouble)
      this.#poll.in(50)
    }
  }

  get #hasReplicas(): boolean {
    return this.#host.runtime.replicas.of(this.#protocol.key) > 0
  }

  /**
   * The server has it as the holder, for the lease that was asked for. Where it has replicas, nobody starts before they know;
   * `stamp`: unless they were waited for.
   */
  #had(place: Place, stamp: number | undefined, sent: Moment): Promise<void> | undefined {
    const known = stamp === undefined || !this.#hasReplicas
    if (!this.#places.has(place) || (known && !place.mixed)) {
      this.#granted(place, sent)
      return undefined
    }
    place.since ??= stamp
    return this.#host.staying(() => this.#confirmFirst(place, !place.mixed))
  }

  /** The server has it as the holder for its whole lease. */
  #granted(place: Place, sent: Moment): void {
    if (!this.#places.has(place)) {
      // What is being passed on is not to be freed.
      if (place.wire !== this.#passing) this.#places.abandon(place)
      return
    }
    const { waiter, wire } = place
    const { terms } = waiter.request
    this.#places.forget(place)
    this.#followed = false
    const late = isLate(this.#clock, sent, terms.lease)
    if (waiter.queued && !late && !this.#host.runtime.closed) {
      this.#serve(waiter, this.#host.begin(wire, terms, sent))
    } else {
      void this.#places.giveUp(place)
      if (waiter.queued) this.#reject(waiter, lateError(this.#host.name, terms.lease))
    }
    this.#rest()
  }

  // ---- showing that we live ----------------------------------------------------------------------------------------

  standing(): readonly Place[] {
    return [...this.#places].filter(({ since }) => since !== undefined)
  }

  heard(stamp: number, sent: Moment): void {
    this.#serverTime.heard(stamp, sent)
    this.answeredAt = sent.mono
  }

  stands(place: Place, state: State, told: Told, sent: Moment): void {
    if (state === 'held') void this.#had(place, told.stamp, sent)
    else if (!this.#places.has(place)) return
    else if (state !== 'gone') this.#waits(place, state, told)
    // Taken for dead, or everything was deleted: it queues again, at the end.
    else if (!place.joining) this.#again(place)
  }

  /** By another name: that one may have been granted it unheard. */
  #again(place: Place): void {
    this.#hands.stop()
    if (!this.#places.has(place)) return
    this.#places.forget(place)
    if (place.waiter.queued) this.#ask(place.waiter, true)
  }

  // ---- leaving -----------------------------------------------------------------------------------------------------

  /** The wait ended without the lock: the place is given up before the caller hears of it, or the grace is over. */
  #left(waiter: Waiter, settle: () => void): void {
    const { place } = waiter
    if (place === undefined) {
      settle()
      this.#rest()
      return
    }
    const timer = this.#clock.setTimer(settle, GRACE)
    void Promise.resolve(this.#vacate(place)).then(() => {
      timer.cancel()
      settle()
    })
    this.#shareOn(waiter)
    this.#rest()
  }

  /** Another call of the same owner has stood behind this one: it stands for itself now. */
  #shareOn(waiter: Waiter): void {
    if (this.#standsOnce) return
    const [next] = this.#room.of(waiter.request.owner)
    if (next !== undefined) this.#ask(next)
  }

  #rest(): void {
    this.#stand()
    if (this.#places.none && this.#room.first === undefined) this.#host.rested()
  }

  /** All calls of this owner leave; `settle` says so to each. */
  dismiss(owner: UnitOfWork, settle: (waiter: Waiter) => void): void {
    this.#room.dismiss(owner, settle)
  }

  /** Whoever waits stands in the line already, where each has a place. */
  start(): void {
    this.#stand()
  }

  freeing(): void {
    if (this.#followed) this.#joining.hold()
  }

  freed(): void {
    this.#joining.go()
  }

  close(reason: Error): void {
    const places = [...this.#places]
    this.#room.rejectAll(reason)
    for (const place of places) void this.#places.giveUp(place)
  }

  end(): void {
    this.#poll.stop()
    this.#hands.end()
    this.#watch.end()
    this.#strangers.leave()
    this.#grants.close()
  }
}
