import { LockLostError } from '../../errors.js'
import type { Clock, Moment } from '../../base/clock.js'
import type { GateHost } from './gate-host.js'
import type { Tenure } from '../hold/tenure.js'
import type { WaitingRoom } from './waiting-room.js'
import type { Waiter } from './waiter.js'
import { marginOf } from '../hold/margin.js'

/** An answer so late is worth nothing. */
export const isLate = (clock: Clock, sent: Moment, lease: number): boolean =>
  clock.monotonic() - sent.mono >= lease - marginOf(lease)

export const lateError = (name: string, lease: number): LockLostError =>
  new LockLostError(name, `its lease of ${lease} ms was over before the server's answer came`)

/** A waiter gets what it waited for; other calls of its owner, which would wait for themselves, take it again. How many. */
export const serve = (
  host: Pick<GateHost, 'name' | 'kind' | 'runtime' | 'enterAll' | 'reconsiderBeside'>,
  room: WaitingRoom,
  waiter: Waiter,
  tenure: Tenure,
  local: boolean,
): number => {
  const { owner, explicit } = waiter.request
  room.remove(waiter)
  waiter.resolve(tenure.give(owner))
  host.runtime.lockEvents.granted(host, tenure.wire, waiter.since, local)
  if (!explicit) return 0
  const others = room.of(owner)
  for (const other of others) room.remove(other)
  host.enterAll(tenure, others)
  host.reconsiderBeside(owner)
  return others.length
}
