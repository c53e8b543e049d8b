import { ClosedError } from '../../errors.js'
import { momentOf } from '../../base/clock.js'
import type { UnitOfWork } from '../../base/owner.js'
import type { TenureHold } from '../hold/tenure-hold.js'
import type { LeaseTerms } from '../hold/lease-terms.js'
import type { GateHost } from '../waiting/gate-host.js'
import { limitedStep } from '../waiting/limited-step.js'

type Adopting = Pick<GateHost, 'name' | 'runtime' | 'protocol' | 'nextWire' | 'begin'>

/** Takes over the hold that was detached under the wire name `from`, under a new name. Undefined: it no longer exists. */
export const adopt = async (
  gate: Adopting,
  from: string,
  owner: UnitOfWork,
  terms: LeaseTerms,
): Promise<TenureHold | undefined> => {
  const { runtime, protocol } = gate
  const { clock } = runtime.options
  const wire = gate.nextWire()
  const sent = momentOf(clock)
  try {
    if (!(await protocol.pass(from, wire, terms.lease))) return undefined
    if (runtime.closed) throw new ClosedError(gate.name)
  } catch (error) {
    const cause = error instanceof ClosedError ? undefined : error
    // The call must not take longer than it promises: in an outage, the undo goes on in the background.
    const undone = runtime.undo.acquire(protocol, wire, terms.lease, cause)
    await limitedStep(undone, { signal: undefined, wait: 1 }, clock, () => Promise.resolve())
    throw error
  }
  return gate.begin(wire, terms, sent).give(owner)
}
