import { ClosedError } from '../../errors.js'
import { momentOf } from '../../base/clock.js'
import type { UnitOfWork } from '../../base/owner.js'
import type { TenureHold } from '../hold/hold.js'
import type { LeaseTerms } from '../hold/lease-terms.js'
import type { GateHost } from '../waiting/gate-host.js'
import { limitedStep } from '../waiting/limited-step-outside-queue.js'

type Adopting = Pick<GateHost, 'name' | 'runtime' | 'protocol' | 'nextWire' | 'begin'>

/** Begins a hold that one step on the server makes ours, under a new wire name, even if others wait. Undefined: the step could not. */
export const adoptOrSteal = async (
  gate: Adopting,
  step: (wire: string) => Promise<boolean>,
  owner: UnitOfWork,
  terms: LeaseTerms,
): Promise<TenureHold | undefined> => {
  const { runtime, protocol } = gate
  const { clock } = runtime.options
  const wire = gate.nextWire()
  const sent = momentOf(clock)
  try {
    if (!(await step(wire))) return undefined
    if (runtime.closed) throw new ClosedError(gate.name)
  } catch (error) {
    const cause = error instanceof ClosedError ? undefined : error
    // The call must not take longer than it promises: in an outage, the undo goes on in the background.
    const undone = runtime.undo.acquire(protocol, wire, terms.lease, cause)
    await limitedStep(undone, { signal: undefined, wait: 1 }, clock, () => Promise.resolve())
    throw error
  }
  return gate.begin(wire, terms, sent).give({ owner, release: runtime.options.release })
}
