import type { GateHost } from './gate-host.js'
import type { TenureHold } from '../hold/hold.js'
import type { Request } from './acquire-request.js'
import { isAfterLease, afterLeaseError } from './answer-after-lease.js'
import { isMoving } from '../server/transient-or-unsure-errors.js'
import { type Moment, momentOf } from '../../base/clock.js'

/** The gate at which it arrived. */
export interface LoneHost extends GateHost {
  /** The server has answered, and the call is settled; unless `mustWait`: another owner has the lock, and the call must wait now. */
  answered(call: LoneCall, mustWait: boolean): void
}

/**
 * A call for a lock that no other call here holds, asks or waits for, and that only an answer can end. It asks once, without
 * anything that waiting needs.
 */
export class LoneCall {
  readonly #host: LoneHost
  readonly request: Request
  readonly resolve: (hold: TenureHold | undefined) => void
  readonly reject: (reason: unknown) => void
  readonly sent: Moment
  /** Settles when nothing of it is in progress any more. */
  readonly running: Promise<void>
  #rejected = false

  constructor(host: LoneHost, request: Request, resolve: LoneCall['resolve'], reject: LoneCall['reject']) {
    this.#host = host
    this.request = request
    this.resolve = resolve
    this.reject = reject
    this.sent = momentOf(host.runtime.options.clock)
    this.running = this.#ask()
  }

  /** Rejects the call, whatever the answer will be. */
  close(reason: Error): void {
    this.#rejected = true
    this.reject(reason)
  }

  async #ask(): Promise<void> {
    const { runtime, protocol } = this.#host
    const { lease } = this.request.terms
    const wire = this.#host.nextWire()
    let mustWait = false
    try {
      const left = await protocol.acquire(wire, lease)
      if (left === 'held') this.#granted(wire)
      else mustWait = !this.#rejected
    } catch (trouble) {
      void runtime.undo.acquire(protocol, wire, lease, trouble)
      mustWait = isMoving(trouble) && this.request.wait > 0 && !this.#rejected
      if (!mustWait) this.reject(trouble)
    }
    this.#host.answered(this, mustWait)
  }

  #granted(wire: string): void {
    const { runtime, protocol, name } = this.#host
    const { terms } = this.request
    const late = isAfterLease(runtime.options.clock, this.sent, terms.lease)
    if (late || this.#rejected) {
      this.reject(afterLeaseError(name, terms.lease))
      void runtime.undo.acquire(protocol, wire, terms.lease, undefined)
      return
    }
    this.resolve(this.#host.begin(wire, terms, this.sent).give(this.request))
  }
}
