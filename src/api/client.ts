import type { Election } from './election.js'
import type { Functions } from './functions.js'
import type { Hold, Owner } from './hold.js'
import type { CountDownLatch } from './latch.js'
import type { Listing } from './listing.js'
import type { Watching } from './watching.js'
import type { FencedLock, Lock, MultiLock, ReadWriteLock, SpinBackoff } from './lock.js'
import type { ClientEvents, ClientListener, Health } from './monitoring.js'
import type { RateLimiter } from './rate-limiter.js'
import type { Script, ScriptOptions, Scripts } from './script.js'
import type { PermitSemaphore, Semaphore } from './semaphore.js'
import type { Flight, FlightOptions } from './flight.js'
import type { Slots, SlotsOptions } from './slots.js'
import type { WebLocks } from './web-locks.js'
import type { PatternTopic, PatternTopicOptions, Topic, TopicOptions } from './topic.js'

/** Options of `client.close`. */
export interface CloseOptions {
  /**
   * Lets running work finish first, for at most this many ms: your code may still release what it holds, and the work of a `using` may end. The client then
   * releases the rest. Meanwhile nothing new is acquired, except inside a `using`: waiting calls, and new ones, reject with `ClosedError`. Default 0.
   */
  readonly drain?: number | undefined
  /** `false` lets the leases run out instead of releasing what is held. Default: everything held is released. */
  readonly release?: boolean | undefined
}

/** Options of `client.readWriteLock`. */
export interface ReadWriteLockOptions {
  /** First come, first served, also among all processes that set this. Readers next to one another in the line come in together. Default false. */
  readonly fair?: boolean | undefined
}

/** Options of `client.spinLock`. */
export interface SpinLockOptions {
  /** The pauses between two attempts. Default: those of `SpinBackoff`, from 1 to 128 ms. */
  readonly backoff?: SpinBackoff | undefined
}

/** The oldest version of Redisson that shares keys with a client. */
export type RedissonVersion = '3.8' | '3.16' | '3.17' | '4'

/** Creates locks and synchronizers, and renews what is held through them. `connect` returns one. */
export interface Client extends AsyncDisposable, Listing, Watching {
  /** A UUID. It identifies the client's lock holders on the server. */
  readonly id: string
  /** Aborts with a `ClosedError` when closing begins, so that your loops can stop. */
  readonly closing: AbortSignal
  /** What is unsafe about this server, as text. When you create the first fenced lock, more may be added. */
  readonly warnings: readonly string[]
  /** A re-entrant lock. In Redisson: RLock. */
  lock(name: string): Lock
  /** A lock that is not re-entrant, on the keys of `lock`: acquiring it again is a `DeadlockError`. In Redisson: RNonReentrantLock. */
  nonReentrantLock(name: string): Lock
  /** A re-entrant lock that is granted first come, first served, among all processes. In Redisson: RFairLock. */
  fairLock(name: string): Lock
  /** A fair lock that is not re-entrant, on the keys of `fairLock`: acquiring it again is a `DeadlockError`. In Redisson: RNonReentrantFairLock. */
  nonReentrantFairLock(name: string): Lock
  /** Many readers or one writer. A waiting writer is next: the present readers finish, and no reader joins them. In Redisson: RReadWriteLock. */
  readWriteLock(name: string, options?: ReadWriteLockOptions): ReadWriteLock
  /** One leader at a time among all processes, on the fenced lock with this name. `lead` runs the leader's work, term after term. */
  election<V = unknown>(name: string): Election<V>
  /** Runs work once for each slot, for example once a night, in the process that comes first. */
  slots(name: string, options?: SlotsOptions): Slots
  /** Runs one computation at a time for each key, among all processes. The other callers get its value. */
  flight(name: string, options?: FlightOptions): Flight
  /** A plain lock whose holds carry a number that only grows, for the guarded resource to check. In Redisson: RFencedLock. */
  fencedLock(name: string): FencedLock
  /** Acquires all of these locks or none. They may be of any kind, of several clients, and in any order. In Redisson: RMultiLock. */
  multiLock(...locks: Lock[]): MultiLock
  /**
   * Acquires all of these keys of a group or none, in one trip. Sets that share no key do not exclude one another. In Redisson: RedissonFasterMultiLock; both
   * sides must use the same codec.
   */
  keyedLock(group: string, keys: readonly string[]): Lock
  /**
   * Acquires a majority of these locks, each on a server of its own, so that the lock outlives a minority of the servers. In Redisson: RedissonRedLock.
   * The guide says when not to use it: one good server and a fenced lock are simpler and safer.
   */
  redLock(...locks: Lock[]): MultiLock
  /** Permits without an owner. In Redisson: RSemaphore. */
  semaphore(name: string): Semaphore
  /** Permits with an id and a lease each. In Redisson: RPermitExpirableSemaphore. */
  permitSemaphore(name: string): PermitSemaphore
  /** Lets all waiters through when it has been counted down. In Redisson: RCountDownLatch. */
  countDownLatch(name: string): CountDownLatch
  /** Grants at most a fixed number of permits in any interval. In Redisson: RRateLimiter. */
  rateLimiter(name: string): RateLimiter
  /**
   * A plain lock without messages: its waiters poll. Use it for locks that are held for a few ms, because there subscriptions cost more than that. In Redisson:
   * the spin lock.
   */
  spinLock(name: string, options?: SpinLockOptions): Lock
  /** Your own Lua script. It is called by its SHA-1, and loaded if the server does not know it. In Redisson: RScript. */
  script(lua: string, options?: ScriptOptions): Script
  /** The scripts that the server keeps: load, run, exists, flush, kill. */
  readonly scripts: Scripts
  /** Redis Functions: load, call, list, stats, delete, flush, dump, restore, kill. In Redisson: RFunction. */
  readonly functions: Functions
  /** The Web Locks API, as `navigator.locks`, among all processes. The locks are those of `readWriteLock(name, { fair: true })`. */
  readonly locks: WebLocks
  /** A channel for messages. In Redisson: RTopic, or RShardedTopic with `sharded`. */
  topic<M = unknown>(name: string, options?: TopicOptions): Topic<M>
  /** All channels whose names match a pattern. In Redisson: RPatternTopic. */
  patternTopic<M = unknown>(pattern: string, options?: PatternTopicOptions): PatternTopic<M>
  /** Creates an owner: a unit of work that can hold locks. Redisson calls it a thread. */
  owner(label?: string): Owner
  /** Takes over a hold that was detached, in this process or another. Rejects with `LockLostError` if the hold no longer exists. */
  adopt(ticket: string): Promise<Hold>
  /** Adds a listener to an event, or to any of several. */
  on<E extends keyof ClientEvents>(event: E, listener: ClientListener<E>): this
  /** Removes the listener from the event. */
  off<E extends keyof ClientEvents>(event: E, listener: ClientListener<E>): this
  /** The state of the connection, and how much this client holds and waits for. Rejects only if the client is closed. */
  health(): Promise<Health>
  /**
   * Rejects waiting calls, notifies the lock holders (their signals abort with `ClosedError`), releases what is held, and closes the connections that the
   * client opened. If something cannot be released, the client retries until `drain` is over, and for at least `commandTimeout` plus a second. Then an `error`
   * event says what is left. You may call it twice: the shorter `drain` counts.
   */
  close(options?: CloseOptions): Promise<void>
}
