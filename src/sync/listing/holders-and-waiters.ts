import type { LockEvent } from '../../api/watching.js'
import type { ServerState } from '../../core/protocol/lock-protocol.js'
import { clientOf } from '../../keys.js'

/** An owner that holds the lock, or waits for it. */
export interface Person extends Pick<LockEvent, 'owner' | 'client' | 'mode' | 'keys'> {
  /** When its hold ends if it is not renewed, by the server's clock. `undefined`: never, or it is a waiter. */
  readonly until: number | undefined
  label?: string | undefined
  since?: number | undefined
}

/** Whether nobody else can hold the lock while this one does. */
export const excludesOthers = ({ mode, keys }: Person): boolean => mode !== 'read' && keys === undefined

/** The holders and the waiters of a lock, by owner, in the order of the line. */
export interface HoldersAndWaiters {
  readonly holders: Map<string, Person>
  readonly waiting: Map<string, Person>
  /** There may be others. */
  more: boolean
}

export const nobody = (): HoldersAndWaiters => ({ holders: new Map(), waiting: new Map(), more: false })

export const countOf = ({ holders, waiting }: HoldersAndWaiters): number => holders.size + waiting.size

/** Adds what the server said about the lock. `asked`: when it was asked, by its clock, or before. */
export const addState = (
  people: HoldersAndWaiters,
  { ttl, holders, waiting = [], more }: ServerState,
  asked: number,
): void => {
  people.more ||= more === true
  for (const { owner, mode = 'exclusive', left = ttl, keys } of holders) {
    const until = ttl < 0 ? undefined : asked + left
    people.holders.set(owner, { owner, client: clientOf(owner), mode, keys, until })
  }
  for (const { owner, keys } of waiting) {
    if (!people.holders.has(owner))
      people.waiting.set(owner, { owner, client: clientOf(owner), keys, until: undefined })
  }
}

/** What was known of somebody stays known: a client may have ended by the time its hold does. */
export const keepKnown = (now: ReadonlyMap<string, Person>, before: ReadonlyMap<string, Person>): void => {
  for (const [owner, person] of now) {
    const known = before.get(owner)
    if (known === undefined) continue
    person.label = known.label
    person.since = known.since
  }
}
