import type { LockState } from '../../api/lock.js'
import { clientOf } from '../../keys.js'
import { leftOf } from '../hold/lease-terms.js'
import type { ServerState } from '../protocol/lock-protocol.js'

/** The clients that hold the lock or wait for it. */
export const clientsIn = ({ holders, waiting = [] }: ServerState): string[] =>
  [...holders, ...waiting].map(({ owner }) => clientOf(owner))

/** What the server said about a lock, as callers see it. `labels`: those of the clients that have one. */
export const lockStateOf = (state: ServerState, labels: ReadonlyMap<string, string>): LockState => {
  const { ttl, holders, waiting = [], more, token } = state
  const who = (owner: string): { owner: string; client: string; label?: string } => {
    const client = clientOf(owner)
    const label = labels.get(client)
    return { owner, client, ...(label !== undefined && { label }) }
  }
  const remaining = leftOf(ttl)
  return {
    holders: holders.map(({ owner, count, mode = 'exclusive' as const, keys }) => ({
      ...{ ...who(owner), count, mode },
      ...(keys !== undefined && { keys: [...keys] }),
    })),
    waiting: waiting.map(({ owner, deadline, keys }) => ({
      ...{ ...who(owner), deadline },
      ...(keys !== undefined && { keys: [...keys] }),
    })),
    ...(more === true && { more }),
    ...(remaining !== undefined && { remaining }),
    ...(token !== undefined && { token }),
  }
}
