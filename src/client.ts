import type { ListedLock, ListOptions } from './api/listing.js'
import type { Client, CloseOptions, ReadWriteLockOptions, SpinLockOptions } from './api/client.js'
import type { Election } from './api/election.js'
import type { Functions } from './api/functions.js'
import type { Hold, Owner } from './api/hold.js'
import type { CountDownLatch } from './api/latch.js'
import type { LockEvents, Watched, WatchOptions } from './api/watching.js'
import type { FencedLock, Lock, MultiLock, ReadWriteLock } from './api/lock.js'
import type { ClientEvents, ClientListener, Health } from './api/monitoring.js'
import type { RateLimiter } from './api/rate-limiter.js'
import type { Script, ScriptOptions, Scripts } from './api/script.js'
import type { PermitSemaphore, Semaphore } from './api/semaphore.js'
import type { Flight, FlightOptions } from './api/flight.js'
import type { Slots, SlotsOptions } from './api/slots.js'
import type { WebLocks } from './api/web-locks.js'
import type { PatternTopic, PatternTopicOptions, Topic, TopicOptions } from './api/topic.js'
import { UnitOfWork } from './base/owner.js'
import { Closing } from './closing.js'
import { keyEncoder } from './codecs/java-codec.js'
import type { Settings } from './config/settings.js'
import { told } from './core/client/lock-events.js'
import { newClientId } from './core/client/client-id.js'
import { healthOf } from './core/client/health.js'
import { defaultLabel, PresenceLabel } from './core/client/presence-label.js'
import { Runtime } from './core/client/runtime.js'
import type { ThreadOpener } from './core/hold/renewal-thread-handle.js'
import { GatedLock, type LockHome } from './core/gate/gated-lock.js'
import { Gates } from './core/gate/gates.js'
import type { LockKind } from './core/gate/lock-kind.js'
import { type ServerFacts, readFacts, refused } from './core/server/server-facts.js'
import { noteForced } from './core/listing/force-note.js'
import { IndexPublisher } from './core/listing/index-publisher.js'
import { Turnstiles } from './core/shared/turnstiles.js'
import type { ConnectLimits } from './engine/connect-limits.js'
import type { Driver } from './engine/driver.js'
import {
  OPTIONS,
  checkFair,
  checkKeys,
  checkLabel,
  checkListener,
  checkName,
  checkNoMore,
  checkOptions,
} from './check-arguments.js'
import { adoptHold } from './sync/adopt-by-ticket.js'
import { DeadlockWatch } from './sync/deadlock/deadlock-watch.js'
import { withProbe } from './probe.js'
import { type ElectionHome, LockElection } from './sync/election/election.js'
import { LeaderLock } from './sync/election/leader-lock.js'
import { fairLock } from './sync/fair-lock/fair-lock.js'
import { NumberedLock, fencedLock } from './sync/fenced-lock/fenced-lock.js'
import { keyedLock } from './sync/keyed-lock/keyed-lock.js'
import { type ListHome, listLocks } from './sync/listing/list.js'
import { watchLocks } from './sync/listing/watch.js'
import { Latch } from './sync/latch/latch.js'
import { plainLock } from './sync/lock/lock.js'
import { MultiLock as LockOfAll } from './sync/multi-lock/multi-lock.js'
import { nonReentrantFairLock } from './sync/non-reentrant-fair-lock/non-reentrant-fair-lock.js'
import { nonReentrantLock } from './sync/non-reentrant-lock/non-reentrant-lock.js'
import { ExpirablePermits } from './sync/permit-semaphore/permit-semaphore.js'
import { WindowLimiter } from './sync/rate-limiter/rate-limiter.js'
import { fairReadLock, fairWriteLock, readLock, writeLock } from './sync/read-write-lock/read-write-lock.js'
import { RedLock as LockOfMost } from './sync/red-lock/red-lock.js'
import { Scripting, UserScript } from './sync/script/user-script.js'
import { ServerFunctions } from './sync/script/server-functions.js'
import { ServerScripts } from './sync/script/server-scripts.js'
import { CountedSemaphore } from './sync/semaphore/semaphore.js'
import { type FlightsHome, SharedFlight } from './sync/flight/flight.js'
import { ClaimedSlots, type SlotsHome } from './sync/slots/slots.js'
import { spinLock } from './sync/spin-lock/spin-lock.js'
import { MatchingTopic, NamedTopic } from './sync/topic/topic.js'
import { Topics } from './sync/topic/topics.js'
import { ServerWebLocks } from './sync/web-locks/web-locks.js'

/** Returns the name, for objects that take no options. */
const onlyName = (name: string, more: readonly unknown[]): string => {
  checkNoMore(more)
  return checkName(name)
}

class ConnectedClient implements Client {
  readonly id: string
  readonly warnings: readonly string[]
  readonly scripts: Scripts
  readonly functions: Functions
  readonly locks: WebLocks
  readonly #runtime: Runtime
  readonly #gates: Gates
  readonly #turnstiles: Turnstiles
  readonly #scripting: Scripting
  readonly #topics: Topics
  readonly #closing: Closing
  readonly #home: ListHome
  readonly #elections: ElectionHome
  readonly #slots: SlotsHome
  readonly #flights: FlightsHome
  /** Further warnings that apply once fenced locks are used. */
  #fencing: readonly string[]

  constructor(runtime: Runtime, facts: ServerFacts, presence: PresenceLabel | undefined) {
    const { id, mapName, codec, javaCodec } = runtime.options
    this.id = id
    this.warnings = runtime.warnings
    this.#runtime = runtime
    this.#gates = new Gates(runtime)
    this.#turnstiles = new Turnstiles(runtime)
    this.#scripting = new Scripting(runtime)
    this.scripts = new ServerScripts(this.#scripting)
    this.functions = new ServerFunctions(this.#scripting)
    this.#topics = new Topics(runtime)
    const parts = { runtime, gates: this.#gates, turnstiles: this.#turnstiles, topics: this.#topics, presence }
    if (presence !== undefined) runtime.forced = (key) => noteForced(runtime, key)
    const readLabels: LockHome['readLabels'] = (clients) => PresenceLabel.read(runtime.link, clients, mapName)
    this.#home = { runtime, gates: this.#gates, readLabels, encodeKey: keyEncoder(codec, javaCodec) }
    this.locks = new ServerWebLocks(this.#home)
    const deadlocks = DeadlockWatch.of(this.#home, presence !== undefined)
    this.#closing = new Closing({ ...parts, publisher: presence && new IndexPublisher(parts, presence), deadlocks })
    this.#elections = { ...this.#home, topics: this.#topics, closing: this.closing, reigns: new Set() }
    this.#slots = { ...this.#home, newest: new Map() }
    this.#flights = { ...this.#home, topics: this.#topics, newest: new Map(), flights: new Map(), looks: new Map() }
    this.#fencing = facts.fencing
  }

  // ---- locks ---------------------------------------------------------------------------------------------------------

  lock(name: string, ...more: readonly unknown[]): Lock {
    return this.#lock(plainLock, onlyName(name, more))
  }

  nonReentrantLock(name: string, ...more: readonly unknown[]): Lock {
    return this.#lock(nonReentrantLock, onlyName(name, more))
  }

  fairLock(name: string, ...more: readonly unknown[]): Lock {
    return this.#lock(fairLock, onlyName(name, more))
  }

  nonReentrantFairLock(name: string, ...more: readonly unknown[]): Lock {
    return this.#lock(nonReentrantFairLock, onlyName(name, more))
  }

  readWriteLock(name: string, options?: ReadWriteLockOptions): ReadWriteLock {
    const [read, write] = checkFair(options) ? [fairReadLock, fairWriteLock] : [readLock, writeLock]
    checkName(name)
    return { read: this.#lock(read, name), write: this.#lock(write, name) }
  }

  fencedLock(name: string, ...more: readonly unknown[]): FencedLock {
    const lock: Lock = this.#fenced(onlyName(name, more))
    return lock as FencedLock
  }

  spinLock(name: string, options?: SpinLockOptions): Lock {
    return this.#lock(spinLock(checkOptions(options, OPTIONS.spinLock).backoff), checkName(name))
  }

  keyedLock(group: string, keys: readonly string[], ...more: readonly unknown[]): Lock {
    checkNoMore(more)
    return this.#lock(keyedLock(checkKeys(keys), this.#home.encodeKey), checkName(group, 'group name'))
  }

  multiLock(...locks: Lock[]): MultiLock {
    return new LockOfAll(this.#runtime, locks)
  }

  redLock(...locks: Lock[]): MultiLock {
    return new LockOfMost(this.#runtime, locks)
  }

  #lock(kind: LockKind, name: string): GatedLock {
    return new GatedLock(this.#home, kind, name)
  }

  #fenced(name: string, Type: typeof NumberedLock = NumberedLock): NumberedLock {
    const lock = new Type(this.#home, fencedLock, name)
    for (const warning of this.#fencing) this.#runtime.warn(warning)
    this.#fencing = []
    return lock
  }

  // ---- for several holders at once -----------------------------------------------------------------------------------

  semaphore(name: string, ...more: readonly unknown[]): Semaphore {
    return new CountedSemaphore(this.#turnstiles, onlyName(name, more))
  }

  permitSemaphore(name: string, ...more: readonly unknown[]): PermitSemaphore {
    return new ExpirablePermits(this.#turnstiles, onlyName(name, more))
  }

  countDownLatch(name: string, ...more: readonly unknown[]): CountDownLatch {
    return new Latch(this.#turnstiles, onlyName(name, more))
  }

  rateLimiter(name: string, ...more: readonly unknown[]): RateLimiter {
    return new WindowLimiter(this.#turnstiles, onlyName(name, more))
  }

  // ---- built from locks, scripts and messages ------------------------------------------------------------------------

  election<V = unknown>(name: string, ...more: readonly unknown[]): Election<V> {
    return new LockElection<V>(this.#elections, this.#fenced(onlyName(name, more), LeaderLock))
  }

  slots(name: string, options?: SlotsOptions): Slots {
    return new ClaimedSlots(this.#slots, checkName(name), options)
  }

  flight(name: string, options?: FlightOptions): Flight {
    return new SharedFlight(this.#flights, checkName(name), options)
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

  // ---- owners and detached holds -------------------------------------------------------------------------------------

  owner(label?: string): Owner {
    if (label !== undefined) checkLabel(label)
    return new UnitOfWork(label)
  }

  adopt(ticket: string): Promise<Hold> {
    return adoptHold(this.#home, ticket)
  }

  list(options?: ListOptions): AsyncIterableIterator<ListedLock> {
    return listLocks(this.#home, options)
  }

  watch(what: string | Watched, options?: WatchOptions): LockEvents {
    return watchLocks(this.#home, what, options)
  }

  // ---- the client itself ---------------------------------------------------------------------------------------------

  on<E extends keyof ClientEvents>(event: E, listener: ClientListener<E>): this {
    checkListener(event, listener)
    this.#runtime.events.on(event, told(listener))
    return this
  }

  off<E extends keyof ClientEvents>(event: E, listener: ClientListener<E>): this {
    this.#runtime.events.off(event, told(listener))
    return this
  }

  health(): Promise<Health> {
    return this.#runtime.untilClosed(() => healthOf(this.#runtime, () => this.#held, this.#elections.reigns))
  }

  get #held(): number {
    return this.#gates.all.reduce((sum, gate) => sum + gate.held, this.#turnstiles.held)
  }

  get closing(): AbortSignal {
    return this.#closing.signal
  }

  close(options?: CloseOptions): Promise<void> {
    return this.#closing.close(options)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

/** Starts a client with this driver, whatever place the settings name. */
export const start = async (
  settings: Settings,
  driver: Driver,
  limits?: ConnectLimits,
  thread?: ThreadOpener,
): Promise<Client> => {
  const { clock, redisson } = settings
  const id = newClientId(clock, redisson)
  // Leaves out where it connects to, because no object reachable from a lock may hold the password.
  const { place: _place, tls: _tls, retry: _retry, ...shared } = settings
  const runtime = new Runtime({ id, ...shared }, driver, thread)
  const { link } = runtime
  const label = settings.label ?? (await defaultLabel())
  // This calls the user's function, so it comes before anything is open.
  const presence = settings.presence
    ? new PresenceLabel(link, { clock, id, label, keyOf: (name) => runtime.keyOf(name), lease: settings.watchdog })
    : undefined
  await link.open(limits)
  const [facts] = await Promise.all([readFacts(link, clock, settings.sharded), presence?.announce()])
  runtime.sharded = facts.sharded
  const untold = await runtime.replicas.begin(facts.replicas)
  for (const warning of [...settings.warnings, ...facts.warnings]) runtime.warn(warning)
  if (untold !== undefined) runtime.warn(refused(['CLUSTER', 'SLOTS'], untold, 'holdfast does not wait for replicas'))
  return withProbe(new ConnectedClient(runtime, facts, presence), runtime, facts)
}
