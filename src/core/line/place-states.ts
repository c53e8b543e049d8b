import type { Moment } from '../../base/clock.js'
import { TRIAL } from '../../script-times-and-limits.js'
import type { JoinState, LineProtocol, PlaceState } from '../protocol/line-protocol.js'
import type { ServerTime } from '../server/server-time.js'
import type { LineHost } from '../waiting/gate-host.js'
import type { Place, Waiter } from '../waiting/waiter.js'
import type { GrantAcceptor } from './grant-acceptor.js'
import type { Joinable } from './line-join.js'
import type { LinePoll, Polled, Told } from './line-poll.js'
import type { LineWaiters } from './line-waiters.js'
import type { Outsiders } from './listen-to-outsiders.js'
import type { PassWithoutServer } from './pass-without-server.js'

/** What the states need from the line. */
export interface StatedLine {
  readonly waiters: LineWaiters
  readonly poll: LinePoll
  readonly hands: PassWithoutServer
  readonly acceptor: GrantAcceptor
  /** The waiter needs a place. `refused`: the server has just said that the lock is not free. */
  ask(waiter: Waiter, refused: boolean): void
  join(place: Place): void
}

/** What each state of a place means, as the server says it: the place waits, holds the lock, came too late, or is gone and joins again. */
export class PlaceStates implements Polled, Joinable {
  readonly #protocol: LineProtocol
  readonly #line: StatedLine
  readonly #outsiders: Outsiders
  readonly #serverTime: ServerTime

  constructor(host: LineHost, protocol: LineProtocol, line: StatedLine, outsiders: Outsiders) {
    this.#protocol = protocol
    this.#line = line
    this.#outsiders = outsiders
    this.#serverTime = host.runtime.serverTime(protocol.key)
  }

  stays(place: Place): boolean {
    return this.#line.waiters.places.has(place)
  }

  standing(): readonly Place[] {
    return [...this.#line.waiters.places].filter(({ since }) => since !== undefined)
  }

  heard(stamp: number, sent: Moment): void {
    this.#serverTime.heard(stamp, sent)
    this.#line.waiters.answeredAt = sent.mono
  }

  joined(place: Place, state: JoinState, told: Told, sent: Moment): void {
    const { places, leave } = this.#line.waiters
    place.joining = false
    this.#line.waiters.recovered()
    if (state === 'held') void this.#line.acceptor.held(place, told.stamp, sent)
    else if (!places.has(place) || !place.waiter.queued) leave.abandon(place)
    else if (state === 'late') this.#line.join(place)
    else {
      this.#waits(place, state, told)
      // A message came before the server could be asked about the place.
      if (place.calls !== this.#line.poll.calls) this.#line.poll.now()
    }
  }

  stands(place: Place, state: PlaceState, told: Told, sent: Moment): void {
    if (state === 'held') void this.#line.acceptor.held(place, told.stamp, sent)
    else if (!this.#line.waiters.places.has(place)) return
    else if (state !== 'gone') this.#waits(place, state, told)
    // The server took it for dead, or its keys were deleted: it joins again, at the end.
    else if (!place.joining) this.again(place)
  }

  #waits(place: Place, state: PlaceState, told: Told): void {
    const { waiter } = place
    // A grant that no client here heard may have lapsed meanwhile, and a stranger who heard it may have worked out the wire name.
    place.named ||= place.since !== undefined && told.stamp - place.since >= TRIAL * 1000
    // An earlier grant was for another round, or has lapsed.
    place.since = told.stamp
    this.#line.waiters.room.refuseTries(waiter)
    if (this.#line.waiters.admit(waiter)) {
      this.#attend(place, state, told)
      this.#line.poll.after(state, told.left)
      return
    }
    void this.#line.waiters.vacate(place)
    this.#line.waiters.shareOn(waiter)
    // The place may belong to the next waiter now, which must be admitted there as well.
    if (this.#line.waiters.places.has(place)) this.#waits(place, state, told)
    else this.#line.waiters.rest()
  }

  /** A place right behind outsiders, or behind Redisson's waiters, listens to their releases or wake-ups. */
  #attend(place: Place, state: PlaceState, { open = 0, share = 0 }: Told): void {
    const call = this.#protocol.callOf?.(place.wire)
    if (state !== 'behind others') this.#outsiders.leave(place)
    else if (call === undefined) this.#outsiders.attend(place, open, share)
    else {
      this.#line.waiters.places.hearCalls(place, call, () => this.#line.poll.now())
    }
  }

  /** Joins under a new name: the old one may have been granted the lock unheard. */
  again(place: Place): void {
    this.#line.hands.stop()
    if (!this.#line.waiters.places.has(place)) return
    this.#line.waiters.places.forget(place)
    if (place.waiter.queued) this.#line.ask(place.waiter, true)
  }

  met(trouble: unknown): void {
    this.#line.waiters.met(trouble)
  }

  troubled(place: Place, trouble: unknown): void {
    this.#line.waiters.troubled(place, trouble)
  }
}
