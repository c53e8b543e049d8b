import type { LockHappening } from '../../api/listing.js'
import type { ServerState } from '../../core/protocol/protocol.js'

/** A lock at one moment. */
export interface Look {
  /** Server time, ms. */
  readonly at: number
  readonly state: ServerState
}

/** What happened to one owner between two looks. `ended`: a hold is over, and why must still be found out. */
export interface Change {
  readonly type: Exclude<LockHappening, 'released' | 'deleted' | 'forced'> | 'ended'
  readonly owner: string
  readonly mode?: 'exclusive' | 'read' | 'write'
  readonly certain: boolean
}

const NOTHING: ServerState = { ttl: -2, holders: [] }

/** The lock is free, or was deleted. */
export const isFree = ({ holders, waiting = [] }: ServerState): boolean => holders.length === 0 && waiting.length === 0

/** What happened from one look to the next, in the order in which it must have happened: holds end, waiters go, holds begin, waiters come. */
export const changesOf = (before: Look, after: Look): readonly Change[] => {
  const [was, is] = [before.state, after.state]
  const [held, holds] = [ownersOf(was.holders), ownersOf(is.holders)]
  const [waited, waits] = [ownersOf(was.waiting ?? []), ownersOf(is.waiting ?? [])]
  const changes: Change[] = []
  for (const { owner, mode = 'exclusive' } of was.holders) {
    if (!holds.has(owner)) changes.push({ ...endOf(before, after), owner, mode })
  }
  // While one owner excludes all others from the first look to the second, nobody can have held the lock in between.
  const between = !is.holders.some(({ owner, mode, keys }) => mode !== 'read' && keys === undefined && held.has(owner))
  for (const owner of waited) {
    if (!waits.has(owner) && !holds.has(owner)) changes.push({ type: 'gave up', owner, certain: !between })
  }
  for (const { owner, mode = 'exclusive' } of is.holders) {
    if (!held.has(owner)) changes.push({ type: 'granted', owner, mode, certain: true })
  }
  for (const owner of waits) {
    if (!waited.has(owner) && !held.has(owner)) changes.push({ type: 'waiting', owner, certain: true })
  }
  return changes
}

/** From nothing: everything that there is has happened before the first look. */
export const firstLook = (at: number): Look => ({ at, state: NOTHING })

const ownersOf = (some: readonly { readonly owner: string }[]): ReadonlySet<string> =>
  new Set(some.map(({ owner }) => owner))

/** A lease that was over by the second look has ended the hold, unless its owner was faster. If many hold the lock, each has a lease of its own, which is not known. */
const endOf = ({ at, state }: Look, after: Look): Pick<Change, 'type' | 'certain'> => {
  const over = state.ttl >= 0 && at + state.ttl <= after.at
  if (over && state.holders.length === 1) return { type: 'expired', certain: true }
  return { type: 'ended', certain: false }
}
