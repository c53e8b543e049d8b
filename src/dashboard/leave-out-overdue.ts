import type { ListedLock } from '../api/listing.js'

/** Redisson's clients keep their places in these lines beyond their deadlines. */
const OTHERS_MAY_WAIT: ReadonlySet<ListedLock['kind']> = new Set(['fairLock', 'nonReentrantFairLock'])

/** A waiter asks once a second, which moves its deadline. When that is over, its process has died or hangs, and the next script passes its place over. */
const current = (lock: ListedLock, now: number): ListedLock => {
  const isOver = ({ deadline = Infinity }: ListedLock['waiting'][number]): boolean => deadline < now
  if (OTHERS_MAY_WAIT.has(lock.kind) || !lock.waiting.some(isOver)) return lock
  return { ...lock, waiting: lock.waiting.filter((waiter) => !isOver(waiter)) }
}

/** The locks without the places that nobody keeps any more. `now`: the server's time. */
export const withoutOverdue = (locks: readonly ListedLock[], now: number): readonly ListedLock[] =>
  locks.flatMap((lock) => {
    const left = current(lock, now)
    return left !== lock && left.holders.length + left.waiting.length === 0 ? [] : [left]
  })
