import type { Election } from './election.js'
import type { Hold, Owner } from './hold.js'
import type { CountDownLatch } from './latch.js'
import type { FencedLock, Lock, MultiLock, ReadWriteLock, SpinBackoff } from './lock.js'
import type { ClientEvents, ClientListener, Health } from './monitoring.js'
import type { RateLimiter } from './rate-limiter.js'
import type { Script, ScriptOptions, Scripts } from './script.js'
import type { PermitSemaphore, Semaphore } from './semaphore.js'
import type { Flight, FlightOptions } from './flight.js'
import type { Slots, SlotsOptions } from './slots.js'
import type { PatternTopic, PatternTopicOptions, Topic, TopicOptions } from './topic.js'

/** How a client is closed. */
export interface CloseOptions {
  /**
   * For how many ms at most what is held may still be given back, and the work of a `using` come to its end, before the rest is
   * released. Meanwhile nothing new is taken: calls that wait, and those that come, reject with `ClosedError`. Default 0.
   */
  readonly drain?: number | undefined
  /** `false` leaves what is held to run out by its lease. Default: everything held is released. */
  readonly release?: boolean | undefined
}

/** Which read-write lock it is. */
export interface ReadWriteLockOptions {
  /** First come, first served among all processes that say so, too; readers who stand next to one another come in together. */
  readonly fair?: boolean | undefined
}

/** How a spin lock waits. */
export interface SpinLockOptions {
  /** The pauses between two tries. */
  readonly backoff?: SpinBackoff | undefined
}

/** The oldest Redisson that shares keys with a client. */
export type RedissonVersion = '3.8' | '3.16' | '3.17' | '4'

/** Hands out locks and synchronizers, and renews what is held through them. Made by `connect`. */
export interface Client extends AsyncDisposable {
  /** A UUID; holders are known by it on the server. */
  readonly id: string
  /** Aborts with a `ClosedError` when closing begins, so that loops stop. */
  readonly closing: AbortSignal
  /** What is unsafe about this server, in words; for fenced locks more is said when the first is made. */
  readonly warnings: readonly string[]
  /** A re-entrant lock, Redisson's RLock. */
  lock(name: string): Lock
  /** The same keys, but taking it again is a `DeadlockError`, Redisson's RNonReentrantLock. */
  nonReentrantLock(name: string): Lock
  /** First come, first served among all processes, Redisson's RFairLock. */
  fairLock(name: string): Lock
  /** Its keys, but taking it again is a `DeadlockError`, Redisson's RNonReentrantFairLock. */
  nonReentrantFairLock(name: string): Lock
  /** Many read or one writes, Redisson's RReadWriteLock. A waiting writer is next: present readers finish, and no reader joins. */
  readWriteLock(name: string, options?: ReadWriteLockOptions): ReadWriteLock
  /** One leader at a time among all processes, on the fenced lock of this name: `lead` runs the leader's work, term after term. */
  election<V = unknown>(name: string): Election<V>
  /** What is to happen once for each slot, such as each night, whichever process comes first. */
  slots(name: string, options?: SlotsOptions): Slots
  /** One computation at a time for each key among all processes; the others get its value. */
  flight(name: string, options?: FlightOptions): Flight
  /** A plain lock whose holds carry a number that only grows, for the resource to check; Redisson's RFencedLock. */
  fencedLock(name: string): FencedLock
  /** All of these locks or none, of whatever kinds and clients, in whatever order; Redisson's RMultiLock. */
  multiLock(...locks: Lock[]): MultiLock
  /**
   * All of these keys of a group or none, in one trip; sets that share no key do not exclude one another. Redisson's
   * RedissonFasterMultiLock, where both have the same codec.
   */
  keyedLock(group: string, keys: readonly string[]): Lock
  /**
   * A majority of these locks, each of a server of its own, so that the lock outlives a minority of the servers. Redisson's
   * RedissonRedLock. Read in the guide when not to use it: one good server and a fenced lock are simpler and safer.
   */
  redLock(...locks: Lock[]): MultiLock
  /** Permits without an owner, as in Redisson's RSemaphore. */
  semaphore(name: string): Semaphore
  /** Permits with an id and a lease each, Redisson's RPermitExpirableSemaphore. */
  permitSemaphore(name: string): PermitSemaphore
  /** Opens for all who wait when it has been counted down, Redisson's RCountDownLatch. */
  countDownLatch(name: string): CountDownLatch
  /** So many permits in any interval, Redisson's RRateLimiter. */
  rateLimiter(name: string): RateLimiter
  /**
   * A plain lock without messages, Redisson's spin lock: waiters keep polling. For locks held for a few ms, where
   * subscriptions cost more than that.
   */
  spinLock(name: string, options?: SpinLockOptions): Lock
  /** Lua of your own, as Redisson's RScript runs it: sent by its SHA-1, loaded where the server does not know it. */
  script(lua: string, options?: ScriptOptions): Script
  /** The scripts that the server keeps: load, run, exists, flush, kill. */
  readonly scripts: Scripts
  /** A channel of messages, Redisson's RTopic; `sharded`: its RShardedTopic. */
  topic<M = unknown>(name: string, options?: TopicOptions): Topic<M>
  /** All channels whose names fit a pattern, Redisson's RPatternTopic. */
  patternTopic<M = unknown>(pattern: string, options?: PatternTopicOptions): PatternTopic<M>
  /** A unit of work of its own; what Redisson calls a thread. */
  owner(label?: string): Owner
  /** Takes over a hold that was detached, here or in another process. Rejects with `LockLostError` when it is gone. */
  adopt(ticket: string): Promise<Hold>
  /** Listens to an event, or to any of several. */
  on<E extends keyof ClientEvents>(event: E, listener: ClientListener<E>): this
  /** The listener hears no more of it. */
  off<E extends keyof ClientEvents>(event: E, listener: ClientListener<E>): this
  /** How the connection is, and what this client has. Rejects only when the client is closed. */
  health(): Promise<Health>
  /**
   * Rejects what waits, tells the holders (their signals abort with `ClosedError`), releases what is held, and ends the
   * connections that it opened. What cannot be released is tried again until `drain` is over, and for `commandTimeout` and a
   * second at least; then an `error` event tells what is left. Twice is fine: the shorter `drain` counts.
   */
  close(options?: CloseOptions): Promise<void>
}
