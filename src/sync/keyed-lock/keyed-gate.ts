import { Gate } from '../../core/gate.js'
import type { TenureHold } from '../../core/hold.js'
import type { Request } from '../../core/request.js'
import { DeadlockError } from '../../errors.js'

/** The gate of one set of keys. Sets that overlap have gates of their own, and exclude one another on the server. */
export class KeyedGate extends Gate {
  override acquire(request: Request): Promise<TenureHold | undefined> {
    // Each hold has a name of its own on the server: its owner would wait for itself.
    const own = request.explicit && this.runtime.gates.some((gate) => this.#overlaps(gate, request))
    if (!own) return super.acquire(request)
    this.rested()
    const why = 'its owner holds some of these keys in another set: take all of them at once'
    return Promise.reject(new DeadlockError(this.name, why))
  }

  #overlaps(gate: Pick<Gate, 'kind' | 'protocol' | 'tenureOf'>, { owner }: Request): boolean {
    const { part = [] } = this.kind
    const other = gate.kind
    if (gate === this || other.keysOf !== this.kind.keysOf || gate.protocol.key !== this.protocol.key) return false
    return other.part?.some((key) => part.includes(key)) === true && gate.tenureOf(owner) !== undefined
  }
}
