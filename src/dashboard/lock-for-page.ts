import { createHash } from 'node:crypto'
import type { ListedHolder, ListedLock, ListedWaiter } from '../api/listing.js'
import { isOfRedisson, signOf } from '../cli/locks/signs.js'
import { kept } from './keep-unchanged.js'
import { LONGEST, MOST_PAST, type Past, type Person, type ShownLock, WINDOW } from './page-messages.js'

/** How many holders and waiters of one lock a page gets. */
const MOST_HOLDERS = 20
const MOST_WAITERS = 50
const MOST_KEYS = 20
const LONGEST_TOGETHER = 1000
/** ms. The end of a lease is estimated again at each reading: what differs by less is the same. */
const JITTER = 400
/** ms. If the end of the lease differs by more than this, somebody has moved it. */
const MOVED = 1000
/** A client renews when a third of its lease is over. If more than this part was left, something else has moved the end. */
const DUE = 0.75
/** If more is left than so many of the leases that were seen, somebody extended it: no renewal is due in a third of that. */
const EXTENSION = 1.5
/** ms. What has ended since a reading that is older than this ended when it was last seen, as far as anybody knows. */
const PAUSE = 10_000

/** What a page may know instead of an owner or a client's id. */
export type Alias = (text: string) => string

/** Of all texts whose aliases are kept. A name may be long. */
const MOST_CHARACTERS = 10_000_000

export const aliases = (secret: Uint8Array | string): Alias => {
  const known = new Map<string, string>()
  let characters = 0
  return (text) => {
    const there = known.get(text)
    if (there !== undefined) return there
    const alias = createHash('sha256').update(secret).update(text).digest('base64url').slice(0, 16)
    characters += text.length
    if (characters > MOST_CHARACTERS) {
      known.clear()
      characters = text.length
    }
    known.set(text, alias)
    return alias
  }
}

/** What a page knows instead of the kind and the key of a lock. */
export type IdOf = (lock: Pick<ListedLock, 'kind' | 'key'>) => string

/** The name of a lock is no secret. So the address of its page stays the same, whichever process serves it. */
export const lockIds = (): IdOf => {
  const alias = aliases('')
  return ({ kind, key }) => alias(`${kind} ${key}`)
}

const cut = (text: string): string =>
  text.length <= LONGEST ? text : `${text.slice(0, LONGEST).replace(/[\ud800-\udbff]$/, '')}…`

/** What anybody may have published: few names, and not long all together. */
const few = (names: readonly string[]): readonly string[] => {
  let left = LONGEST_TOGETHER
  return names
    .slice(0, MOST_KEYS)
    .map(cut)
    .filter((name) => (left -= name.length) >= 0)
}

type Anybody = ListedHolder | ListedWaiter

/** Who was there at the reading before. */
interface Around extends Pick<Seen, 'now' | 'alias'> {
  readonly people: readonly Person[] | undefined
}

/** Most of them stand where they stood. */
const knownAs = (id: string, people: readonly Person[] | undefined, at: number): Person | undefined => {
  const there = people?.[at]
  return there?.id === id ? there : people?.find((other) => other.id === id)
}

/** A stranger may have written a time that is still to come. */
const sinceOf = ({ since = Infinity }: Anybody, before: Person | undefined, now: number): number =>
  Math.round(since <= now ? since : (before?.since ?? now))

/** A client that has died has no label any more: people still want to know who it was. */
const person = (one: Anybody, at: number, { people, now, alias }: Around): Person => {
  const id = alias(one.owner)
  const before = knownAs(id, people, at)
  const label = one.label === undefined ? before?.label : cut(one.label)
  return {
    ...{ id, client: before?.client ?? alias(one.client), short: before?.short ?? one.client.slice(0, 8) },
    ...(label !== undefined && { label }),
    since: sinceOf(one, before, now),
    ...(one.keys !== undefined && { keys: few(one.keys) }),
  }
}

const signed = (holder: ListedHolder): Pick<Person, 'sign'> => {
  const { is } = signOf(holder)
  if (is === 'silent') return { sign: 'gone' }
  return is === 'redisson' || is === 'unknown' ? { sign: is } : {}
}

const holding = (one: ListedHolder, at: number, around: Around): Person => {
  const now = {
    ...person(one, at, around),
    ...signed(one),
    ...(one.mode !== 'exclusive' && { mode: one.mode }),
    ...(one.count > 1 && { count: one.count }),
    ...(one.waitsFor !== undefined && { wants: few(one.waitsFor.map(({ name }) => name)) }),
  }
  return kept(now, knownAs(now.id, around.people, at))
}

const isAsListed = (one: ListedWaiter, was: ListedWaiter | undefined): boolean =>
  one.keys === undefined && was?.owner === one.owner && was.label === one.label && was.since === one.since

const waiting = (one: ListedWaiter, at: number, around: Around & { readonly listed: Before['listed'] }): Person => {
  const there = around.people?.[at]
  if (there !== undefined && isAsListed(one, around.listed?.waiting[at])) return there
  const before = knownAs(around.alias(one.owner), around.people, at)
  const label = one.label === undefined ? before?.label : cut(one.label)
  // There are many of them, and most are the same as at the reading before.
  const same = before?.label === label && before?.since === sinceOf(one, before, around.now)
  if (before !== undefined && same && one.keys === undefined && before.keys === undefined) return before
  return kept(person(one, at, around), before)
}

/** Whether the lease ends earlier than it did. A lock was looked at when the reading began at the earliest. */
const isShorter = (
  { remaining = Infinity }: ListedLock,
  { now }: Pick<Seen, 'now'>,
  last: Before | undefined,
): boolean => (last?.lock.until ?? -Infinity) - (last?.took ?? 0) - (now + remaining) > MOVED

const sole = <T>(all: readonly T[]): T | undefined => (all.length === 1 ? all[0] : undefined)

/**
 * A thread of Redisson has the same owner each time. A renewal never makes a lease end earlier, and if the thread releases a level, it gets the whole lease again. So if a lease that was
 * renewed ends earlier, the thread has released the lock and acquired it again.
 */
const hasBegunAgain = (lock: ListedLock, seen: Seen, last: Before | undefined): boolean => {
  const [holder, before] = [sole(lock.holders), sole(last?.lock.holders ?? [])]
  if (holder === undefined || before === undefined || last?.lock.renewed !== true) return false
  const same = seen.alias(holder.owner) === before.id && holder.count === (before.count ?? 1)
  return same && isOfRedisson(holder) && isShorter(lock, seen, last)
}

const leaseOf = (lock: ListedLock, seen: Pick<Seen, 'now' | 'took'>, last: Before | undefined): Partial<ShownLock> => {
  const { remaining, holders } = lock
  const { now, took = 0 } = seen
  if (remaining === undefined) return {}
  if (remaining === Infinity) return { until: null }
  const before = isShorter(lock, seen, last) ? undefined : last?.lock
  const was = before?.until ?? undefined
  const until = Math.round(now + remaining)
  const longer = was !== undefined && until - took - was > MOVED
  const extended = longer && remaining > EXTENSION * (before?.lease ?? 0)
  const lease = longer ? remaining : Math.max(before?.lease ?? 0, remaining)
  // If it was not due, the owner has acquired another level. Or it is a thread of Redisson that has begun again, perhaps without renewals.
  const due = longer && was - now <= DUE * remaining
  const goesOn = before?.renewed === true && !(longer && holders.some(isOfRedisson))
  const renewed = !extended && (due || goesOn)
  const same = was !== undefined && Math.abs(until - was) < JITTER
  return {
    until: same ? was : until,
    lease: same ? (before?.lease ?? lease) : lease,
    ...(renewed && { renewed: true as const }),
    ...(renewed && remaining < lease / 2 && { late: true as const }),
  }
}

/** When that ended which is not there any more. */
const endOf = ({ seen }: Before, now: number): number => (now - seen > PAUSE ? seen : now)

const ended = (before: Before | undefined, there: ReadonlySet<string>, { now, onEnd }: Ends): readonly Past[] => {
  if (before === undefined) return []
  const { lock } = before
  const end = endOf(before, now)
  const left = lock.holders.filter(({ id }) => !there.has(id))
  const past = left.map(({ id, client, short, label, since }) => {
    onEnd?.(end)
    return { id, client, short, label, since, until: Math.max(since, end) }
  })
  return [...lock.past, ...past].filter(({ until }) => until > now - WINDOW).slice(-MOST_PAST)
}

/** How a lock was shown after the reading before, when it was read last, how long that took, and what was listed then. */
export interface Before {
  readonly listed?: ListedLock | undefined
  readonly lock: ShownLock
  readonly seen: number
  readonly took?: number | undefined
}

interface Ends {
  readonly now: number
  /** Hears of each hold that ended since the reading before, and when: at the latest now. */
  readonly onEnd?: ((at: number) => void) | undefined
}

export interface Seen extends Ends {
  /** How long the reading took: a lock was looked at when it began at the earliest. */
  readonly took?: number | undefined
  readonly alias: Alias
  readonly idOf: IdOf
  readonly before: (id: string) => Before | undefined
  /** Its holder is known to lead. */
  readonly election?: boolean
}

/** A slot's lock is part of another object, so it is listed by its key. */
const SLOT = ':slot-lock:'

const roleOf = ({ name }: ListedLock, election: boolean): Pick<ShownLock, 'role'> =>
  election ? { role: 'election' } : name.includes(SLOT) ? { role: 'slot' } : {}

/** Of all holders: one that is not among the first any more still holds. */
const idsOf = ({ holders }: ListedLock, shown: readonly Person[], alias: Alias): ReadonlySet<string> =>
  new Set(holders.length > shown.length ? holders.map(({ owner }) => alias(owner)) : shown.map(({ id }) => id))

export const shown = (lock: ListedLock, seen: Seen): ShownLock => {
  const { now, alias, idOf, before: at, election = false } = seen
  const id = idOf(lock)
  const last = at(id)
  const before = last?.lock
  const again = hasBegunAgain(lock, seen, last)
  const held = { people: again ? undefined : before?.holders, now, alias }
  const waited = { people: before?.waiting, listed: last?.listed, now, alias }
  const holders = lock.holders.slice(0, MOST_HOLDERS).map((one, at) => holding(one, at, held))
  const same = !again && holders.length === 1 && before?.holders[0]?.id === holders[0]?.id
  const next: ShownLock = {
    ...{ id, name: cut(lock.name), kind: lock.kind, holders },
    waiting: lock.waiting.slice(0, MOST_WAITERS).map((one, at) => waiting(one, at, waited)),
    ...roleOf(lock, election),
    holding: lock.holders.length,
    waiters: lock.waiting.length,
    ...(lock.more === true && { more: true as const }),
    ...leaseOf(lock, seen, same ? last : undefined),
    ...(lock.token !== undefined && { token: String(lock.token) }),
    ...(lock.available !== undefined && { available: lock.available }),
    ...(lock.permits !== undefined && { permits: lock.permits }),
    ...(lock.interval !== undefined && { interval: lock.interval }),
    past: ended(last, again ? new Set() : idsOf(lock, holders, alias), seen),
  }
  return kept(next, before)
}

/** A lock that was there at the reading before, and is free now; undefined: nothing of it is worth showing any more. */
export const freed = (before: Before, ends: Ends): ShownLock | undefined => {
  const { now } = ends
  const free = before.lock.free ?? endOf(before, now)
  const past = ended(before, new Set(), ends)
  if (now - free > WINDOW || past.length === 0) return undefined
  const { id, name, kind, role } = before.lock
  const lock: ShownLock = {
    id,
    name,
    kind,
    ...(role && { role }),
    holders: [],
    holding: 0,
    waiting: [],
    waiters: 0,
    past,
    free,
  }
  return kept(lock, before.lock)
}
