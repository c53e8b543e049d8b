import { EngineError } from '../errors.js'
import { numberOf } from '../keys.js'
import type { Asker, LineHost, LineProtocol } from './line-protocol.js'
import { PlaceTable } from './place-table.js'
import type { Waiter } from './queue.js'
import type { Ear } from './wakeups.js'

/** A place in the server's line. */
export interface Place {
  /** Who is served when it is granted: where a process stands there once, whoever is first here. */
  waiter: Waiter
  readonly wire: string
  readonly number: number
  /** Server time of the reply that said it waits, µs: a grant from before is of an earlier round. */
  since: number | undefined
  /** A question about joining is on its way, or was never answered. */
  joining: boolean
  /** How often somebody here had been called when that question was sent. */
  calls: number
  /** Polls that were not answered: each may have confirmed a grant already, and so have set the lease going. */
  asked: number
  /** Listens as a Redisson client would: whoever is ahead knows no other way. */
  ear: Ear | undefined
  /** When the newest grant was made that it has heard of, µs: what is repeated is no other. */
  granted: number
  /** Some question about it was for another lease than that of its waiter now. */
  mixed: boolean
  /** Others may know its whole name: what is said of it is confirmed first. */
  named: boolean
  /** The next in its slot of the table. */
  alike: Place | undefined
}

export const askerOf = ({ wire, waiter: { request } }: Place): Asker => ({
  owner: wire,
  lease: request.terms.lease,
  wait: request.wait,
})

/** The places of this process in one line, and how each is given up. */
export class Places {
  readonly #host: LineHost
  readonly #protocol: LineProtocol
  readonly #table = new PlaceTable()

  constructor(host: LineHost, protocol: LineProtocol) {
    this.#host = host
    this.#protocol = protocol
  }

  [Symbol.iterator](): Iterator<Place> {
    return this.#table[Symbol.iterator]()
  }

  get none(): boolean {
    return this.#table.size === 0
  }

  /** For a waiter who is to join, under a new name. */
  add(waiter: Waiter): Place {
    const wire = this.#host.nextWire()
    const place: Place = {
      waiter,
      wire,
      number: numberOf(wire),
      since: undefined,
      joining: true,
      calls: 0,
      asked: 0,
      ear: undefined,
      granted: 0,
      mixed: false,
      named: false,
      alike: undefined,
    }
    this.#table.add(place)
    waiter.place = place
    return place
  }

  /** Its waiter has gone, and another one here has none. */
  giveTo(place: Place, waiter: Waiter): void {
    if (this.has(place)) place.waiter.place = undefined
    place.mixed ||= place.waiter.request.terms.lease !== waiter.request.terms.lease
    place.waiter = waiter
    waiter.place = place
  }

  at(number: number): Place | undefined {
    return this.#table.at(number)
  }

  has(place: Place): boolean {
    return place.waiter.place === place
  }

  /** It hears who calls as Redisson does. */
  hearCalls(place: Place, channel: string, called: () => void): void {
    if (place.ear !== undefined) return
    const listener = (): void => {
      if (this.has(place)) called()
    }
    // Whoever may look at the names of channels can read it there.
    place.named ||= channel.includes(place.wire)
    place.ear = this.#host.runtime.wakeups.listen(channel, listener)
    // It may have been called before it could hear.
    place.ear.ready?.then(listener, () => undefined)
  }

  /** Its waiter has the lock, or has gone. */
  forget(place: Place): void {
    this.#table.remove(place)
    if (this.has(place)) place.waiter.place = undefined
    place.ear?.close()
    place.ear = undefined
  }

  /** Out of the line, and what it may have been granted goes to the next. */
  giveUp(place: Place): Promise<void> {
    this.forget(place)
    return this.undo(place, place.joining ? new EngineError('NO_REPLY', 'left while joining') : undefined)
  }

  undo(place: Place, cause: unknown): Promise<void> {
    const asker = askerOf(place)
    const leaving = { release: () => this.#protocol.leave(asker) }
    return this.#host.runtime.background.undo(leaving, asker.owner, asker.lease, cause)
  }

  /** Nobody waits at it any more: but it may be what is held here, or was detached. */
  abandon(place: Place): void {
    const { wire } = place
    if (!this.#host.has(wire) && !this.#host.runtime.isDetached(wire)) void this.giveUp(place)
  }
}
