import type { UnitOfWork } from '../../base/owner.js'
import { type Moment, momentOf } from '../../base/clock.js'
import type { Tenure } from '../hold/tenure.js'
import type { JoinState, LineProtocol, News, PlaceState } from '../protocol/line-protocol.js'
import type { ServerTime } from '../server/server-time.js'
import type { LineHost } from '../waiting/gate-host.js'
import type { LoneCall } from '../waiting/lone-call.js'
import type { Request } from '../waiting/request.js'
import type { Place, Waiter } from '../waiting/waiter.js'
import { GrantAcceptor, type GrantedLine } from './grant-acceptor.js'
import { GrantListener } from './grant-listener.js'
import { HandToHand } from './hand-to-hand.js'
import { type Joinable, LineJoin, SOON } from './line-join.js'
import { LinePoll, type Polled, type Told } from './line-poll.js'
import { LineWaiters } from './line-waiters.js'
import { Outsiders } from './outsiders.js'
import { PassByServer } from './pass-by-server.js'
import { TRIAL } from '../../constants.js'

/**
 * One line on the server, as this process stands in it: first come, first served among all processes. Whoever frees the lock
 * grants it to the next in the same step and publishes that to its client.
 */
export class Line implements Polled, Joinable, GrantedLine {
  readonly waiters: LineWaiters
  readonly poll: LinePoll
  readonly hands: HandToHand
  readonly #host: LineHost
  readonly #protocol: LineProtocol
  readonly #serverTime: ServerTime
  readonly #joining: LineJoin
  readonly #grants: GrantListener
  readonly #acceptor: GrantAcceptor
  readonly #passOn: PassByServer
  readonly #outsiders: Outsiders
  /** So many are still to join: each asks first, or waits until grants can be heard. */
  #approaching = 0
  readonly running = undefined

  constructor(host: LineHost, protocol: LineProtocol) {
    this.#host = host
    this.#protocol = protocol
    this.#serverTime = host.runtime.serverTime(protocol.key)
    this.#outsiders = new Outsiders(host, protocol, () => this.poll.now())
    this.waiters = new LineWaiters(host, protocol, this.#outsiders, (waiter) => this.#ask(waiter))
    this.hands = new HandToHand(host, this.waiters)
    this.poll = new LinePoll(host, protocol, this, () => this.#news)
    this.#joining = new LineJoin(host, protocol, this)
    this.#passOn = new PassByServer(host, protocol, this.waiters)
    this.#acceptor = new GrantAcceptor(host, protocol, this)
    this.#grants = new GrantListener(host, protocol, (grant) => this.#acceptor.hear(grant))
  }

  get #news(): News {
    return (this.#outsiders.news + (this.#grants.hears ? 0 : 2)) as News
  }

  get first(): Waiter | undefined {
    return this.waiters.room.first
  }

  set answeredAt(at: number) {
    this.waiters.answeredAt = at
  }

  // ---- coming ------------------------------------------------------------------------------------------------------

  /** A try beside another call of its owner shares that one's luck. */
  asksFor(request: Request): boolean {
    return this.waiters.placeOf(request) !== undefined
  }

  /** `behind`: somebody here comes first. */
  enter(request: Request, resolve: Waiter['resolve'], reject: Waiter['reject'], behind: boolean): void {
    // One owner stands in the line once; its other calls take the lock again when it has it.
    const place = this.waiters.placeOf(request)
    if (request.wait === 0 && place?.since !== undefined) {
      resolve(undefined)
      return
    }
    const waiter = this.waiters.room.enter(request, resolve, reject)
    if (behind && request.wait > 0 && !this.waiters.admit(waiter)) return
    if (this.waiters.standsOnce) this.waiters.stand()
    else if (place === undefined) this.#ask(waiter)
  }

  /** Has asked already, before all who wait here: it is to join the line. */
  enterFirst({ request, resolve, reject, sent }: LoneCall): void {
    this.waiters.answeredAt = sent.mono
    const waiter = this.waiters.room.enter(request, resolve, reject, sent.mono)
    if (this.waiters.admit(waiter)) this.#ask(waiter, true)
    else this.waiters.rest()
  }

  /** Takes it where it is free; else joins the line, once grants can be heard. */
  #ask(waiter: Waiter, refused = false): void {
    // It may stand in the line already, for another call of its owner.
    if (waiter.place !== undefined) return
    const place = this.waiters.places.add(waiter)
    const hears = this.#grants.hears && this.#serverTime.latest !== undefined
    const joins = waiter.request.wait > 0 && (refused || hears)
    // Nobody goes past those who are on their way.
    if (joins && this.#approaching === 0 && this.#grants.listens()) this.#join(place)
    else void this.#host.staying(() => this.#approach(place, joins))
  }

  async #approach(place: Place, joins: boolean): Promise<void> {
    const { places } = this.waiters
    this.#approaching++
    try {
      if (joins || !(await this.#try(place))) {
        // Another may stand there by now.
        if (place.waiter.request.wait === 0) this.waiters.refuse(place)
        else {
          await this.#grants.listen()
          if (place.waiter.queued && places.has(place)) this.#join(place)
        }
      }
      // It was rejected, or served as another call of its owner: the next one here goes on from there.
      if (!place.waiter.queued && places.has(place)) {
        void this.waiters.vacate(place)
        if (places.has(place)) void this.#host.staying(() => this.#approach(place, true))
      }
    } catch (trouble) {
      this.troubled(place, trouble)
    } finally {
      this.#approaching--
    }
  }

  /** Whether there is nothing left to do. */
  async #try(place: Place): Promise<boolean> {
    const sent = momentOf(this.#host.runtime.options.clock)
    const left = await this.#protocol.acquire(place.wire, place.waiter.request.terms.lease)
    this.waiters.answeredAt = sent.mono
    if (left === null) await this.#acceptor.held(place, undefined, sent)
    return left === null || !place.waiter.queued
  }

  #join(place: Place): void {
    place.joining = true
    place.calls = this.poll.calls
    // Some of ours and then some of others are before it.
    const patient = this.hands.followed && this.#host.tenure !== undefined && place.waiter.request.wait > SOON
    this.#joining.join(place, patient)
  }

  // ---- what the server says of a place -----------------------------------------------------------------------------

  stays(place: Place): boolean {
    return this.waiters.places.has(place)
  }

  standing(): readonly Place[] {
    return [...this.waiters.places].filter(({ since }) => since !== undefined)
  }

  heard(stamp: number, sent: Moment): void {
    this.#serverTime.heard(stamp, sent)
    this.waiters.answeredAt = sent.mono
  }

  joined(place: Place, state: JoinState, told: Told, sent: Moment): void {
    const { places, leave } = this.waiters
    place.joining = false
    this.waiters.recovered()
    if (state === 'held') void this.#acceptor.held(place, told.stamp, sent)
    else if (!places.has(place) || !place.waiter.queued) leave.abandon(place)
    else if (state === 'late') this.#join(place)
    else {
      this.#waits(place, state, told)
      // It was called before it could be asked about.
      if (place.calls !== this.poll.calls) this.poll.now()
    }
  }

  stands(place: Place, state: PlaceState, told: Told, sent: Moment): void {
    if (state === 'held') void this.#acceptor.held(place, told.stamp, sent)
    else if (!this.waiters.places.has(place)) return
    else if (state !== 'gone') this.#waits(place, state, told)
    // Taken for dead, or everything was deleted: it queues again, at the end.
    else if (!place.joining) this.again(place)
  }

  #waits(place: Place, state: PlaceState, told: Told): void {
    const { waiter } = place
    // A grant that nobody heard can have lapsed meanwhile, and who did hear it can have found out the name.
    place.named ||= place.since !== undefined && told.stamp - place.since >= TRIAL * 1000
    // A grant from before that was another round's, or has lapsed.
    place.since = told.stamp
    this.waiters.room.refuseTries(waiter)
    if (this.waiters.admit(waiter)) {
      this.#attend(place, state, told)
      this.poll.after(state, told.left)
      return
    }
    void this.waiters.vacate(place)
    this.waiters.shareOn(waiter)
    // It may be the next one's now, who has to show itself there as well.
    if (this.waiters.places.has(place)) this.#waits(place, state, told)
    else this.waiters.rest()
  }

  /** Whoever waits right behind others hears of their releases. */
  #attend(place: Place, state: PlaceState, { open = 0, share = 0 }: Told): void {
    const call = this.#protocol.callOf?.(place.wire)
    if (state !== 'behind others') this.#outsiders.leave(place)
    else if (call === undefined) this.#outsiders.attend(place, open, share)
    else {
      this.waiters.places.hearCalls(place, call, () => this.poll.now())
    }
  }

  /** By another name: that one may have been granted it unheard. */
  again(place: Place): void {
    this.hands.stop()
    if (!this.waiters.places.has(place)) return
    this.waiters.places.forget(place)
    if (place.waiter.queued) this.#ask(place.waiter, true)
  }

  met(trouble: unknown): void {
    this.waiters.met(trouble)
  }

  troubled(place: Place, trouble: unknown): void {
    this.waiters.troubled(place, trouble)
  }

  // ---- giving it to the next ---------------------------------------------------------------------------------------

  /** Where each waiter has a place of its own, the release on the server grants it to the next. */
  get passesOn(): boolean {
    return this.waiters.standsOnce
  }

  heir(tenure: Tenure): Waiter | undefined {
    return this.hands.heir(tenure)
  }

  hand(waiter: Waiter, tenure: Tenure): void {
    this.hands.hand(waiter, tenure)
  }

  passOn(from: Tenure): Promise<boolean> {
    return this.#passOn.begin(from)
  }

  /** Whoever waits stands in the line already, where each has a place. */
  start(): void {
    this.waiters.stand()
  }

  freeing(): void {
    if (this.hands.followed) this.#joining.hold()
  }

  freed(): void {
    this.#joining.go()
  }

  // ---- leaving -----------------------------------------------------------------------------------------------------

  /** All calls of this owner leave; `settle` says so to each. */
  dismiss(owner: UnitOfWork, settle: (waiter: Waiter) => void): void {
    this.waiters.room.dismiss(owner, settle)
  }

  close(reason: Error): void {
    this.waiters.close(reason)
  }

  end(): void {
    this.poll.stop()
    this.hands.end()
    this.waiters.end()
    this.#outsiders.leave()
    this.#grants.close()
  }
}
