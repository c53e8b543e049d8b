import { ClosedError } from '../../errors.js'
import { momentOf } from '../../base/clock.js'
import type { UnitOfWork } from '../../base/owner.js'
import type { TenureHold } from '../hold/hold.js'
import type { Terms } from '../hold/terms.js'
import type { GateHost } from '../waiting/gate-host.js'
import { limitedStep } from '../waiting/limited-step.js'

type Adopting = Pick<GateHost, 'name' | 'kind' | 'runtime' | 'protocol' | 'nextWire' | 'begin'>

/** Takes over what was detached under the name `from`, under one of its own. Undefined: it is gone. */
export const adopt = async (
  gate: Adopting,
  from: string,
  owner: UnitOfWork,
  terms: Terms,
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
    // Not for longer than the call promises: in an outage it is undone behind its back.
    const undone = runtime.undo.acquire(protocol, wire, terms.lease, cause)
    await limitedStep(undone, { signal: undefined, wait: 1 }, clock, () => Promise.resolve())
    throw error
  }
  const tenure = gate.begin(wire, terms, sent)
  runtime.lockEvents.granted(gate, wire, sent.mono, false)
  return tenure.give(owner)
}
