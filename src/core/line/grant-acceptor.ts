import { ReplicationError } from '../../errors.js'
import { type Clock, type Moment, momentOf } from '../../base/clock.js'
import { numberOf } from '../../keys.js'
import type { LineProtocol } from '../protocol/line-protocol.js'
import type { ServerTime } from '../server/server-time.js'
import type { LineHost } from '../waiting/gate-host.js'
import { isAfterLease, afterLeaseError } from '../waiting/answer-after-lease.js'
import type { Place } from '../waiting/waiter.js'
import { TrialConfirmer } from './trial-confirmer.js'
import { type Grant, isProven } from './grant-message.js'
import type { PassWithoutServer } from './pass-without-server.js'
import type { LinePoll } from './line-poll.js'
import type { LineWaiters } from './line-waiters.js'
import { TRIAL } from '../../script-times-and-limits.js'

/** ms. A grant is trusted without asking only if at least this much of its trial is left. */
const ENOUGH = 500

/** What the acceptor needs from the line. */
export interface GrantedLine {
  readonly waiters: LineWaiters
  readonly poll: LinePoll
  readonly hands: PassWithoutServer
  /** The server does not know this place any more: it joins again. */
  again(place: Place): void
}

/**
 * Decides what a grant is worth, whether it comes by a message or by an answer: the waiter starts at once, or after the server
 * has confirmed the grant, or the grant is only a reason to ask.
 */
export class GrantAcceptor {
  readonly #host: LineHost
  readonly #protocol: LineProtocol
  readonly #line: GrantedLine
  readonly #waiters: LineWaiters
  readonly #serverTime: ServerTime
  readonly #confirmer: TrialConfirmer
  /** The stamp of the newest grant that made us ask about the hold here. A repeated message is not asked about again. */
  #doubted = 0

  constructor(host: LineHost, protocol: LineProtocol, line: GrantedLine) {
    this.#host = host
    this.#protocol = protocol
    this.#line = line
    this.#waiters = line.waiters
    this.#serverTime = host.runtime.serverTime(protocol.key)
    this.#confirmer = new TrialConfirmer(host, protocol)
  }

  get #clock(): Clock {
    return this.#host.runtime.options.clock
  }

  // ---- by a message ------------------------------------------------------------------------------------------------

  /** Anybody may have published a message: if it proves nothing, it is worth a question, and no more. So is `undefined`. */
  hear(grant: Grant | undefined): void {
    const place = grant && this.#waiters.places.at(grant.number)
    if (grant === undefined || place === undefined || place.named || !isProven(grant, place.wire)) {
      // A hold of this process needs no message.
      if (grant !== undefined && this.#isHeld(grant)) return
      if (grant === undefined || !this.#isServed(grant)) this.#line.poll.now()
      else if (grant.stamp > this.#doubted) {
        this.#doubted = grant.stamp
        this.#doubt()
      }
    } else if (grant.stamp > place.granted) {
      place.granted = grant.stamp
      if (this.#isFresh(place, grant)) return
      this.#doubt()
      void this.#host.staying(() => this.#confirmFirst(place))
    }
  }

  #isHeld({ number }: Grant): boolean {
    const { tenure } = this.#host
    return tenure !== undefined && numberOf(tenure.wire) === number
  }

  /** If the server grants the lock to a waiter that was served here without it, the hold here must have been released by force. */
  #isServed(grant: Grant): boolean {
    const wire = this.#host.tenure?.served.find((one) => numberOf(one) === grant.number)
    return wire !== undefined && isProven(grant, wire)
  }

  /** If the lock was granted to another owner, the hold here was released by force. */
  #doubt(): void {
    const { tenure } = this.#host
    if (tenure === undefined) return
    this.#line.hands.suspect(tenure)
    tenure.verify().catch(() => undefined)
  }

  /** Starts the waiter at once if the grant is of this round and provably young enough. */
  #isFresh(place: Place, grant: Grant): boolean {
    // A fencing token comes only with an answer.
    if (this.#protocol.takeToken !== undefined) return false
    // Read the clock before the age is computed: if this process is stopped in between, the grant only looks older.
    const now = momentOf(this.#clock)
    const age = this.#serverTime.ageOf(grant.stamp)
    if (place.since === undefined || age === undefined || grant.stamp <= place.since || place.asked > 0) return false
    // Since then, an earlier grant may have lapsed unheard, and a stranger who heard it may have worked out the wire name.
    const lapses = age + (grant.stamp - place.since) / 1000 >= TRIAL
    if (lapses || this.#hasReplicas) return false
    const left = TRIAL - age
    if (left < ENOUGH || !place.waiter.queued) return false
    this.#waiters.places.forget(place)
    const { terms } = place.waiter.request
    const tenure = this.#host.begin(place.wire, terms, now)
    tenure.onTrial(now, Math.min(left, terms.lease))
    this.#line.hands.begin(grant, place.wire)
    this.#confirmer.begin(tenure)
    this.#waiters.serve(place.waiter, tenure)
    this.#waiters.rest()
    return true
  }

  // ---- by an answer ------------------------------------------------------------------------------------------------

  get #hasReplicas(): boolean {
    return this.#host.runtime.replicas.of(this.#protocol.key) > 0
  }

  /**
   * The server has the place as the holder, for the lease that was asked for. If it has replicas, the waiter starts only when they
   * know. `stamp`: undefined if the replicas were waited for already.
   */
  held(place: Place, stamp: number | undefined, sent: Moment): Promise<void> | undefined {
    const known = stamp === undefined || !this.#hasReplicas
    if (!this.#waiters.places.has(place) || (known && !place.mixed)) {
      this.#granted(place, sent)
      return undefined
    }
    place.since ??= stamp
    return this.#host.staying(() => this.#confirmFirst(place, !place.mixed))
  }

  /** `stands`: the place is in the line until then. */
  async #confirmFirst(place: Place, stands = true): Promise<void> {
    const sent = momentOf(this.#clock)
    const { lease } = place.waiter.request.terms
    // Whatever the answer, the message of this grant proves nothing from now on: the wire name can be worked out from it.
    place.named = true
    try {
      const confirmed = await this.#protocol.confirm(place.wire, lease)
      if (confirmed > 0) {
        // The place may serve another waiter now, which wants another lease.
        const again = this.#waiters.places.has(place) && place.waiter.request.terms.lease !== lease
        if (again) await this.#confirmFirst(place, stands)
        else this.#granted(place, sent)
      } else if (!stands) this.#line.again(place)
      else {
        // A grant from before now does not count any more.
        place.since = this.#serverTime.latest ?? Infinity
        this.#line.poll.now()
      }
    } catch (trouble) {
      // If the place stands in the line, the next poll tells whether it was confirmed.
      if (trouble instanceof ReplicationError || place.since === undefined) this.#waiters.troubled(place, trouble)
      this.#line.poll.in(50)
    }
  }

  /** The server has the place as the holder, for its whole lease. */
  #granted(place: Place, sent: Moment): void {
    const { places, leave } = this.#waiters
    if (!places.has(place)) {
      // A hold that is being passed on must not be freed.
      if (place.wire !== this.#waiters.passing) leave.abandon(place)
      return
    }
    const { waiter, wire } = place
    const { terms } = waiter.request
    const late = isAfterLease(this.#clock, sent, terms.lease)
    if (late && place.given > sent.order) {
      // That lease was for a call that has left.
      void leave.undo(place, undefined)
      this.#line.again(place)
      return
    }
    places.forget(place)
    this.#line.hands.followed = false
    if (waiter.queued && !late && !this.#host.runtime.closed) {
      this.#waiters.serve(waiter, this.#host.begin(wire, terms, sent))
    } else {
      void leave.giveUp(place)
      if (waiter.queued) this.#waiters.reject(waiter, afterLeaseError(this.#host.name, terms.lease))
    }
    this.#waiters.rest()
  }
}
