/** The first is not re-entrant. */
export const LOCKS: readonly string[] = ['orders', 'stock', '{tag}:mail', 'backup', 'bills', 'images']
/** Also the time of the watchdog, ms. */
export const LONGEST_LEASE = 1200
export const PROCESSES = 4
export const WORKERS = 8
/** How long it may take after a trouble until a client is connected and asks again, ms. */
export const RECOVERY = 4000
/** A free lock is had by then by who waits for it and is in no trouble; an attempt of another that nobody heard of may last a lease. */
export const FORGOTTEN_AFTER = 5000
