import type { ForceExtendOptions, ForceReleaseOptions } from '../../api/lock.js'
import { type Clock, momentOf } from '../../base/clock.js'
import { checkLease, checkName, checkOptions } from '../../check-arguments.js'
import { type LockProtocol, NOT_HELD } from '../protocol/lock-protocol.js'

/** The owner whose hold is released by force; undefined: any holder. */
export const forcedOwner = (options: ForceReleaseOptions | undefined): string | undefined => {
  const { owner } = checkOptions(options, ['owner'])
  return owner === undefined ? undefined : checkName(owner, 'owner')
}

export const forcedExtension = (options: ForceExtendOptions): ForceExtendOptions => {
  const { owner, lease } = checkOptions(options, ['owner', 'lease'])
  return { owner: checkName(owner, 'owner'), lease: checkLease(lease) }
}

/** The gate of a lock that is released by force. */
interface ForcedGate {
  readonly clock: Clock
  readonly protocol: LockProtocol
  /** Ends the tenures that were asked for before that moment; of an owner, if it is given. */
  evict(order: number, owner?: string): void
}

/** After a release by force, earlier holds of this process are lost now, not only at their next renewal. */
export const releaseByForce = async (gate: ForcedGate, owner?: string): Promise<boolean> => {
  const { protocol } = gate
  const { order } = momentOf(gate.clock)
  const forced = await (owner === undefined ? protocol.forceRelease() : releaseOf(protocol, owner))
  if (forced) gate.evict(order, owner)
  return forced
}

const releaseOf = async (protocol: LockProtocol, owner: string): Promise<boolean> => {
  // The script that releases would also take a waiter out of the line.
  const { holders } = await protocol.inspect(true, owner)
  if (!holders.some((holder) => holder.owner === owner)) return false
  return (await protocol.release(owner)) !== NOT_HELD
}
