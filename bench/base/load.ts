/** The kinds of lock that scenarios ask for; of a semaphore each owner takes one permit. */
export type Kind =
  'lock' | 'fairLock' | 'fencedLock' | 'semaphore' | 'readLock' | 'writeLock' | 'fairWriteLock' | 'limiter'

/** What the processes of one participant do: a closed loop of acquire, hold, release in each caller. */
export interface Load {
  readonly kind: Kind
  readonly engine: 'redis' | 'memory'
  readonly processes: number
  /** In each process, on its one connection. */
  readonly callers: number
  /** All callers of all processes on one lock, or each caller on its own. */
  readonly names: 'one' | 'each'
  /** How many locks there are in place of each of those: a caller goes from one to the next. */
  readonly locks?: number
  /** Whether each caller of a process has a client of its own, as if it were alone in a process. */
  readonly clients?: 'each'
  readonly holdMs: number
  /** How many may be inside at a time; 1 unless said. Of a limiter: how many permits a second. */
  readonly places?: number
  /** Of a read-write lock: what part of the calls reads, in one place each; a write takes all places. */
  readonly reads?: number
  /** The line is too long to be waited out: the processes answer when the time is over, and are killed. */
  readonly endless?: boolean
  /** Whoever polls asks again after so many ms, and all callers of Node begin spread over as many; as often as a timer goes unless said. */
  readonly pollMs?: number
}

/** How long a process may take to start, to end, or to answer beyond the work itself, ms. */
export const PATIENCE = 30_000

/** How long its callers may take for their last turn, unless a slot says otherwise, ms. */
export const PATIENCE_AT_END = 5000

/** A stretch of time in which one participant works and the others rest. */
export interface Slot {
  /** Wall clock, ms. */
  readonly startAt: number
  /** Seconds that do not count, then seconds that do. */
  readonly warm: number
  readonly seconds: number
  /** Instead of what the load says. */
  readonly holdMs?: number
  /**
   * When the time is over, each caller has one turn more; whoever has not had it after so many ms has missed its wake-up, and
   * sleeps for as long as a lease, or for ever.
   */
  readonly patience?: number
}

/** What one process saw in a slot. */
export interface Sample {
  /** Acquired in the counted time. */
  readonly pairs: number
  /** Acquired in all, warm-up and the last ones included. */
  readonly total: number
  /** ms from asking to having, of those that asked in the counted time. */
  readonly waits: Float64Array
  /** The longest wait that was not over when counting began, ms: all of it, or until now where it goes on. */
  readonly longest?: number
  /** When each was inside, from and to, in µs of the machine's monotonic clock; only where processes share a lock. */
  readonly stays: Float64Array
  /** How often a caller came inside when another one of this process was there. */
  readonly crowded: number
  /** Of each caller, in the counted time. */
  readonly visits?: readonly number[]
  /** Sum of the holds, ms. */
  readonly held: number
  /** µs of CPU, user and system. */
  readonly cpu: number
  /** How many callers had not had their last turn when patience was at an end: a wake-up is lost, or the line too slow. */
  readonly asleep?: number
}
