import type { ListedLock } from '../../api/listing.js'
import type { BlockedLock, Forest } from './wait-forest.js'

const within = ({ waiters }: BlockedLock): readonly BlockedLock[] =>
  waiters.flatMap(({ locks }) => locks.flatMap((lock) => [lock, ...within(lock)]))

const everyLock = (root: BlockedLock): readonly BlockedLock[] => [root, ...within(root)]

/** The trees that have a lock of these names, with those that they refer to; and the deadlocks that have one. */
export const chosenTrees = ({ roots, cycles }: Forest, matches: (name: string) => boolean): Forest => {
  const chosen = new Set(roots.filter((root) => everyLock(root).some(({ lock }) => matches(lock.name))))
  // The set grows while it is walked through.
  for (const root of chosen) {
    const elsewhere = new Set(
      everyLock(root)
        .filter((one) => one.elsewhere !== undefined)
        .map(({ lock }) => lock),
    )
    for (const other of roots)
      if (everyLock(other).some((one) => one.elsewhere === undefined && elsewhere.has(one.lock))) chosen.add(other)
  }
  return {
    roots: roots.filter((root) => chosen.has(root)),
    cycles: cycles.filter((cycle) => cycle.some(({ lock, wait }) => matches(lock.name) || matches(wait.name))),
  }
}

/** The locks that these trees show. */
export const locksIn = ({ roots }: Forest): ReadonlySet<ListedLock> =>
  new Set(roots.flatMap((root) => everyLock(root).map(({ lock }) => lock)))
