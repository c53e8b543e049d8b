import { ReplicationError } from '../../errors.js'
import { type Moment, momentOf } from '../../base/clock.js'
import type { Tenure } from '../hold/tenure.js'
import { alike } from '../hold/lease-terms.js'
import type { LineProtocol } from '../protocol/line-protocol.js'
import type { LineHost } from '../waiting/gate-host.js'
import { isAfterLease, afterLeaseError } from '../waiting/answer-after-lease.js'
import type { Waiter } from '../waiting/waiter.js'
import type { LineWaiters } from './line-waiters.js'

/** Passes a hold on to the first waiter of this process by one step on the server: if the terms differ, or it needs a token. */
export class PassByServer {
  readonly #host: LineHost
  readonly #protocol: LineProtocol
  readonly #waiters: LineWaiters

  constructor(host: LineHost, protocol: LineProtocol, waiters: LineWaiters) {
    this.#host = host
    this.#protocol = protocol
    this.#waiters = waiters
  }

  /** False: the hold was gone. */
  begin(from: Tenure): Promise<boolean> {
    const { first } = this.#waiters.room
    return first === undefined ? this.#host.free(from) : this.#host.staying(() => this.#pass(from, first))
  }

  async #pass(from: Tenure, waiter: Waiter): Promise<boolean> {
    const { lease } = waiter.request.terms
    const [wire, sent] = [this.#host.nextWire(), momentOf(this.#host.runtime.options.clock)]
    this.#waiters.passing = from.wire
    const outcome = await this.#takeOver(from, wire, lease).catch((trouble: unknown) => ({ trouble }))
    this.#waiters.passing = undefined
    if (typeof outcome === 'object') {
      const { trouble } = outcome
      this.#waiters.met(trouble)
      this.#undo(wire, lease, trouble)
      // If too few replicas answered, it has been passed on, and the undo releases it.
      if (!(trouble instanceof ReplicationError)) return this.#host.free(from)
    } else if (outcome) this.#passed(from, waiter, wire, sent)
    else {
      from.notOurs()
      this.#undo(from.wire, from.lease)
    }
    this.#waiters.rest()
    return outcome !== false
  }

  async #takeOver(from: Tenure, wire: string, lease: number): Promise<boolean> {
    // On trial, the hold still stands in the line.
    if (from.trial) await this.#protocol.confirm(from.wire, from.lease)
    return this.#protocol.pass(from.wire, wire, lease)
  }

  /** Serves the first waiter that still waits and wants the same terms. */
  #passed(from: Tenure, waiter: Waiter, wire: string, sent: Moment): void {
    const { runtime, name } = this.#host
    const { terms } = waiter.request
    const late = isAfterLease(runtime.options.clock, sent, terms.lease)
    const taker = [waiter, ...this.#waiters.room.all()].find((one) => one.queued && alike(one.request.terms, terms))
    if (taker !== undefined && !late && !runtime.closed) {
      this.#waiters.serve(taker, this.#host.begin(wire, terms, sent, from))
      return
    }
    if (taker !== undefined && late) this.#waiters.reject(taker, afterLeaseError(name, terms.lease))
    this.#undo(wire, terms.lease)
  }

  #undo(wire: string, lease: number, cause?: unknown): void {
    void this.#host.runtime.undo.acquire(this.#protocol, wire, lease, cause)
  }
}
