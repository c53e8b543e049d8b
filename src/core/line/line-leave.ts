import { EngineError } from '../../errors.js'
import type { LineProtocol } from '../protocol/line-protocol.js'
import type { LineHost } from '../waiting/gate-host.js'
import type { Place } from '../waiting/waiter.js'
import { askerOf, type Places } from './places.js'

/** Gives up a place in the line, on the server as well. If it was granted the lock, the lock goes to the next place. */
export class LineLeave {
  readonly #host: LineHost
  readonly #protocol: LineProtocol
  readonly #places: Places

  constructor(host: LineHost, protocol: LineProtocol, places: Places) {
    this.#host = host
    this.#protocol = protocol
    this.#places = places
  }

  /** Leaves the line. If the place was granted the lock, the lock goes to the next one. */
  giveUp(place: Place): Promise<void> {
    this.#places.forget(place)
    return this.undo(place, place.joining ? new EngineError('NO_REPLY', 'left while joining') : undefined)
  }

  undo(place: Place, cause: unknown): Promise<void> {
    const asker = askerOf(place)
    const leaving = { release: () => this.#protocol.leave(asker) }
    return this.#host.runtime.undo.acquire(leaving, asker.owner, asker.lease, cause)
  }

  /** No call waits at the place any more. But its name may be that of a hold here, or of a detached one. */
  abandon(place: Place): void {
    const { wire } = place
    if (!this.#host.has(wire) && !this.#host.runtime.isDetached(wire)) void this.giveUp(place)
  }
}
