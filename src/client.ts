import { keyEncoder } from './codecs/java-codec.js'
import type { Settings } from './config/settings.js'
import { type ServerFacts, readFacts, refused } from './core/server/server-facts.js'
import { GatedLock, type LockHome } from './core/gate/gated-lock.js'
import { healthOf } from './core/client/health.js'
import { within } from './base/time-limit.js'
import { newClientId } from './core/client/client-id.js'
import { UnitOfWork } from './base/owner.js'
import { Presence } from './core/client/presence.js'
import { Runtime } from './core/client/runtime.js'
import { readTicket } from './core/hold/ticket.js'
import type { Driver } from './engine/engine.js'
import type { Attempt } from './engine/attempt.js'
import { ClosedError, LockLostError } from './errors.js'
import { presenceKey } from './keys.js'
import {
  OPTIONS,
  checkClose,
  checkFair,
  checkKeys,
  checkLabel,
  checkListener,
  checkName,
  checkNoMore,
  checkOptions,
} from './options.js'
import { fairLock } from './sync/fair-lock/fair-lock.js'
import { fencedLock, NumberedLock } from './sync/fenced-lock/fenced-lock.js'
import { keyedLock, keyedLockOf } from './sync/keyed-lock/keyed-lock.js'
import { Latch } from './sync/latch/latch.js'
import { spinLock } from './sync/spin-lock/spin-lock.js'
import { plainLock } from './sync/lock/lock.js'
import { MultiLock as LockOfAll } from './sync/multi-lock/multi-lock.js'
import { nonReentrantFairLock } from './sync/non-reentrant-fair-lock/non-reentrant-fair-lock.js'
import { nonReentrantLock } from './sync/non-reentrant-lock/non-reentrant-lock.js'
import { fairReadLock, fairWriteLock, readLock, writeLock } from './sync/read-write-lock/read-write-lock.js'
import { RedLock as LockOfMost } from './sync/red-lock/red-lock.js'
import { ExpirablePermits } from './sync/permit-semaphore/permit-semaphore.js'
import { WindowLimiter } from './sync/rate-limiter/rate-limiter.js'
import { CountedSemaphore } from './sync/semaphore/semaphore.js'
import { ClaimedSlots, type SlotsHome } from './sync/slots/slots.js'
import { Scripting, UserScript } from './sync/script/script.js'
import { ServerScripts } from './sync/script/scripts.js'
import { MatchingTopic, NamedTopic } from './sync/topic/topic.js'
import { type ElectionHome, LockElection } from './sync/election/election.js'
import { Topics } from './sync/topic/topics.js'
import type { Slots, SlotsOptions } from './slot-types.js'
import type { Script, ScriptOptions, Scripts } from './script-types.js'
import type { Election } from './election-types.js'
import type { PatternTopic, PatternTopicOptions, Topic, TopicOptions } from './topic-types.js'
import type { PermitSemaphore, Semaphore } from './permit-types.js'
import type {
  ClientEvents,
  ClientListener,
  CountDownLatch,
  FencedLock,
  Health,
  Hold,
  Lock,
  MultiLock,
  Owner,
  RateLimiter,
  ReadWriteLock,
  SpinBackoff,
} from './types.js'
import type { LockKind } from './core/gate/lock-kind.js'
import { Gates } from './core/gate/gates.js'
import { Turnstiles } from './core/shared/turnstiles.js'
import { POLL } from './core/protocol/timing.js'

/** How often closing looks whether what is held was given back, ms. */
const LOOK = 20

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

/** How a spin lock waits. */
export interface SpinLockOptions {
  /** The pauses between two tries. */
  readonly backoff?: SpinBackoff | undefined
}

/** Which read-write lock it is. */
export interface ReadWriteLockOptions {
  /** First come, first served among all processes that say so, too; readers who stand next to one another come in together. */
  readonly fair?: boolean | undefined
}

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

/** Kinds whose holds can be detached and adopted, by the name in the ticket. */
const KINDS: readonly LockKind[] = [
  ...[plainLock, nonReentrantLock, fairLock, nonReentrantFairLock, fencedLock, spinLock()],
  ...[readLock, writeLock, fairReadLock, fairWriteLock],
]

/** An event that tells nothing calls its listeners without an argument, which is `undefined` to them. */
const told = <E extends keyof ClientEvents>(listener: ClientListener<E>) =>
  listener as unknown as (...args: ClientEvents[E]) => void

class ConnectedClient implements Client {
  readonly id: string
  readonly warnings: readonly string[]
  readonly scripts: Scripts
  /** What else is unsafe once fenced locks are used. */
  #fencing: readonly string[]
  readonly #runtime: Runtime
  readonly #gates: Gates
  readonly #turnstiles: Turnstiles
  readonly #home: LockHome
  readonly #presence: Presence | undefined
  readonly #scripting: Scripting
  readonly #topics: Topics
  readonly #elections: ElectionHome
  readonly #slots: SlotsHome
  readonly #encodeKey: (key: string) => string | Uint8Array
  readonly #ending = new AbortController()
  /** When draining is over, on the monotonic clock. */
  #drainsUntil = Infinity
  #closed: Promise<void> | undefined

  constructor(runtime: Runtime, facts: ServerFacts, presence: Presence | undefined) {
    const { id, mapName } = runtime.options
    this.id = id
    this.warnings = runtime.warnings
    this.#fencing = facts.fencing
    this.#runtime = runtime
    this.#presence = presence
    this.#scripting = new Scripting(runtime)
    this.scripts = new ServerScripts(this.#scripting)
    this.#topics = new Topics(runtime)
    this.#encodeKey = keyEncoder(runtime.options.codec, runtime.options.javaCodec)
    this.#gates = new Gates(runtime)
    this.#turnstiles = new Turnstiles(runtime)
    this.#home = { runtime, gates: this.#gates, readLabels: (clients) => Presence.read(runtime.link, clients, mapName) }
    this.#elections = { ...this.#home, topics: this.#topics, closing: this.closing, reigns: new Set() }
    this.#slots = { ...this.#home, newest: new Map() }
  }

  lock(name: string, ...more: readonly unknown[]): Lock {
    checkNoMore(more)
    return this.#lock(plainLock, name)
  }

  nonReentrantLock(name: string, ...more: readonly unknown[]): Lock {
    checkNoMore(more)
    return this.#lock(nonReentrantLock, name)
  }

  fairLock(name: string, ...more: readonly unknown[]): Lock {
    checkNoMore(more)
    return this.#lock(fairLock, name)
  }

  nonReentrantFairLock(name: string, ...more: readonly unknown[]): Lock {
    checkNoMore(more)
    return this.#lock(nonReentrantFairLock, name)
  }

  fencedLock(name: string, ...more: readonly unknown[]): FencedLock {
    checkNoMore(more)
    const lock: Lock = this.#fenced(name)
    return lock as FencedLock
  }

  #fenced(name: string): NumberedLock {
    const lock = new NumberedLock(this.#home, fencedLock, checkName(name))
    for (const warning of this.#fencing) this.#runtime.warn(warning)
    this.#fencing = []
    return lock
  }

  election<V = unknown>(name: string, ...more: readonly unknown[]): Election<V> {
    checkNoMore(more)
    return new LockElection<V>(this.#elections, this.#fenced(name))
  }

  slots(name: string, options?: SlotsOptions): Slots {
    return new ClaimedSlots(this.#slots, checkName(name), options)
  }

  multiLock(...locks: Lock[]): MultiLock {
    return new LockOfAll(this.#runtime, locks)
  }

  keyedLock(group: string, keys: readonly string[], ...more: readonly unknown[]): Lock {
    checkNoMore(more)
    return this.#lock(keyedLock(checkKeys(keys), this.#encodeKey), checkName(group, 'group name'))
  }

  redLock(...locks: Lock[]): MultiLock {
    return new LockOfMost(this.#runtime, locks)
  }

  semaphore(name: string, ...more: readonly unknown[]): Semaphore {
    checkNoMore(more)
    return new CountedSemaphore(this.#turnstiles, checkName(name))
  }

  permitSemaphore(name: string, ...more: readonly unknown[]): PermitSemaphore {
    checkNoMore(more)
    return new ExpirablePermits(this.#turnstiles, checkName(name))
  }

  countDownLatch(name: string, ...more: readonly unknown[]): CountDownLatch {
    checkNoMore(more)
    return new Latch(this.#turnstiles, checkName(name))
  }

  rateLimiter(name: string, ...more: readonly unknown[]): RateLimiter {
    checkNoMore(more)
    return new WindowLimiter(this.#turnstiles, checkName(name))
  }

  script(lua: string, options?: ScriptOptions): Script {
    return new UserScript(this.#scripting, lua, options)
  }

  topic<M = unknown>(name: string, options?: TopicOptions): Topic<M> {
    return new NamedTopic(this.#topics, name, options)
  }

  patternTopic<M = unknown>(pattern: string, options?: PatternTopicOptions): PatternTopic<M> {
    return new MatchingTopic(this.#topics, pattern, options)
  }

  spinLock(name: string, options?: SpinLockOptions): Lock {
    return this.#lock(spinLock(checkOptions(options, OPTIONS.spinLock).backoff), name)
  }

  readWriteLock(name: string, options?: ReadWriteLockOptions): ReadWriteLock {
    const [read, write] = checkFair(options) ? [fairReadLock, fairWriteLock] : [readLock, writeLock]
    return { read: this.#lock(read, name), write: this.#lock(write, name) }
  }

  #lock(kind: LockKind, name: string): GatedLock {
    return new GatedLock(this.#home, kind, checkName(name))
  }

  owner(label?: string): Owner {
    if (label !== undefined) checkLabel(label)
    return new UnitOfWork(label)
  }

  async adopt(ticket: string): Promise<Hold> {
    const content = readTicket(ticket)
    const kind = KINDS.find(({ name }) => name === content?.kind) ?? keyedLockOf(content?.kind ?? '', this.#encodeKey)
    if (content === undefined || kind === undefined)
      throw new TypeError('ticket must be the text that hold.detach() gave')
    if (this.#runtime.closed) throw new ClosedError(content.name)
    const gate = this.#gates.at(kind, content.name, this.#runtime.keyOf(content.name))
    const terms = content.watched ? this.#runtime.watched : { lease: content.lease, watched: false }
    const hold = await gate.adopt(content.wire, new UnitOfWork(), terms)
    if (hold === undefined) throw new LockLostError(content.name, 'it was adopted already, or its lease ran out')
    return hold
  }

  on<E extends keyof ClientEvents>(event: E, listener: ClientListener<E>): this {
    checkListener(event, listener)
    this.#runtime.events.on(event, told(listener))
    return this
  }

  off<E extends keyof ClientEvents>(event: E, listener: ClientListener<E>): this {
    this.#runtime.events.off(event, told(listener))
    return this
  }

  close(options?: CloseOptions): Promise<void> {
    try {
      checkClose(options)
    } catch (error) {
      return Promise.reject(error)
    }
    const { release = true, drain = 0 } = options ?? {}
    const until = this.#runtime.options.clock.monotonic() + drain
    this.#drainsUntil = Math.min(this.#drainsUntil, until)
    return (this.#closed ??= this.#close(release))
  }

  get closing(): AbortSignal {
    return this.#ending.signal
  }

  health(): Promise<Health> {
    return this.#runtime.untilClosed(() => healthOf(this.#runtime, () => this.#held, this.#elections.reigns))
  }

  async #close(release: boolean): Promise<void> {
    const runtime = this.#runtime
    const { clock, commandTimeout } = runtime.options
    this.#ending.abort(new ClosedError())
    const left = (): number => this.#drainsUntil - clock.monotonic()
    if (left() > 0) this.#drain()
    while (left() > 0 && (runtime.busy || this.#turnstiles.holds)) await runtime.cleanup.pause(Math.min(LOOK, left()))
    const patience = Math.max(left(), commandTimeout + POLL)
    runtime.end(clock.monotonic() + patience)
    const gone = this.#giveBack(release)
    await within(clock, patience, gone)
    runtime.watchdog.stop()
    const last = Promise.all([runtime.steps.flush(), runtime.subscriptions.stop(), this.#presence?.end()])
    await within(clock, Math.max(LOOK, runtime.cleanup.endsAt - clock.monotonic()), last)
    await runtime.link.close()
    // What nobody has answered is over now, and is told before this is.
    runtime.cleanup.hurry()
    await within(clock, LOOK, gone)
    runtime.releases.stop()
  }

  /** Whoever waits is turned away. */
  #drain(): void {
    this.#runtime.draining = true
    for (const gate of this.#gates.all) gate.turnAway()
    this.#turnstiles.turnAway()
  }

  get #held(): number {
    return this.#gates.all.reduce((sum, gate) => sum + gate.held, this.#turnstiles.held)
  }

  async #giveBack(release: boolean): Promise<void> {
    const runtime = this.#runtime
    this.#topics.close()
    await Promise.all([...this.#gates.all.map((gate) => gate.close(release)), this.#turnstiles.close(release)])
    await runtime.cleanup.settled()
    await runtime.steps.flush()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

/** A client on this driver, whatever place the settings name. */
export const start = async (settings: Settings, driver: Driver, attempt?: Attempt): Promise<Client> => {
  const { clock, redisson } = settings
  const id = newClientId(clock, redisson)
  // Not where it connects to: what can be reached from a lock must not hold the password.
  const { place: _place, tls: _tls, retry: _retry, ...shared } = settings
  const runtime = new Runtime({ id, ...shared }, driver)
  const { link } = runtime
  const label = settings.label ?? (await defaultLabel())
  // It asks the user's function: before anything is open.
  const presence = settings.presence
    ? new Presence(link, { clock, id, label, key: runtime.keyOf(presenceKey(id)), lease: settings.watchdog })
    : undefined
  await link.open(attempt)
  const [facts] = await Promise.all([readFacts(link, clock, settings.sharded), presence?.announce()])
  runtime.sharded = facts.sharded
  const untold = await runtime.replicas.begin(facts.replicas)
  for (const warning of [...settings.warnings, ...facts.warnings]) runtime.warn(warning)
  if (untold !== undefined) runtime.warn(refused(['CLUSTER', 'SLOTS'], untold, 'no replicas are waited for'))
  return new ConnectedClient(runtime, facts, presence)
}

const defaultLabel = async (): Promise<string> => {
  const { hostname } = await import('node:os')
  return `${hostname()}:${process.pid}`
}
