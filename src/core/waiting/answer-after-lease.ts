import { LockLostError } from '../../errors.js'
import type { Clock, Moment } from '../../base/clock.js'
import { marginOf } from '../hold/safety-margin.js'

/** Whether the answer came so late that the lease in it is over, less the margin. */
export const isAfterLease = (clock: Clock, sent: Moment, lease: number): boolean =>
  clock.monotonic() - sent.mono >= lease - marginOf(lease)

export const afterLeaseError = (name: string, lease: number): LockLostError =>
  new LockLostError(name, `its lease of ${lease} ms was over before the server's answer came`)
