import { ClosedError, DeadlockError, EngineError } from '../errors.js'
import type { Codec } from '../codecs/codec.js'
import type { JavaCodec } from '../codecs/java-codec.js'
import type { Driver } from '../engine/engine.js'
import { Link } from '../engine/link.js'
import { slotOf, wireOwner } from '../keys.js'
import type { Script } from '../lua/script.js'
import { checkWire, isPromise, show } from '../options.js'
import type { ClientEvents, Logger } from '../types.js'
import type { Timer } from './clock.js'
import { POLL } from './contender.js'
import { Counting } from './counting.js'
import { Teller } from './diagnostics.js'
import { Emitter } from './emitter.js'
import { Gate } from './gate.js'
import type { Gatekeeper } from './gatekeeper.js'
import { Limit } from './limit.js'
import type { UnitOfWork } from './owner.js'
import { areStrangers, type Fleet, type LockKind, type LockProtocol, NOT_HELD, type Runner } from './protocol.js'
import { Replicas, type ReplicasOptions } from './replicas.js'
import type { Patience } from './request.js'
import { Requests } from './requests.js'
import { enclosing } from './scope.js'
import { Secrets } from './secrets.js'
import { ServerTime } from './server-time.js'
import type { Tenure } from './tenure.js'
import type { Terms } from './terms.js'
import { isWrongKind, mayHaveRun } from './trouble.js'
import { Turnstiles } from './turnstiles.js'
import { Wakeups } from './wakeups.js'
import { Watchdog } from './watchdog.js'

export interface RuntimeOptions extends Fleet, ReplicasOptions {
  readonly id: string
  readonly logger: Logger
  readonly connectTimeout: number
  readonly commandTimeout: number
  readonly maxWaiters: number
  readonly mapName: (name: string) => string
  readonly codec: Codec
  readonly javaCodec?: JavaCodec | undefined
}

/** So long after the last sign that keys move it is over, ms. */
const SETTLES = 250

/** How long an undo is tried that nobody answers, ms. */
export const UNDO_TIME = 60_000

/** What one client's locks share: its connection, its watchdog, its subscriptions, its gates. */
export class Runtime implements Runner {
  readonly options: RuntimeOptions
  readonly link: Link
  readonly replicas: Replicas
  readonly wakeups: Wakeups
  readonly watchdog: Watchdog
  readonly events: Emitter<ClientEvents>
  readonly teller: Teller
  readonly requests = new Requests(this)
  readonly turnstiles = new Turnstiles(this)
  /** By key; where locks of several families are in use on one, by family as well. */
  readonly #gates = new Map<string, Gatekeeper | Map<string, Gatekeeper>>()
  /** By slot where nodes have clocks of their own, else under 0. */
  readonly #serverTimes = new Map<number, ServerTime>()
  /** How much goes on behind the callers' backs that must be over before the connection ends. */
  #background = 0
  #settled: (() => void) | undefined
  /** Pauses that closing cuts short. */
  readonly #pauses = new Set<() => void>()
  #number = 0
  readonly #secrets: Secrets
  /** Wire owners of what was detached, and until when at most it is on the server. */
  readonly #detached = new Map<string, number>()
  /** Calls that wait. */
  waiting = 0
  /** How many works of `using` are under way. */
  working = 0
  /** Nothing new is begun; what is under way may come to its end. */
  draining = false
  closed = false
  /** When closing gives up what it still tries, on the monotonic clock. */
  endsAt = Infinity
  /** Callers to tell when the client closes before they have their answer. */
  readonly #callers = new Set<() => void>()
  /** For how long a caller waits for a release at most; the rest goes on behind. */
  readonly releases: Limit
  /** Whether releases are published with SPUBLISH. */
  sharded = false
  /** What is unsafe about the server. */
  readonly warnings: string[] = []
  readonly counting: Counting
  /** Who else has something that the server must be asked about when it may have become another. */
  readonly questions = new Set<(cause: unknown) => void>()
  #moving: Timer | undefined

  constructor(options: RuntimeOptions, driver: Driver) {
    this.options = options
    const { clock } = options
    this.#secrets = new Secrets(clock)
    this.counting = new Counting(clock, (warning) => {
      this.warn(warning)
    })
    this.watched = { lease: options.watchdog, watched: true }
    this.releases = new Limit(clock, options.commandTimeout + POLL)
    this.events = new Emitter((error) => {
      options.logger.error('a listener threw', error)
    })
    this.teller = new Teller(clock, this.events, options.id)
    this.link = new Link(driver, options, {
      message: (message) => {
        this.wakeups.message(message)
      },
      reconnected: () => {
        this.#reconnected()
      },
      moved: () => {
        this.#moved()
      },
      gap: () => {
        this.#forgetTimes()
        this.wakeups.gap()
      },
      unheard: (kind, name) => {
        this.wakeups.unheard(kind, name)
      },
      error: (error) => {
        this.fail(error)
      },
    })
    this.replicas = new Replicas(this.link, options)
    this.wakeups = new Wakeups(clock, this.link, () => this.sharded)
    this.watchdog = new Watchdog({
      clock,
      runner: this,
      cluster: driver.cluster,
      lease: options.watchdog,
      isUp: () => driver.isUp,
      renewed: (tenure) => {
        tenure.renewed()
      },
    })
  }

  /** The terms of a hold that the watchdog renews. */
  readonly watched: Terms

  warn(warning: string): void {
    this.warnings.push(warning)
    this.options.logger.warn(warning)
  }

  checkOpen(name?: string): void {
    if (this.closed) throw new ClosedError(name)
  }

  /** Of a call that takes something. While the client drains, only what runs inside a `using` may take what it still needs. */
  checkTakes(name: string): void {
    if (this.closed || (this.draining && enclosing(() => true) === undefined)) throw new ClosedError(name)
  }

  /** Nobody waits for an answer once the client is closed. What was asked goes on until the connection ends. */
  untilClosed<T>(ask: () => Promise<T>, name?: string): Promise<T> {
    if (this.closed) return Promise.reject(new ClosedError(name))
    return new Promise<T>((resolve, reject) => {
      const closed = (): void => {
        reject(new ClosedError(name))
      }
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
    return this.wakeups.mayBeCounted(channel)
  }

  get countsAll(): boolean {
    return !this.link.cluster || this.sharded
  }

  get fleet(): Fleet {
    return this.options
  }

  run<K extends readonly string[], A extends readonly (string | number | Uint8Array)[], R>(
    script: Script<K, A, R>,
    keys: K,
    args: A,
  ): Promise<R> {
    return this.link.run(script, keys, args)
  }

  take<K extends readonly string[], A extends readonly (string | number | Uint8Array)[], R>(
    script: Script<K, A, R>,
    keys: K,
    args: A,
    took: (reply: R) => boolean,
  ): Promise<R> {
    return this.replicas.take(script, keys, args, took)
  }

  /** An owner's name on the server: for one tenure, never used again. */
  nextWire(): string {
    return wireOwner(this.options.id, this.#secrets.next(), this.nextNumber())
  }

  /** Never used again by this client. */
  nextNumber(): number {
    return ++this.#number
  }

  gate(kind: LockKind, name: string, key: string): Gatekeeper {
    let gate = this.#gateAt(key, kind.family)
    if (gate === undefined) {
      gate = kind.gate?.(this, name, key) ?? new Gate(this, kind, name, key)
      if (this.link.cluster) mustShareSlot(gate.protocol)
      const there = this.#gates.get(key)
      if (there === undefined) this.#gates.set(key, gate)
      else if (there instanceof Map) there.set(kind.family, gate)
      else this.#gates.set(key, new Map([there, gate].map((one) => [one.kind.family, one])))
    }
    return gate
  }

  #gateAt(key: string, family: string): Gatekeeper | undefined {
    const there = this.#gates.get(key)
    if (there instanceof Map) return there.get(family)
    return there?.kind.family === family ? there : undefined
  }

  /** Nobody needs it any more. */
  retired(gate: Gatekeeper): void {
    const { key } = gate.protocol
    const there = this.#gates.get(key)
    if (there === gate) this.#gates.delete(key)
    else if (there instanceof Map && there.get(gate.kind.family) === gate) {
      there.delete(gate.kind.family)
      if (there.size === 0) this.#gates.delete(key)
    }
  }

  /** The gates of other kinds of lock on this key that exclude this one, but for the other side of the same lock. */
  beside(key: string, kind: LockKind): readonly Gatekeeper[] {
    return this.gatesOn(key).filter((gate) => areStrangers(gate.kind, kind))
  }

  /** The gates in use on this key. */
  gatesOn(key: string): readonly Gatekeeper[] {
    const there = this.#gates.get(key)
    if (there instanceof Map) return [...there.values()]
    return there === undefined ? [] : [there]
  }

  /** Why this owner would wait for itself: it has the key already, as another kind of lock. */
  inVain(key: string, kind: LockKind, name: string, owner: UnitOfWork): DeadlockError | undefined {
    const held = this.beside(key, kind).find((gate) => gate.tenureOf(owner) !== undefined)
    return held && new DeadlockError(name, `its owner holds it already as another kind, ${held.kind.name}`)
  }

  /** Where what has this name is on the server. Asked once for each object: what the user's function says later does not matter. */
  keyOf(name: string): string {
    const key: unknown = this.options.mapName(name)
    if (isPromise(key)) throw new TypeError(`mapName must return a key for ${show(name)}, not a promise`)
    if (typeof key === 'string' && key !== '') return checkWire(key, `what mapName returned for ${show(name)}`)
    throw new TypeError(`mapName must return a key for ${show(name)}, not ${show(key)}`)
  }

  /** What is known of the clock of the server that has this key. */
  serverTime(key: string): ServerTime {
    const slot = this.link.cluster ? slotOf(key) : 0
    let time = this.#serverTimes.get(slot)
    if (time === undefined) this.#serverTimes.set(slot, (time = new ServerTime(this.options.clock)))
    return time
  }

  /** Either connection may lead to another server by now. */
  #forgetTimes(): void {
    for (const time of this.#serverTimes.values()) time.forget()
  }

  /** The gate of a lock that somebody here holds or waits for. */
  gateInUse(kind: LockKind, key: string): Gatekeeper | undefined {
    return this.#gateAt(key, kind.family)
  }

  get gates(): readonly Gatekeeper[] {
    return [...this.#gates.values()].flatMap((there) => (there instanceof Map ? [...there.values()] : [there]))
  }

  /** Holds may be in doubt, and who sleeps may have slept through a release. */
  #reconnected(): void {
    this.#forgetTimes()
    void this.replicas.look()
    this.#question()
    this.wakeups.gap()
    this.events.emit('reconnect')
  }

  /** While slots move, each command may say so: it is asked about the holds now, and once more when that is over. */
  #moved(): void {
    this.#forgetTimes()
    if (this.#moving === undefined) this.#question()
    this.#moving?.cancel()
    this.#moving = this.options.clock.setTimer(
      () => {
        this.#moving = undefined
        this.#question()
      },
      SETTLES,
      { background: true },
    )
  }

  #question(): void {
    const cause = new EngineError('OFFLINE', 'another server may have the keys by now')
    this.watchdog.question(cause)
    for (const ask of this.questions) ask(cause)
  }

  fail(error: unknown): void {
    const known = error instanceof Error ? error : new Error(String(error))
    if (!this.events.emit('error', known)) this.options.logger.error(known.message, known)
  }

  /** Keeps `close` waiting for it; it must not reject. */
  track(work: Promise<unknown>): void {
    this.begun()
    void work.finally(() => {
      this.ended()
    })
  }

  /** Keeps `close` waiting until as much has ended. */
  begun(): void {
    this.#background++
  }

  ended(): void {
    this.#background--
    if (this.#background === 0) this.#settled?.()
  }

  /** A wait is over without what was waited for. Whether the server is to blame. */
  blame(request: Patience, name: string): EngineError | undefined {
    if (request.wait === 0) return undefined
    const away = this.link.away(name)
    request.trouble = away ?? request.trouble ?? this.link.unanswered(0.9 * request.wait, name)
    return away
  }

  /** From now on nothing new is begun. Whoever waits is turned away. */
  drain(): void {
    this.draining = true
    for (const gate of this.gates) gate.turnAway()
    this.turnstiles.turnAway()
  }

  /** Whether anything is held, or a `using` works. */
  get busy(): boolean {
    return this.working > 0 || this.watchdog.tenures.length > 0 || this.turnstiles.holds
  }

  /** Callers hear of it at once. What is given back is tried until `endsAt`. */
  end(endsAt: number): void {
    this.draining = true
    this.closed = true
    this.endsAt = endsAt
    for (const closed of this.#callers) closed()
    this.#callers.clear()
  }

  /** Cuts short what waits for a later time. */
  hurry(): void {
    for (const wake of [...this.#pauses]) wake()
  }

  async settled(): Promise<void> {
    this.hurry()
    while (this.#background > 0) {
      await new Promise<void>((resolve) => {
        this.#settled = resolve
      })
    }
  }

  /** Closing cuts it short. */
  pause(ms: number): Promise<void> {
    return this.closed ? Promise.resolve() : this.#sleep(ms)
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        timer.cancel()
        this.#pauses.delete(wake)
        resolve()
      }
      const timer = this.options.clock.setTimer(wake, ms)
      this.#pauses.add(wake)
    })
  }

  /** Repeats a step until it is answered, behind the caller's back. */
  inBackground(step: () => Promise<unknown>): void {
    this.track(this.insist(step, this.options.clock.monotonic() + UNDO_TIME))
  }

  /** Repeats a step until it is answered, or until `until`. The last error when it never was. */
  async insist<T>(
    step: () => Promise<T>,
    until: number | (() => number),
    failed?: (error: unknown) => void,
  ): Promise<{ answer: T } | { error: unknown }> {
    for (let pause = 20; ; pause = Math.min(2 * pause, 500)) {
      try {
        return { answer: await step() }
      } catch (error) {
        failed?.(error)
        const last = Math.min(typeof until === 'number' ? until : until(), this.endsAt)
        const over = last - this.options.clock.monotonic() <= pause
        if (over || error instanceof ClosedError || isWrongKind(error)) return { error }
        await this.#sleep(pause)
      }
    }
  }

  /**
   * Undoes what an acquire may have left behind. Goes out behind it on the same connection, so that order makes it
   * effective; where the connection was cut in between, it is repeated once when the old one must be gone.
   * Resolves after the first answer.
   */
  undo(protocol: Pick<LockProtocol, 'release'>, wire: string, lease: number, cause: unknown): Promise<void> {
    if (cause instanceof EngineError && !mayHaveRun(cause)) return Promise.resolve()
    if (cause instanceof ClosedError) return Promise.resolve()
    // As long as it may still be done: a server that stands still does it when it goes on.
    const until = this.options.clock.monotonic() + Math.max(lease, UNDO_TIME)
    const first = this.insist(() => protocol.release(wire), until)
    this.track(
      first.then(async (outcome) => {
        if (cause === undefined || ('answer' in outcome && outcome.answer !== NOT_HELD)) return
        // What joins a line is too late by then, too.
        await this.pause(Math.min(2 * this.options.commandTimeout, until - this.options.clock.monotonic()))
        await this.insist(() => protocol.release(wire), until)
      }),
    )
    return first.then(() => undefined)
  }

  /** From now on nothing that comes late may take it back. */
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

/**
 * Redisson puts a name into braces to name the keys and channels beside it. Where the name has braces of its own, some of
 * them may hash to another slot.
 */
export const mustShareSlot = ({ key, channel }: { readonly key: string; readonly channel: string }): void => {
  if (slotOf(key) === slotOf(channel)) return
  throw new RangeError(
    `the name '${key}' cannot be used for this object in a cluster: '${channel}', which belongs to it, hashes to another slot because of the braces in the name`,
  )
}
