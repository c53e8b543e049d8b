import type { Aged, ListedLock, Unlabelled } from '../../api/listing.js'
import type { WaiterState } from '../../api/lock.js'
import { lockStateOf } from '../../core/gate/lock-state.js'
import type { LockHome } from '../../core/gate/gated-lock.js'
import type { LockKind } from '../../core/gate/lock-kind.js'
import type { KnownLabels } from '../../core/client/presence-label.js'
import { NamedRunner } from '../../core/client/named-runner.js'
import { isRefused, isTransient } from '../../core/server/transient-or-unsure-errors.js'
import { type ServerState, SHOWN } from '../../core/protocol/lock-protocol.js'
import type { EngineError } from '../../errors.js'
import { numberOf, presenceKey } from '../../keys.js'
import { type Claim, type Spell } from './published-claims.js'
import { isLeftOut, isPartAway, type SkippedLocks } from './skipped-locks.js'
import { inspectorOf, isShared } from './kinds-in-one-row.js'
import { type SharedState, sharedStateOf } from './shared-state.js'

type Anybody = Pick<WaiterState, 'owner' | 'client'>

/** What listing needs from its client. */
export interface ListHome extends LockHome {
  /** How the keys of a group are encoded. */
  readonly encodeKey: (key: string) => string | Uint8Array
}

/** Undefined: the claim cannot be checked. */
const inspectorFor = ({ shown, keys }: Claim, { encodeKey }: ListHome): LockKind | undefined => {
  try {
    return inspectorOf(shown, [...keys], encodeKey)
  } catch {
    // A stranger may have written a key that the user's codec cannot encode.
    return undefined
  }
}

/** The name by which this client would reach the key; without one, the key. */
export const nameOf = ({ key, names }: Claim, home: ListHome): string => nameIn(home, key, names)

export const nameIn = ({ runtime }: ListHome, key: string, names: Iterable<string>): string => {
  for (const name of names) {
    try {
      if (runtime.keyOf(name) === key) return name
    } catch {
      // It is no name for the user's mapName.
    }
  }
  return key
}

const stateOf = async (home: ListHome, claim: Claim): Promise<SharedState | undefined> => {
  const { kind } = claim.shown
  if (isShared(kind)) return sharedStateOf(home.runtime, kind, claim)
  return inspectorFor(claim, home)?.protocol(new NamedRunner(home.runtime, claim.key), claim.key).inspect()
}

/** What nobody owns needs a right that locks do not. */
export const cannotBeRead = ({ runtime }: ListHome, { shown }: Claim, error: unknown): error is EngineError =>
  isPartAway(runtime, error) || isLeftOut(error) || (isShared(shown.kind) && isRefused(error))

/** It is held or waited for. */
export const isUsed = ({ holders, waiting = [] }: ServerState): boolean => holders.length > 0 || waiting.length > 0

/** Asks the server about a lock. Undefined: it is neither held nor waited for, is of another kind, or cannot be read; `refusals` gets the error that says so. */
export const inspected = async (
  home: ListHome,
  claim: Claim,
  refusals: EngineError[],
): Promise<SharedState | undefined> => {
  try {
    const state = await stateOf(home, claim)
    return state !== undefined && isUsed(state) ? state : undefined
  } catch (error) {
    if (!cannotBeRead(home, claim, error)) throw error
    if (isTransient(error) || error.code === 'NOPERM') refusals.push(error)
    return undefined
  }
}

/** The lock as it is listed. `known`: the labels of the clients in it. */
export const rowOf = (home: ListHome, claim: Claim, known: KnownLabels, state: SharedState): ListedLock => {
  const { key, shown, spells } = claim
  const { available, permits, interval } = state
  const { holders, waiting, more, ...rest } = lockStateOf(state, known.labels)
  const cut = claim.more || holders.length > SHOWN || waiting.length > SHOWN
  return {
    name: nameOf(claim, home),
    key,
    kind: shown.kind,
    holders: shownOf(holders).map((one) => aged(unlabelled(one, known), spells.get(one.client)?.holds)),
    waiting: shownOf(waiting).map((one) => aged(unlabelled(timely(one), known), spells.get(one.client)?.waits)),
    ...((more === true || cut) && { more: true }),
    ...rest,
    ...(available !== undefined && { available }),
    ...(permits !== undefined && { permits }),
    ...(interval !== undefined && { interval }),
  }
}

const shownOf = <T>(all: T[]): T[] => (all.length > SHOWN ? all.slice(0, SHOWN) : all)

/** When it began, if its client has published that for this very owner. */
const aged = <T extends Anybody>(one: T, spell: Spell | undefined): T & Aged => {
  if (spell?.[0] !== numberOf(one.owner)) return one
  // It is nobody else's yet, and there may be very many.
  const draft: T & { since?: number } = one
  draft.since = spell[1]
  return draft
}

/** Places of some kinds have no time of their own. */
const timely = (one: WaiterState): WaiterState => {
  if (one.deadline !== Infinity) return one
  const waiter = { ...one }
  delete waiter.deadline
  return waiter
}

const unlabelled = <T extends Anybody>(one: T, { unknown }: KnownLabels): T & Unlabelled => {
  const labelUnknown = unknown.get(one.client)
  return labelUnknown === undefined ? one : { ...one, labelUnknown }
}

/** The labels of clients, each read once. */
export class Labels {
  readonly #home: ListHome
  readonly #reads = new Map<string, Promise<void>>()
  readonly #known: KnownLabels = { labels: new Map(), unknown: new Map() }

  readonly #skipped: SkippedLocks | undefined

  constructor(home: ListHome, skipped?: SkippedLocks) {
    this.#home = home
    this.#skipped = skipped
  }

  async of(clients: readonly string[]): Promise<KnownLabels> {
    const fresh = [...new Set(clients)].filter((client) => !this.#reads.has(client))
    const read = fresh.length > 0 ? this.#read(fresh) : Promise.resolve()
    for (const client of fresh) this.#reads.set(client, read)
    // Another row may have asked for some of them, and still waits for the answer.
    await Promise.all(clients.flatMap((client) => this.#reads.get(client) ?? []))
    return this.#known
  }

  async #read(clients: readonly string[]): Promise<void> {
    const silent = clients.filter((client) => this.#isSilent(client))
    for (const client of silent) this.#known.unknown.set(client, 'unreadable')
    const asked = silent.length === 0 ? clients : clients.filter((client) => !silent.includes(client))
    const { labels, unknown } = await this.#home.readLabels(asked)
    for (const [client, label] of labels) this.#known.labels.set(client, label)
    for (const [client, why] of unknown) this.#known.unknown.set(client, why)
  }

  #isSilent(client: string): boolean {
    return this.#skipped?.silentAt(this.#home.runtime.keyOf(presenceKey(client))) !== undefined
  }
}
