import type { GateHost } from './gate-host.js'
import type { Tenure } from '../hold/tenure.js'
import type { TimedWaiters } from './timed-waiters.js'
import type { Waiter } from './waiter.js'

/** Gives a waiter what it waited for. Other calls of its owner would wait for themselves: they acquire it again. Returns how many. */
export const serveWaiter = (
  host: Pick<GateHost, 'enterAll' | 'reconsiderBeside'>,
  room: TimedWaiters,
  waiter: Waiter,
  tenure: Tenure,
  local: boolean,
): number => {
  const { owner, explicit } = waiter.request
  room.remove(waiter)
  if (local) waiter.request.call?.passedOn()
  waiter.resolve(tenure.give(waiter.request))
  if (!explicit) return 0
  const others = room.of(owner)
  for (const other of others) room.remove(other)
  host.enterAll(tenure, others)
  host.reconsiderBeside(owner)
  return others.length
}
