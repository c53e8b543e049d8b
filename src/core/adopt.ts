import { ClosedError } from '../errors.js'
import type { Gatekeeper } from './gatekeeper.js'
import type { TenureHold } from './hold.js'
import type { UnitOfWork } from './owner.js'
import { abortable } from './request.js'
import type { Terms } from './terms.js'
import { momentOf } from './trust.js'

/** Takes over what was detached, here or elsewhere. Undefined: it is gone. */
export const adopt = (
  gate: Gatekeeper,
  from: string,
  owner: UnitOfWork,
  terms: Terms,
): Promise<TenureHold | undefined> => {
  const { runtime, protocol, clock } = gate
  const adopting = gate.staying(async () => {
    const wire = gate.nextWire()
    const sent = momentOf(clock)
    try {
      if (!(await protocol.pass(from, wire, terms.lease))) return undefined
      if (runtime.closed) throw new ClosedError(gate.name)
    } catch (error) {
      const cause = error instanceof ClosedError ? undefined : error
      // Not for longer than the call promises: in an outage it is undone behind its back.
      const undone = runtime.undo(protocol, wire, terms.lease, cause)
      await abortable(undone, { signal: undefined, wait: 1 }, clock, () => Promise.resolve())
      throw error
    }
    const tenure = gate.begin(wire, terms, sent)
    runtime.teller.granted(gate, wire, sent.mono, false)
    return tenure.give(owner)
  })
  runtime.track(adopting.catch(() => undefined))
  return runtime.untilClosed(() => adopting, gate.name)
}
