import type { ListedKind, SharedKind } from '../../api/listing.js'
import type { Runtime } from '../../core/client/runtime.js'
import type { ServerState } from '../../core/protocol/lock-protocol.js'
import { fencingCounter, lineDeadlines, lineQueue, slotOf } from '../../keys.js'
import { listingInspectSome } from '../../lua/scripts.gen.js'
import { fairKeys } from '../fair-lock/fair-keys.js'
import type { Claim } from './published-claims.js'

export const partsOf = <T>(all: readonly T[], most: number): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(all.length / most) }, (_, i) => all.slice(i * most, (i + 1) * most))

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

/** How many locks one script reads: about a ms of the server. */
const IN_ONE_SCRIPT = 64

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
  return [...bySlot.values()].flatMap((some) => partsOf(some, IN_ONE_SCRIPT))
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

/** How many lines stand before those of the waiters. */
const BEFORE_WAITERS = 4

/** `said`: what the script says about one lock. */
const stateOf = (said = ''): ServerState | undefined => {
  const lines = said.split('\n')
  const [ttl = '', owner = '', count = '', token = ''] = lines
  if (lines.length < BEFORE_WAITERS) return undefined
  const holders = count === '' ? [] : [{ owner, count: Number(count) }]
  const state = { ttl: Number(ttl), holders, waiting: waitersIn(lines) }
  return token === '' ? state : { ...state, token: BigInt(token) }
}

/** A place that stands twice is shown where it stands first. */
const waitersIn = (lines: readonly string[]): NonNullable<ServerState['waiting']> => {
  const waiting: { owner: string; deadline: number }[] = []
  const seen = new Set<string>()
  for (let i = BEFORE_WAITERS; i + 1 < lines.length; i += 2) {
    const owner = lines[i] as string
    if (owner === '' || seen.size === seen.add(owner).size) continue
    waiting.push({ owner, deadline: Math.floor(Number(lines[i + 1])) })
  }
  return waiting
}
