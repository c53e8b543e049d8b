import type { Entry } from '../support/key-space.js'
import { near, type Program, type Same, sameEntries, type Seen } from '../support/programs.js'

export const SEMAPHORES: Readonly<Record<string, Program>> = {
  'made, taken, given back, added, taken away, drained':
    'X trySetPermits 10; Y trySetPermits 5; X acquire 3; Y availablePermits; Y acquire 7; X tryAcquire 1; Y release 4; ' +
    'X tryAcquire 4; X release 10; Y drainPermits; X drainPermits; Y addPermits 5; X addPermits -9; Y availablePermits; ' +
    'X tryAcquire 1; X release 9; Y release 0; X tryAcquire 0; Y availablePermits; X delete; Y delete; Y release 2; X delete',
  'waited for':
    'X trySetPermits 1; X acquire 1; Y acquire 1 &; X release 1; Y wait; X acquire 2 &; Y release 2; X wait; Y delete',
  'waited for in vain': 'X trySetPermits 1; Y tryAcquire 2 300; X tryAcquire 1 300; X availablePermits; Y delete',
  'added for who waits': 'X addPermits 1; Y acquire 3 &; X addPermits 2; Y wait; X availablePermits; X delete',
  'an expiry of the whole':
    'X trySetPermits 5; Y expire 60000; X acquire 2; Y release 1; Y clearExpire; X clearExpire; X expire 60000; Y delete; Y expire 5000',
}

export const PERMIT_SEMAPHORES: Readonly<Record<string, Program>> = {
  'taken for a while and for ever, given back by either':
    'X trySetPermits 3; Y trySetPermits 5; X acquire 60000; Y acquire; X availablePermits; Y acquire 30000; X tryAcquire; ' +
    'Y tryRelease 0; X tryRelease 0; X release 1; Y release 2; X release 2; Y availablePermits; X delete',
  'a lease changed by its id':
    'X trySetPermits 2; X acquire; Y acquire 60000; Y extend 0 30000; X extend 1 30000; Y extend 9 1000; Y release 0; ' +
    'X release 1; Y delete',
  'waited for':
    'X trySetPermits 1; X acquire; Y acquire 60000 &; X release 0; Y wait; X acquire &; Y release 1; X wait; Y release 2; X delete',
  'run out':
    'X trySetPermits 2; X acquire 2000; Y acquire 2000; sleep 2500; X availablePermits; Y tryRelease 0; X delete',
}

export const OF_THE_NEWEST: Readonly<Record<string, Program>> = {
  'how long they last':
    'X trySetPermits 2; X acquire; Y acquire 60000; X leaseTime 0; X leaseTime 1; Y leaseTime 0; Y extend 0 30000; ' +
    'X extend 1 30000; Y leaseTime 1; X leaseTime 0; X leaseTime 9; Y extend 9 1000; Y release 0; X release 1; Y delete',
  'many at once':
    'X trySetPermits 10; Y acquireMany 6 60000; X acquiredPermits; X tryReleaseMany 0 1 9; X tryReleaseMany 0 1; Y getPermits; ' +
    'X acquireMany 2; Y release 2 3; Y acquiredPermits; X release 4 5 6 7; Y availablePermits; Y delete',
  'as many in all':
    'X setPermits 4; Y acquire 60000; Y setPermits 2; X availablePermits; X acquiredPermits; Y getPermits; X addPermits 3; ' +
    'X addPermits -9; Y availablePermits; Y setPermits 1; X getPermits; X release 0; Y delete',
  'an expiry of the whole':
    'X trySetPermits 5; Y expire 60000; X acquire 60000; Y acquire; X clearExpire; Y release 0; Y delete',
  'run out before they are given back':
    'X trySetPermits 5; X acquireMany 2 2000; Y acquireMany 2; sleep 2500; Y tryReleaseMany 2 3; X availablePermits; X delete',
}

export const LATCHES: Readonly<Record<string, Program>> = {
  'counted down':
    'X trySetCount 2; Y trySetCount 3; Y getCount; X countDown; Y getCount; Y countDown; X getCount; X countDown; Y await; X await; ' +
    'Y trySetCount 1; X delete; Y delete; X await',
  'waited for by both': 'X trySetCount 2; Y await &; Z await &; X countDown; X getCount; X countDown; Y wait; Z wait',
  'waited for in vain': 'X trySetCount 1; Y await 300; X getCount; Y delete',
}

const count = (message: string): number => Number(message.split(' ').at(-1))

const GRANT = 'holdfast_permits_grant:'

/**
 * Redisson tells none and debts too, on which its own waiters fail or sleep on. A grant among ours stands for what Redisson would tell
 * all who wait.
 */
export const sameCounts: Same = (a, b) => {
  const told = ({ messages }: Seen): string => messages.filter((message) => count(message) > 0).join()
  const grants = [a, b].some(({ messages }) => messages.some((message) => message.startsWith(GRANT)))
  return near(a.result, b.result) && (grants || told(a) === told(b)) && sameEntries(a, b)
}

const PERMANENT = 922_337_203_685_477

/** Leases of the programs are 30 s or more apart: a machine may stand still for so long, ms. */
const STALL = 10_000

type Members = readonly (readonly [string, string])[]

const isSet = ({ type }: Entry): boolean => type === 'zset'

/** When each permit that is out ends, ms from then; ids are random. */
const lasting = ({ at, keys }: Seen): number[] =>
  keys
    .filter(isSet)
    .flatMap(({ value }) => value as Members)
    .map(([, score]) => (Number(score) === PERMANENT ? Infinity : Number(score) - at))
    .sort((a, b) => a - b)

const sameLasting = (a: readonly number[], b: readonly number[]): boolean =>
  a.length === b.length && a.every((left, index) => left === b[index] || Math.abs(left - (b[index] ?? NaN)) < STALL)

/** Leases are over: Redisson gives those permits back when somebody asks next, ours often as soon as it has lost them. */
const givenBack = (seen: Seen): Seen => {
  const over = lasting(seen).filter((left) => left <= 0).length
  const keys = seen.keys.flatMap((entry): Entry[] => {
    if (entry.key === 'N' && over > 0) return [{ ...entry, value: String(Number(entry.value) + over) }]
    if (!isSet(entry)) return [entry]
    const value = (entry.value as Members).filter(([, score]) => Number(score) > seen.at)
    return value.length > 0 ? [{ ...entry, value }] : []
  })
  return { ...seen, keys }
}

const withoutIds = (seen: Seen): Seen => ({
  ...seen,
  keys: seen.keys.map((entry): Entry => (isSet(entry) ? { ...entry, value: undefined } : entry)),
})

const firstOf = (result: unknown): unknown => (Array.isArray(result) ? result.join() : result)

/** What they tell means something else for each step, so it is a hint only; see the wake-ups. */
export const samePermits: Same = (expected, actual) => {
  const [a, b] = [givenBack(expected), givenBack(actual)]
  return (
    near(firstOf(a.result), firstOf(b.result)) &&
    sameLasting(lasting(a), lasting(b)) &&
    sameEntries(withoutIds(a), withoutIds(b))
  )
}

/** Redisson's waiters wait on when a latch is deleted; after our 0 they look. */
export const sameLatches: Same = (a, b) =>
  near(a.result, b.result) &&
  sameEntries(a, b) &&
  (a.messages.join() === b.messages.join() ||
    (a.step.endsWith('delete') && a.messages.every((message) => b.messages.includes(message))))
