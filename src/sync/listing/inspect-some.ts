import type { ListedKind, SharedKind } from '../../api/listing.js'
import type { Runtime } from '../../core/client/runtime.js'
import type { ServerState } from '../../core/protocol/lock-protocol.js'
import { fencingCounter, lineDeadlines, lineQueue, slotOf } from '../../keys.js'
import { integer, list, text } from '../../lua/reply-shape.js'
import { listingInspectSome } from '../../lua/scripts.gen.js'
import { fairKeys } from '../fair-lock/fair-keys.js'
import type { Claim } from './published-claims.js'

type Keys = readonly [lock: string, queue: string, deadlines: string, counter: string]

const plainKeys = (key: string): Keys => [key, lineQueue(key), lineDeadlines(key), key]
const keysInLine = (key: string): Keys => [...fairKeys(key), key]

/** Without a counter, the script gets the first key again. */
const KEYS: Readonly<Partial<Record<ListedKind | SharedKind, (key: string) => Keys>>> = {
  lock: plainKeys,
  nonReentrantLock: plainKeys,
  fencedLock: (key) => [key, lineQueue(key), lineDeadlines(key), fencingCounter(key)],
  fairLock: keysInLine,
  nonReentrantFairLock: keysInLine,
}

/** The claims that one script can read together: in a cluster, those of one slot. The others have to be read one at a time. */
export const togetherIn = (claims: readonly Claim[], cluster: boolean): readonly (readonly Claim[])[] => {
  const bySlot = new Map<number, Claim[]>()
  for (const claim of claims) {
    if (KEYS[claim.shown.kind] === undefined) continue
    const slot = cluster ? slotOf(claim.key) : 0
    const there = bySlot.get(slot)
    if (there === undefined) bySlot.set(slot, [claim])
    else there.push(claim)
  }
  return [...bySlot.values()]
}

/** Asks the server about such locks. Undefined: that one has to be asked about alone. */
export const inspectSome = async (
  { link }: Runtime,
  claims: readonly Claim[],
): Promise<readonly (ServerState | undefined)[]> => {
  const keys = claims.flatMap(({ key, shown }) => KEYS[shown.kind]?.(key) ?? [])
  const found = await link.run(listingInspectSome, keys, [])
  return claims.map((_, i) => stateOf(found[i]))
}

/** `entry`: what the script says about one lock. */
const stateOf = (entry: unknown): ServerState | undefined => {
  if (!list(entry)) return undefined
  const [ttl, ...texts] = entry
  return integer(ttl) && texts.length >= 3 && texts.every(text) ? read(ttl, texts) : undefined
}

const read = (ttl: number, [holder = '', count, token = '', ...line]: readonly string[]): ServerState => {
  const holders = count === '' ? [] : [{ owner: holder, count: Number(count) }]
  const waiting = waitersIn(line)
  return token === '' ? { ttl, holders, waiting } : { ttl, holders, waiting, token: BigInt(token) }
}

/** A place that stands twice is shown where it stands first. */
const waitersIn = (line: readonly string[]): NonNullable<ServerState['waiting']> => {
  const waiting = new Map<string, number>()
  for (let i = 0; i + 1 < line.length; i += 2) waiting.set(line[i] as string, Math.floor(Number(line[i + 1])))
  return Array.from(waiting, ([owner, deadline]) => ({ owner, deadline }))
}
