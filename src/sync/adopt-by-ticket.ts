import type { Hold } from '../api/hold.js'
import { UnitOfWork } from '../base/owner.js'
import { GatedLock, type LockHome } from '../core/gate/gated-lock.js'
import { badTicket, FIRST_ASKED, GONE, readTicket } from '../core/hold/detach-ticket.js'
import { LockLostError } from '../errors.js'
import { isWireOwner } from '../keys.js'
import { keyedLock } from './keyed-lock/keyed-lock.js'
import { LOCK_KINDS } from './kinds-by-name.js'

/** What adopting needs from its client. `encodeKey`: how the keys of a group are encoded. */
interface AdoptHome extends LockHome {
  readonly encodeKey: (key: string) => string | Uint8Array
}

/** Takes over the hold of a ticket. */
export const adoptHold = async (home: AdoptHome, ticket: string): Promise<Hold> => {
  const { runtime, gates, encodeKey } = home
  const { kind: called, keys, name, wire, lease, watched } = readTicket(ticket)
  const few = keys?.slice(0, FIRST_ASKED)
  let kind = few === undefined ? LOCK_KINDS.find((each) => each.name === called) : keyedLock(few, encodeKey)
  if (kind?.name !== called) throw badTicket('it names an unknown kind of lock')
  if (!isWireOwner(wire, kind.mark)) throw badTicket('its owner is not one of holdfast')
  runtime.checkTakes(name)
  if (keys !== undefined && keys.length > FIRST_ASKED) {
    const { holders } = await new GatedLock(home, kind, name).serverState(true)
    if (holders[0]?.owner !== wire) throw new LockLostError(name, GONE)
    kind = keyedLock(keys, encodeKey)
  }
  const gate = gates.at(kind, name, runtime.keyOf(name))
  const adopt = async (): Promise<Hold> => {
    const hold = await gate.adopt(wire, new UnitOfWork(), watched ? runtime.watched : { lease, watched })
    if (hold !== undefined) return hold
    throw new LockLostError(name, GONE)
  }
  return runtime.lockEvents.call({ name, kind }, { wait: Infinity }, adopt)
}
