import { EngineError } from '../../errors.js'
import type { LineProtocol } from '../protocol/line-protocol.js'
import type { LineHost } from '../waiting/gate-host.js'
import type { Place } from '../waiting/waiter.js'
import { askerOf, type Places } from './places.js'

/** How a place in the line is given up: on the server, too, and what it may have been granted goes to the next. */
export class LineLeave {
  readonly #host: LineHost
  readonly #protocol: LineProtocol
  readonly #places: Places

  constructor(host: LineHost, protocol: LineProtocol, places: Places) {
    this.#host = host
    this.#protocol = protocol
    this.#places = places
  }

  /** Out of the line, and what it may have been granted goes to the next. */
  giveUp(place: Place): Promise<void> {
    this.#places.forget(place)
    return this.undo(place, place.joining ? new EngineError('NO_REPLY', 'left while joining') : undefined)
  }

  undo(place: Place, cause: unknown): Promise<void> {
    const asker = askerOf(place)
    const leaving = { release: () => this.#protocol.leave(asker) }
    return this.#host.runtime.undo.acquire(leaving, asker.owner, asker.lease, cause)
  }

  /** Nobody waits at it any more: but it may be what is held here, or was detached. */
  abandon(place: Place): void {
    const { wire } = place
    if (!this.#host.has(wire) && !this.#host.runtime.isDetached(wire)) void this.giveUp(place)
  }
}
