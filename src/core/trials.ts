import type { LineHost, LineProtocol } from './line-protocol.js'
import type { Tenure } from './tenure.js'

/** Most holds are over within so much time of their grant, ms; it is a small part of a trial. */
const BRIEF = 20
/** A grant that was longer on its way may have been taken back meanwhile, ms. */
const YOUNG = 50

/**
 * Grants that somebody works on already, and that the server is still to hear of. A hold that is over soon never needs that:
 * one step frees it, and none confirms it.
 */
export class Trials {
  readonly #host: LineHost
  readonly #protocol: LineProtocol

  constructor(host: LineHost, protocol: LineProtocol) {
    this.#host = host
    this.#protocol = protocol
  }

  /** `age`: so long ago it was granted, at most. */
  begin(tenure: Tenure, age: number): void {
    void this.#host.staying(async () => {
      const { wire, lease } = tenure
      const later = age < YOUNG ? this.#host.runtime.pause(BRIEF) : undefined
      const confirmed = await tenure.confirm((ms) => this.#protocol.confirm(wire, ms), later)
      // Gone: but it may stand in the line still.
      if (confirmed === 0) await this.#host.runtime.undo(this.#protocol, wire, lease, undefined)
    })
  }
}
