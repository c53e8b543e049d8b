import type { HolderState, LockState, WaiterState } from '../../api/lock.js'
import { clientOf } from '../../keys.js'
import { leftOf } from '../hold/lease-terms.js'
import type { ServerState } from '../protocol/lock-protocol.js'

type Holder = ServerState['holders'][number]
type Waiter = NonNullable<ServerState['waiting']>[number]

/** The clients that hold the lock or wait for it. */
export const clientsIn = ({ holders, waiting = [] }: ServerState): string[] =>
  [...holders, ...waiting].map(({ owner }) => clientOf(owner))

/** What the server said about a lock, as callers see it. `labels`: those of the clients that have one. */
export const lockStateOf = (state: ServerState, labels: ReadonlyMap<string, string>): LockState => {
  const { ttl, holders, waiting = [], more, token } = state
  const remaining = leftOf(ttl)
  return {
    holders: holders.map((one) => holderOf(one, labels)),
    waiting: waiting.map((one) => waiterOf(one, labels)),
    ...(more === true && { more }),
    ...(remaining !== undefined && { remaining }),
    ...(token !== undefined && { token }),
  }
}

// There may be very many of them, so each is made at once.

const holderOf = ({ owner, count, mode: side, keys }: Holder, labels: ReadonlyMap<string, string>): HolderState => {
  const client = clientOf(owner)
  const label = labels.get(client)
  const mode = side ?? 'exclusive'
  const holder: HolderState =
    label === undefined ? { owner, client, count, mode } : { owner, client, label, count, mode }
  return keys === undefined ? holder : { ...holder, keys: [...keys] }
}

const waiterOf = ({ owner, deadline, keys }: Waiter, labels: ReadonlyMap<string, string>): WaiterState => {
  const client = clientOf(owner)
  const label = labels.get(client)
  const waiter: WaiterState = label === undefined ? { owner, client, deadline } : { owner, client, label, deadline }
  return keys === undefined ? waiter : { ...waiter, keys: [...keys] }
}
