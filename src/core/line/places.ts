import { momentOf } from '../../base/clock.js'
import { numberOf } from '../../keys.js'
import type { Asker } from '../protocol/line-protocol.js'
import { PlaceTable } from './place-table.js'
import type { Place, Waiter } from '../waiting/waiter.js'
import type { LineHost } from '../waiting/gate-host.js'

export const askerOf = ({ wire, waiter: { request } }: Place): Asker => ({
  owner: wire,
  lease: request.terms.lease,
  wait: request.wait,
})

/** The places of this process in one line. */
export class Places {
  readonly #host: LineHost
  readonly #table = new PlaceTable()

  constructor(host: LineHost) {
    this.#host = host
  }

  [Symbol.iterator](): Iterator<Place> {
    return this.#table[Symbol.iterator]()
  }

  get none(): boolean {
    return this.#table.size === 0
  }

  /** Makes a place with a new name for a waiter that will join. */
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
      given: 0,
      named: false,
      alike: undefined,
    }
    this.#table.add(place)
    waiter.place = place
    return place
  }

  /** The waiter of the place has left, and another waiter here has no place. */
  giveTo(place: Place, waiter: Waiter): void {
    if (this.has(place)) place.waiter.place = undefined
    place.mixed ||= place.waiter.request.terms.lease !== waiter.request.terms.lease
    place.given = momentOf(this.#host.runtime.options.clock).order
    place.waiter = waiter
    waiter.place = place
  }

  at(number: number): Place | undefined {
    return this.#table.at(number)
  }

  has(place: Place): boolean {
    return place.waiter.place === place
  }

  /** Listens on the channel on which Redisson would wake up this place. */
  hearCalls(place: Place, channel: string, called: () => void): void {
    if (place.ear !== undefined) return
    const listener = (): void => {
      if (this.has(place)) called()
    }
    // The wire name is part of the channel's name, which others may be able to list.
    place.named ||= channel.includes(place.wire)
    place.ear = this.#host.runtime.subscriptions.listen(channel, listener)
    // The wake-up may have come before the subscription was ready.
    place.ear.ready?.then(listener, () => undefined)
  }

  /** The waiter of the place has the lock, or has left. */
  forget(place: Place): void {
    this.#table.remove(place)
    if (this.has(place)) place.waiter.place = undefined
    place.ear?.close()
    place.ear = undefined
  }
}
