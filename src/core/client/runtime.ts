import { AcquireTimeoutError, ClosedError, type EngineError } from '../../errors.js'
import type { Deadlocks } from '../../api/deadlock.js'
import type { Codec } from '../../api/codec.js'
import type { ReleaseMode } from '../../api/hold.js'
import type { JavaCodec } from '../../codecs/java-codec.js'
import type { Driver } from '../../engine/driver.js'
import { Link } from '../../engine/link.js'
import { slotOf, wireOwner } from '../../keys.js'
import { checkWire, show } from '../../check-arguments.js'
import type { ClientEvents, Logger } from '../../api/monitoring.js'
import { SubscriberCounts } from '../server/subscriber-counts.js'
import { LockEvents } from './lock-events.js'
import { NestedWaits } from './nested-waits.js'
import { Emitter } from '../../base/emitter.js'
import { EndsBeingStored } from '../hold/ends-being-stored.js'
import { ReleaseCallerLimit } from '../hold/release-caller-limit.js'
import { Replicas, type ReplicasOptions } from '../server/replicas.js'
import { ExactlyOnceSteps } from '../server/exactly-once-steps.js'
import { enclosing } from '../../base/scope.js'
import { WireSecrets } from './wire-secrets.js'
import { ServerTime } from '../server/server-time.js'
import type { Tenure } from '../hold/tenure.js'
import type { LeaseTerms } from '../hold/lease-terms.js'
import { SharedSubscriptions } from '../server/shared-subscriptions.js'
import { RenewalThreadHandle, type ThreadEvents, type ThreadOpener } from '../hold/renewal-thread-handle.js'
import { Watchdog } from '../hold/watchdog.js'
import type { Fleet } from '../protocol/script-runner.js'
import { BackgroundWork } from '../server/background-work.js'
import { Retry } from '../server/retry-unanswered.js'
import { UnansweredReleases } from '../server/ask-again-after-release.js'
import { UndoAcquire } from '../server/undo-acquire.js'
import { plainMessage } from '../../plain-text.js'
import { errorOf, isPromise, textOf } from '../../thrown.js'
import { explained } from '../../away-or-refusing.js'
import { AfterReconnect } from './after-reconnect.js'

export interface RuntimeOptions extends Fleet, ReplicasOptions {
  readonly id: string
  readonly logger: Logger
  readonly connectTimeout: number
  readonly commandTimeout: number
  readonly maxWaiters: number
  readonly release: ReleaseMode
  readonly deadlocks: Deadlocks
  readonly mapName: (name: string) => string
  readonly codec: Codec
  readonly javaCodec?: JavaCodec | undefined
}

/** A call that has a time limit, and the last trouble that it met. */
interface Tried {
  readonly wait: number
  trouble?: unknown
}

/** What all locks of one client share: the connection, the watchdog, the subscriptions. */
export class Runtime {
  readonly options: RuntimeOptions
  readonly link: Link
  readonly replicas: Replicas
  readonly subscriptions: SharedSubscriptions
  readonly watchdog: Watchdog
  readonly events: Emitter<ClientEvents>
  readonly lockEvents: LockEvents
  readonly background: BackgroundWork
  readonly retry: Retry
  readonly undo: UndoAcquire
  readonly steps = new ExactlyOnceSteps(this)
  /** By slot if nodes have clocks of their own (Cluster), else under 0. */
  readonly serverTimes = new Map<number, ServerTime>()
  #number = 0
  readonly #secrets: WireSecrets
  /** Wire names of detached holds, and until when at most each is on the server. */
  readonly #detached = new Map<string, number>()
  /** How many calls wait. */
  waiting = 0
  /** Those that may hold something while they wait. */
  readonly nested = new NestedWaits()
  /** How many `using` callbacks are running. */
  working = 0
  /** The client starts nothing new; what is running may finish. */
  draining = false
  /** Rejects the callers that still wait for an answer when the client closes. */
  readonly #callers = new Set<() => void>()
  /** How long a caller waits for a release at most; the release itself goes on in the background. */
  readonly releases: ReleaseCallerLimit
  readonly unanswered = new UnansweredReleases(
    (step) => this.releases.within(step, undefined),
    (error) => this.fail(error),
  )
  readonly ends = new EndsBeingStored()
  /** Whether releases are published with SPUBLISH. */
  sharded = false
  /** Which settings of the server are unsafe. */
  readonly warnings: string[] = []
  readonly subscriberCounts: SubscriberCounts
  /** Called when another server may have the keys, so that others can ask how their state stands. */
  readonly questions = new Set<(cause: unknown) => void>()
  /** Called when something is held or waited for, and nothing was before. */
  stirred: () => void = () => undefined
  /** Called when the lock with this key was released by force from here. */
  forced: (key: string) => void = () => undefined

  constructor(options: RuntimeOptions, driver: Driver, opener?: ThreadOpener) {
    this.options = options
    const { clock } = options
    this.background = new BackgroundWork(clock)
    this.retry = new Retry(clock, this.background)
    this.undo = new UndoAcquire(clock, options.commandTimeout, this.background, this.retry)
    this.#secrets = new WireSecrets(clock)
    this.subscriberCounts = new SubscriberCounts(clock, (warning) => this.warn(warning))
    this.watched = { lease: options.watchdog, watched: true }
    this.releases = new ReleaseCallerLimit(clock, options.commandTimeout)
    this.events = new Emitter((error) => options.logger.error('a listener threw', error))
    this.lockEvents = new LockEvents(clock, this.events, options.id)
    const after = new AfterReconnect(this)
    this.link = new Link(driver, options, {
      message: (message) => this.subscriptions.message(message),
      reconnected: () => after.reconnected(),
      moved: () => after.moved(),
      gap: () => after.gap(),
      unheard: (kind, name) => this.subscriptions.unheard(kind, name),
      error: (error) => this.fail(error),
    })
    this.replicas = new Replicas(this.link, options)
    this.subscriptions = new SharedSubscriptions(clock, this.link, () => this.sharded)
    this.watchdog = new Watchdog({
      clock,
      runner: this.link,
      cluster: driver.cluster,
      lease: options.watchdog,
      isUp: () => driver.isUp,
      stirred: () => this.stirred(),
      thread: opener && this.#threadOf(opener),
    })
  }

  /** The terms of a hold that the watchdog renews. */
  readonly watched: LeaseTerms

  #threadOf(opener: ThreadOpener): RenewalThreadHandle {
    const { clock, logger } = this.options
    const log: ThreadEvents['told'] = (level, text) => logger[level](`the thread that renews locks: ${text}`)
    return new RenewalThreadHandle({ clock, opener, log, fail: (error) => this.fail(error) })
  }

  warn(warning: string): void {
    this.warnings.push(plainMessage(warning))
    this.options.logger.warn(warning)
  }

  /** Whether a command is written as soon as it is sent. */
  get writes(): boolean {
    return this.link.isUp
  }

  get closed(): boolean {
    return this.background.closed
  }

  checkOpen(name?: string): void {
    if (this.closed) throw new ClosedError(name)
  }

  /** Called before something is acquired. While the client drains, only code inside a `using` may still acquire what it needs. */
  checkTakes(name: string): void {
    if (this.closed || (this.draining && enclosing(() => true) === undefined)) throw new ClosedError(name)
  }

  /** Rejects as soon as the client closes. The request itself goes on until the connection ends. */
  untilClosed<T>(ask: () => Promise<T>, name?: string): Promise<T> {
    if (this.closed) return Promise.reject(new ClosedError(name))
    return new Promise<T>((resolve, reject) => {
      const closed = (): void => reject(new ClosedError(name))
      this.#callers.add(closed)
      const answered = (): void => {
        this.#callers.delete(closed)
      }
      const asked = ask()
      asked.then(resolve, reject)
      asked.then(answered, answered)
    })
  }

  get publishCommand(): string {
    return this.sharded ? 'SPUBLISH' : 'PUBLISH'
  }

  mayBeCounted(channel: string): boolean {
    return this.subscriptions.mayBeCounted(channel)
  }

  get countsAll(): boolean {
    return !this.link.cluster || this.sharded
  }

  get fleet(): Fleet {
    return this.options
  }

  /** A new wire name: for one tenure, never used again. */
  nextWire(): string {
    return wireOwner(this.options.id, this.#secrets.next(), this.nextNumber())
  }

  /** A number that this client never uses again. */
  nextNumber(): number {
    return ++this.#number
  }

  /** The key of this name on the server. Called once for each object, so it does not matter if the user's `mapName` answers differently later. */
  keyOf(name: string): string {
    const key: unknown = this.options.mapName(name)
    if (isPromise(key)) throw new TypeError(`mapName must return a key for ${show(name)}, not a promise`)
    if (typeof key === 'string' && key !== '') return checkWire(key, `what mapName returned for ${show(name)}`)
    throw new TypeError(`mapName must return a key for ${show(name)}, not ${show(key)}`)
  }

  /** What is known about the clock of the server that has this key. */
  serverTime(key: string): ServerTime {
    const slot = this.link.cluster ? slotOf(key) : 0
    let time = this.serverTimes.get(slot)
    if (time === undefined) this.serverTimes.set(slot, (time = new ServerTime(this.options.clock)))
    return time
  }

  /** That a client has closed is no news once this one has: its calls have rejected with it. */
  fail(error: unknown, what?: string): void {
    if (this.closed && error instanceof ClosedError) return
    const known = what === undefined ? errorOf(error) : explained(error, what)
    if (!this.events.emit('error', known)) this.options.logger.error(textOf(known), known)
  }

  /** Called when a wait timed out. Notes the trouble in the request; returns the error if the server is away now. */
  blame(request: Tried, name: string): EngineError | undefined {
    if (request.wait === 0) return undefined
    const away = this.link.away(name)
    request.trouble = away ?? request.trouble ?? this.link.unanswered(0.9 * request.wait, name)
    return away
  }

  /** What was granted within the wait; otherwise this rejects. */
  async inTime<G>(request: Tried, name: string, asked: Promise<G | undefined>): Promise<G> {
    const granted = await asked
    if (granted !== undefined) return granted
    this.blame(request, name)
    throw new AcquireTimeoutError(name, request.wait, request.trouble)
  }

  /** What was granted, if anything. Without an answer, it is not known whether something is available: so this rejects. */
  async tried<G>(request: Tried, name: string, asked: Promise<G | undefined>): Promise<G | undefined> {
    const granted = await asked
    const away = granted === undefined ? this.blame(request, name) : undefined
    if (away !== undefined) throw away
    return granted
  }

  /** Whether the client holds anything, or a `using` runs. */
  get busy(): boolean {
    return this.working > 0 || this.watchdog.tenures.length > 0
  }

  /** Rejects waiting callers at once. Releases are retried until `endsAt`. */
  end(endsAt: number): void {
    this.draining = true
    this.background.end(endsAt)
    for (const closed of this.#callers) closed()
    this.#callers.clear()
  }

  /** Remembers a detached hold, so that no late clean-up releases it. */
  detached({ wire, lastsUntil }: Tenure): void {
    const now = this.options.clock.monotonic()
    for (const [other, until] of this.#detached) {
      if (until > now) break
      this.#detached.delete(other)
    }
    this.#detached.set(wire, lastsUntil)
  }

  isDetached(wire: string): boolean {
    return this.#detached.has(wire)
  }
}
