import type { SharedKind } from '../../api/listing.js'
import { NamedRunner } from '../../core/client/named-runner.js'
import type { Runtime } from '../../core/client/runtime.js'
import type { ServerState } from '../../core/protocol/lock-protocol.js'
import {
  expirableDeadlines,
  expirableQueue,
  limiterOrder,
  limiterPermits,
  limiterValue,
  numberless,
  permitsDeadlines,
  permitsQueue,
  permitTimeouts,
} from '../../keys.js'
import { listingInspectShared } from '../../lua/scripts.gen.js'
import { waitersInParts } from '../lock/inspect-line.js'
import type { Claim } from './published-claims.js'

/** How an object that many use at once stands. It has no holders: its permits have no owner. */
export interface SharedState extends ServerState {
  readonly available?: number
  readonly permits?: number
  readonly interval?: number
}

type Keys = readonly [object: string, rest: string, line: string, deadlines: string]

/** Where one of these keys is not needed, the script gets the first again. */
const KEYS: Readonly<Record<SharedKind, (key: string) => Keys>> = {
  semaphore: (key) => [key, key, permitsQueue(key), permitsDeadlines(key)],
  permitSemaphore: (key) => [key, permitTimeouts(key), expirableQueue(key), expirableDeadlines(key)],
  rateLimiter: (key) => [key, limiterValue(key), limiterOrder(key), limiterPermits(key)],
  countDownLatch: (key) => [key, key, key, key],
}

type Waiters = NonNullable<ServerState['waiting']>

/** A latch has no line: only its clients say that they wait. */
const claimed = ({ spells }: Claim): Waiters =>
  [...spells]
    .flatMap(([client, { waits }]) => (waits === undefined ? [] : [{ client, since: waits[1] }]))
    .sort((one, other) => one.since - other.since)
    .map(({ client }) => ({ owner: numberless(client), deadline: Infinity }))

/** Asks the server about such an object. */
export const sharedStateOf = async (runtime: Runtime, kind: SharedKind, claim: Claim): Promise<SharedState> => {
  const runner = new NamedRunner(runtime, claim.key)
  const ask = (first: number) => runner.run(listingInspectShared, KEYS[kind](claim.key), [kind, first])
  const [available, permits, interval, queue] = await ask(0)
  const line = await waitersInParts(queue, async (first) => (await ask(first))[3])
  // The places of a limiter have no deadlines.
  const untimed =
    kind === 'rateLimiter' ? { waiting: line.waiting?.map(({ owner }) => ({ owner, deadline: Infinity })) ?? [] } : {}
  const latched = kind === 'countDownLatch' ? { waiting: available > 0 ? claimed(claim) : [] } : {}
  return {
    ...{ ttl: -2, holders: [], ...line, ...untimed, ...latched },
    ...(available >= 0 && { available }),
    ...(permits >= 0 && { permits }),
    ...(interval > 0 && { interval }),
  }
}
