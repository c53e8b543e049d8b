/** The first is not re-entrant. */
const PLAIN = ['orders', 'stock', '{tag}:mail', 'backup', 'bills', 'images']
/** Their waiters stand in a line on the server; the first of these is not re-entrant either. */
export const FAIR: readonly string[] = ['tickets', '{tag}:seats', 'calls']
export const LOCKS: readonly string[] = [...PLAIN, ...FAIR]
export const isFair = (name: string): boolean => FAIR.includes(name)
export const isReentrant = (name: string): boolean => name !== PLAIN[0] && name !== FAIR[0]
/** How long the server waits for somebody who was granted a fair lock, or was not heard, to show himself, ms. */
export const TRIAL = 3000
/** Also the time of the watchdog, ms. */
export const LONGEST_LEASE = 1200
export const PROCESSES = 4
export const WORKERS = 8
/** How long it may take after a trouble until a client is connected and asks again, ms. */
export const RECOVERY = 4000
/**
 * A free lock has gone by then to a waiter that is in no trouble. One that is stopped, or half cut off, may be granted it first, and
 * so may another; an attempt of yet another that nobody heard of may last a lease.
 */
export const FORGOTTEN_AFTER = 5000 + 2 * TRIAL
