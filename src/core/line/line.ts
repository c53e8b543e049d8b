import type { UnitOfWork } from '../../base/owner.js'
import { momentOf } from '../../base/clock.js'
import type { Tenure } from '../hold/tenure.js'
import type { LineProtocol, News } from '../protocol/line-protocol.js'
import type { ServerTime } from '../server/server-time.js'
import type { LineHost } from '../waiting/gate-host.js'
import type { LoneCall } from '../waiting/lone-call.js'
import type { Request } from '../waiting/acquire-request.js'
import type { Place, Waiter } from '../waiting/waiter.js'
import { GrantAcceptor, type GrantedLine } from './grant-acceptor.js'
import { GrantListener } from './grant-listener.js'
import { PassWithoutServer } from './pass-without-server.js'
import { LineJoin, SOON } from './line-join.js'
import { LinePoll } from './line-poll.js'
import { LineWaiters } from './line-waiters.js'
import { Outsiders } from './listen-to-outsiders.js'
import { PassByServer } from './pass-by-server.js'
import { PlaceStates, type StatedLine } from './place-states.js'

/**
 * One line on the server, and the part of this process in it: first come, first served among all processes. The script that
 * frees the lock grants it to the next place in the same step, and publishes that to its client.
 */
export class Line implements StatedLine, GrantedLine {
  readonly waiters: LineWaiters
  readonly poll: LinePoll
  readonly hands: PassWithoutServer
  readonly acceptor: GrantAcceptor
  readonly #host: LineHost
  readonly #protocol: LineProtocol
  readonly #serverTime: ServerTime
  readonly #states: PlaceStates
  readonly #joining: LineJoin
  readonly #grants: GrantListener
  readonly #passOn: PassByServer
  readonly #outsiders: Outsiders
  /** How many calls have yet to join: each tries first, or waits until grants can be heard. */
  #approaching = 0
  readonly running = undefined

  constructor(host: LineHost, protocol: LineProtocol) {
    this.#host = host
    this.#protocol = protocol
    this.#serverTime = host.runtime.serverTime(protocol.key)
    this.#outsiders = new Outsiders(host, protocol, () => this.poll.now())
    this.waiters = new LineWaiters(host, protocol, this.#outsiders, (waiter) => this.ask(waiter))
    this.hands = new PassWithoutServer(host, this.waiters)
    this.#states = new PlaceStates(host, protocol, this, this.#outsiders)
    this.poll = new LinePoll(host, protocol, this.#states, () => this.#news)
    this.#joining = new LineJoin(host, protocol, this.#states)
    this.#passOn = new PassByServer(host, protocol, this.waiters)
    this.acceptor = new GrantAcceptor(host, protocol, this)
    this.#grants = new GrantListener(host, protocol, (grant) => this.acceptor.hear(grant))
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

  // ---- arriving ----------------------------------------------------------------------------------------------------

  /** A try beside another call of its owner shares the outcome of that call. */
  asksFor(request: Request): boolean {
    return this.waiters.placeOf(request) !== undefined
  }

  /** `behind`: another call here comes first. */
  enter(request: Request, resolve: Waiter['resolve'], reject: Waiter['reject'], behind: boolean): void {
    // One owner stands in the line once. When it has the lock, its other calls acquire it again.
    const place = this.waiters.placeOf(request)
    if (request.wait === 0 && place?.since !== undefined) {
      resolve(undefined)
      return
    }
    const waiter = this.waiters.room.enter(request, resolve, reject)
    if (behind && request.wait > 0 && !this.waiters.admit(waiter)) return
    if (this.waiters.standsOnce) this.waiters.stand()
    else if (place === undefined) this.ask(waiter)
  }

  /** For a call that has asked already, before all waiters here: it joins the line. */
  enterFirst({ request, resolve, reject, sent }: LoneCall): void {
    this.waiters.answeredAt = sent.mono
    const waiter = this.waiters.room.enter(request, resolve, reject, sent.mono)
    if (this.waiters.admit(waiter)) this.ask(waiter, true)
    else this.waiters.rest()
  }

  /** Acquires the lock if it is free; else joins the line, once grants can be heard. */
  ask(waiter: Waiter, refused = false): void {
    // The waiter may have a place already, that of another call of its owner.
    if (waiter.place !== undefined) return
    const place = this.waiters.places.add(waiter)
    const hears = this.#grants.hears && this.#serverTime.latest !== undefined
    const joins = waiter.request.wait > 0 && (refused || hears)
    // No call overtakes those that are about to join.
    if (joins && this.#approaching === 0 && this.#grants.listens()) this.join(place)
    else void this.#host.staying(() => this.#approach(place, joins))
  }

  async #approach(place: Place, joins: boolean): Promise<void> {
    const { places } = this.waiters
    this.#approaching++
    try {
      if (joins || !(await this.#try(place))) {
        // The place may have another waiter by now.
        if (place.waiter.request.wait === 0) this.waiters.refuse(place)
        else {
          await this.#grants.listen()
          if (place.waiter.queued && places.has(place)) this.join(place)
        }
      }
      // The waiter was rejected, or served as another call of its owner. The next waiter here goes on with the place.
      if (!place.waiter.queued && places.has(place)) {
        void this.waiters.vacate(place)
        if (places.has(place)) void this.#host.staying(() => this.#approach(place, true))
      }
    } catch (trouble) {
      this.waiters.troubled(place, trouble)
    } finally {
      this.#approaching--
    }
  }

  /** Whether there is nothing left to do. */
  async #try(place: Place): Promise<boolean> {
    const sent = momentOf(this.#host.runtime.options.clock)
    const left = await this.#protocol.acquire(place.wire, place.waiter.request.terms.lease)
    this.waiters.answeredAt = sent.mono
    if (left === 'held') await this.acceptor.held(place, undefined, sent)
    return left === 'held' || !place.waiter.queued
  }

  join(place: Place): void {
    place.joining = true
    place.calls = this.poll.calls
    // First some places of this process, and then some of others, are ahead of it.
    const patient = this.hands.followed && this.#host.tenure !== undefined && place.waiter.request.wait > SOON
    this.#joining.join(place, patient)
  }

  /** Another name, behind all others in the line. */
  again(place: Place): void {
    this.#states.again(place)
  }

  // ---- passing it on -----------------------------------------------------------------------------------------------

  /** False if each waiter has a place of its own: then the release on the server grants the lock to the next place. */
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

  /** If each waiter has a place, all of them stand in the line already. */
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

  /** Removes all calls of this owner, and passes each to `settle`. */
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
