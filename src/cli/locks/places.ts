import type { ListedLock, ListedWaiter } from '../../api/listing.js'
import { isOfRedisson } from './signs.js'

/** ms after its deadline from which on a place counts as dead: the clocks of nodes differ. */
const OVER = 5000

/**
 * Whether the process that has this place is silent: then it holds nobody up, and the next client that comes removes it. One of Redisson sleeps in its line, and is
 * not silent because its deadline is over.
 */
export const isSilent = (waiter: ListedWaiter, now: number): boolean =>
  (waiter.deadline ?? Infinity) < now - OVER && !isOfRedisson(waiter)

/** The lock without the places of silent processes. `now`: the server's time. */
export const withoutSilent = (lock: ListedLock, now: number): ListedLock =>
  lock.waiting.some((waiter) => isSilent(waiter, now))
    ? { ...lock, waiting: lock.waiting.filter((waiter) => !isSilent(waiter, now)) }
    : lock

/**
 * Whether a call has waited for it for longer than a second, or may have: only clients that write labels publish since when they wait. A lock that changes hands all
 * the time is not blocked.
 */
export const isBlocked = ({ waiting }: ListedLock, now: number): boolean =>
  waiting.some((waiter) => !isSilent(waiter, now) && (waiter.since !== undefined || waiter.label === undefined))
