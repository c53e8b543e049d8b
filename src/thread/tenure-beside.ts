import { type Clock, momentOf } from '../base/clock.js'
import { ReleaseCallerLimit } from '../core/hold/release-caller-limit.js'
import type { SharedHold } from '../core/hold/renewal-thread-handle.js'
import { type Behind, SharedProof } from '../core/hold/proof-between-threads.js'
import { type TenureClient, type TenureHost, Tenure } from '../core/hold/tenure.js'
import type { Watchdog } from '../core/hold/watchdog.js'
import type { HeldProtocol, RenewScript } from '../core/protocol/lock-protocol.js'
import {
  fencedLockRenew,
  keyedLockRenew,
  lockRenew,
  permitSemaphoreRenew,
  readWriteLockReadRenew,
} from '../lua/scripts.gen.js'

const SCRIPTS: readonly RenewScript[] = [
  lockRenew,
  fencedLockRenew,
  keyedLockRenew,
  permitSemaphoreRenew,
  readWriteLockReadRenew,
]

const ignore = (): void => undefined
const never = (): never => {
  throw new Error('this thread only renews')
}

/** A client that only renews. */
export const clientBeside = (clock: Clock, watchdog: Watchdog): TenureClient => ({
  options: { clock },
  watchdog,
  lockEvents: { lost: ignore, doubted: ignore, renewed: ignore },
  releases: new ReleaseCallerLimit(clock, 0),
  retry: { insist: never },
  unanswered: { add: never },
  writes: false,
  untilClosed: never,
})

/** A hold of the thread beside, of which this one knows only how to renew it. */
export const tenureBeside = (client: TenureClient, hold: SharedHold, clocks: Behind): Tenure => {
  const { wire, lease, number, place } = hold
  const now = momentOf(client.options.clock)
  const tenure = new Tenure(hostOf(client, hold), wire, { lease, watched: true }, now)
  const shared = new SharedProof(place, number, 1, clocks)
  const heard = shared.hear()
  if (heard?.left === -2) tenure.end()
  else if (heard !== undefined) tenure.proved({ ...heard, order: now.order }, heard.left)
  tenure.shared = shared
  return tenure
}

const hostOf = (runtime: TenureClient, hold: SharedHold): TenureHost => ({
  name: hold.name,
  kind: { name: hold.script },
  runtime,
  protocol: protocolOf(hold),
  lost: (tenure) => (runtime.watchdog as Watchdog).remove(tenure),
  giveBack: never,
  ticketOf: never,
  detach: never,
})

const protocolOf = ({ script, key, keys, words, weight }: SharedHold): HeldProtocol => ({
  key,
  renewal: SCRIPTS.find(({ name }) => name === script) ?? never(),
  renewalKeys: () => keys,
  renewalWords: () => words,
  weight: () => weight,
  setLevel: never,
})
