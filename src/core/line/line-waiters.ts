import type { Tenure } from '../hold/tenure.js'
import type { LineProtocol } from '../protocol/line-protocol.js'
import { isAway } from '../../away-or-refusing.js'
import type { LineHost } from '../waiting/gate-host.js'
import { HoldRecheck } from '../waiting/own-hold-recheck.js'
import type { Request } from '../waiting/acquire-request.js'
import { serveWaiter } from '../waiting/serve-waiter.js'
import type { Place, Waiter } from '../waiting/waiter.js'
import { troublePause, waitsOut } from '../waiting/trouble-to-wait-out.js'
import { TimedWaiters } from '../waiting/timed-waiters.js'
import type { Outsiders } from './listen-to-outsiders.js'
import { LineLeave } from './line-leave.js'
import { Places } from './places.js'

/** The waiters of this process in one line, which place belongs to which waiter, and every way in which a wait ends. */
export class LineWaiters {
  readonly room: TimedWaiters
  readonly places: Places
  readonly leave: LineLeave
  /** The process has one place in the line, which its first waiter uses; otherwise each waiter has a place. */
  readonly standsOnce: boolean
  readonly #host: LineHost
  readonly #outsiders: Outsiders
  readonly #ask: (waiter: Waiter) => void
  readonly #watch: HoldRecheck
  #troubles = 0
  /** When the newest question that was answered was sent, on the monotonic clock. */
  answeredAt = -Infinity
  /** The wire name of a hold that a step on the server is passing on. */
  passing: string | undefined

  /** `ask`: called when a waiter needs a place in the line. */
  constructor(host: LineHost, protocol: LineProtocol, outsiders: Outsiders, ask: (waiter: Waiter) => void) {
    this.#host = host
    this.#outsiders = outsiders
    this.#ask = ask
    this.standsOnce = protocol.standsOnce === true
    this.places = new Places(host)
    this.leave = new LineLeave(host, protocol, this.places)
    this.#watch = new HoldRecheck(host, () => this.room.first !== undefined)
    this.room = new TimedWaiters(host.runtime, host.name, (waiter) => this.#left(waiter))
  }

  /** The place of another call of the same owner. */
  placeOf({ owner, explicit }: Request): Place | undefined {
    if (!explicit) return undefined
    return this.room.of(owner).find(({ place }) => place !== undefined)?.place
  }

  /** From now on the call counts as waiting. False: too many calls wait, or it has stopped waiting. */
  admit(waiter: Waiter): boolean {
    if (waiter.queued) this.room.admit(waiter, this.#host)
    return waiter.queued
  }

  // ---- whose place it is -------------------------------------------------------------------------------------------

  /** The first waiter asks for the place of the process, unless the process holds the lock. */
  stand(): void {
    const { first } = this.room
    if (!this.standsOnce || first === undefined || !this.places.none) return
    if (this.passing !== undefined) return
    if (this.#host.tenure !== undefined) this.#watch.start()
    else if (!this.#host.asks && !this.#host.runtime.closed) this.#ask(first)
  }

  /** The waiter of this place has left: the place goes to the first waiter here, or leaves the line. */
  vacate(place: Place): Promise<void> | undefined {
    const { first } = this.room
    if (!this.standsOnce || first === undefined || !this.places.has(place)) return this.leave.giveUp(place)
    this.places.giveTo(place, first)
    return undefined
  }

  /** Another call of the same owner relied on this waiter's place: it needs a place of its own now. */
  shareOn(waiter: Waiter): void {
    if (this.standsOnce) return
    const [next] = this.room.of(waiter.request.owner)
    if (next !== undefined) this.#ask(next)
  }

  /** Nothing more to do for now: the first waiter asks, and without waiters the gate may go. */
  rest(): void {
    this.stand()
    if (this.places.none && this.room.first === undefined) this.#host.rested()
  }

  // ---- how a wait ends ---------------------------------------------------------------------------------------------

  serve(waiter: Waiter, tenure: Tenure, local = false): void {
    const others = serveWaiter(this.#host, this.room, waiter, tenure, local)
    this.#outsiders.leave()
    if (others === 0 && !this.standsOnce) return
    for (const place of this.places) if (!place.waiter.queued) void this.vacate(place)
  }

  /** A single try was refused. */
  refuse(place: Place): void {
    this.places.forget(place)
    this.room.refuseTries(place.waiter)
    this.shareOn(place.waiter)
    this.rest()
  }

  reject(waiter: Waiter, reason: unknown): void {
    this.room.remove(waiter)
    waiter.reject(reason)
    const { place } = waiter
    if (place !== undefined) void this.vacate(place)
    this.shareOn(waiter)
    this.rest()
  }

  /** The time limit or the signal ended the wait. Resolves when the place is given up. */
  #left(waiter: Waiter): Promise<void> | undefined {
    const { place } = waiter
    const left = place && Promise.resolve(this.vacate(place))
    if (place !== undefined) this.shareOn(waiter)
    this.rest()
    return left
  }

  close(reason: Error): void {
    const places = [...this.places]
    this.room.rejectAll(reason)
    for (const place of places) void this.leave.giveUp(place)
  }

  end(): void {
    this.#watch.end()
  }

  // ---- trouble -----------------------------------------------------------------------------------------------------

  /** The server has answered: back-off starts again with the next trouble. */
  recovered(): void {
    this.#troubles = 0
  }

  /** Trouble that concerns all waiters, and that they wait out. */
  met(trouble: unknown): void {
    for (const { request } of this.room.all()) request.trouble = trouble
  }

  troubled(place: Place, trouble: unknown): void {
    // A grant came, or the place was given up, before this was known.
    if (!this.places.has(place)) return
    const { waiter } = place
    this.places.forget(place)
    // If the place stands in the line already, or its grant is being confirmed, it leaves, whatever this trouble says.
    void this.leave.undo(place, place.since === undefined && !place.named ? trouble : undefined)
    waiter.request.trouble = trouble
    if (!waiter.queued) return
    const { request, since } = waiter
    if (request.wait > 0 && waitsOut(trouble, request, since <= this.answeredAt)) this.#askLater(waiter)
    else {
      this.reject(waiter, trouble)
      if (isAway(trouble)) this.#awayForAll(trouble)
    }
  }

  #askLater(waiter: Waiter): void {
    const pause = troublePause(this.#host.runtime.options.clock, this.#troubles++)
    void this.#host.staying(async () => {
      await this.#host.runtime.background.pause(pause)
      if (waiter.queued && !this.standsOnce) this.#ask(waiter)
      this.stand()
    })
  }

  /** If the server cannot be reached, that concerns all waiters that it has never answered. */
  #awayForAll(trouble: unknown): void {
    for (const waiter of this.room.all()) {
      if (!waitsOut(trouble, waiter.request, waiter.since <= this.answeredAt)) this.reject(waiter, trouble)
    }
  }
}
