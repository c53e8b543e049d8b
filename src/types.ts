/// <reference lib="esnext.disposable" preserve="true" />

/**
 * The words of this library, and the public shapes.
 *
 * - **owner**: a unit of work. Two owners exclude one another; one owner may take the same lock again.
 * - **hold**: what an owner has got: one level of a lock. It knows how long it can be trusted.
 * - **lease**: how long the server keeps a lock without hearing from its holder.
 * - **watchdog**: renews holds that were taken without a lease of their own, each third of it.
 * - **gate**: where the waiters of one lock in one process queue; only the first contends on the server.
 * - **tenure**: one field in the server's hash: what all levels of a hold, and holds passed on in this process, share.
 *
 * All durations are milliseconds.
 */

/** A unit of work, made by `client.owner()`. Opaque. Unique in the process and valid for every client of it. */
export interface Owner {
  /** Shown in errors. */
  readonly label: string | undefined
}

/** The oldest Redisson that shares keys with a client. */
export type RedissonVersion = '3.8' | '3.16' | '3.17' | '4'

/** Of every call that may wait. */
export interface WaitOptions {
  /** How long to wait. Omitted: for ever (`acquire`, `using`, `wait`), not at all (`tryAcquire`). */
  wait?: number | undefined
  /** Ends the wait with the signal's reason. An already aborted one sends nothing. */
  signal?: AbortSignal | undefined
}

/** How a lock is acquired. */
export interface AcquireOptions extends WaitOptions {
  /** A lease that is not renewed, unless `renew` says so. Omitted: the client's watchdog renews while the hold lives. */
  lease?: number | undefined
  /** The lease is renewed while the hold lives: shorter than the client's for a faster takeover, or longer. Default: where there is no `lease`. */
  renew?: boolean | undefined
  /** Default: a fresh owner, unless this very lock is held by an enclosing `using`: then its owner, which re-enters. */
  owner?: Owner | undefined
}

/** `uncertain`: a renewal failed or is overdue, and the signal has not fired yet. `lost`: for good. */
export type HoldState = 'held' | 'uncertain' | 'lost' | 'released' | 'detached'

/** A lock that was acquired, until it is released or lost. `await using` releases it. */
export interface Hold extends AsyncDisposable {
  /** Of the lock. */
  readonly name: string
  /** The unit of work that holds it. */
  readonly owner: Owner
  /** Computed from the clock when read, so that a blocked event loop cannot lie. */
  readonly state: HoldState
  /** `state === 'lost'` */
  readonly lost: boolean
  /** Aborts with a `LockLostError` when the hold is lost, before the lock can be another's. */
  readonly signal: AbortSignal
  /** Milliseconds that are certain; 0 once lost, released or detached. */
  remaining(): number
  /**
   * The time left becomes `lease` from now (default: as taken), never less than it is. Never takes the lock again.
   * Rejects: `RangeError` on a hold that the watchdog renews, `LockLostError` when lost.
   */
  extend(lease?: number): Promise<void>
  /**
   * `true`: freed, or one level less. `false`: it was lost, or is not this hold's any more (detached, client closed). Never
   * rejects: without an answer it tries on within the time left, then says `false`. Called again: the same promise.
   */
  release(): Promise<boolean>
  /** Gives it a full lease, stops renewing, and returns a ticket for `client.adopt`, in another process too. */
  detach(): Promise<string>
}

/** A hold of a fenced lock. */
export interface FencedHold extends Hold {
  /**
   * Grows with every hold of this lock, whoever has it, and with every further level of one. Write it along with what the lock guards, and
   * let that refuse a smaller one: so who has lost the lock without knowing it does no harm.
   */
  readonly token: bigint
}

/** A lock as the server sees it. */
export interface LockState {
  /** Owners as the server knows them; `client` and `owner` come from others: escape before showing. Secret where tickets are adopted: see `owner`. */
  holders: HolderState[]
  /** Those in the line on the server, in order. */
  waiting: WaiterState[]
  /** Until expiry; `undefined` when free, `Infinity` when somebody removed the expiry. */
  remaining?: number | undefined
  /** Fenced locks only: the newest one, whoever had it. */
  token?: bigint | undefined
}

/** One that holds a lock. */
export interface HolderState {
  /** As the server knows it: `<client>:<number>`. As secret as a ticket wherever tickets are adopted that others send (SECURITY.md). */
  owner: string
  /** The id of its client. */
  client: string
  /** Of its client, where it has one. */
  label?: string | undefined
  /** How often it has taken the lock. */
  count: number
  /** How it holds it. */
  mode: 'exclusive' | 'read' | 'write'
  /** Keyed locks only: which of the keys asked about it holds. */
  keys?: string[] | undefined
}

/** One that waits in a line. */
export interface WaiterState {
  /** As the server knows it: `<client>:<number>`. As secret as a ticket wherever tickets are adopted that others send (SECURITY.md). */
  owner: string
  /** The id of its client. */
  client: string
  /** Of its client, where it has one. */
  label?: string | undefined
  /** Until when it stands there without a word, ms since the epoch. */
  deadline?: number | undefined
  /** Keyed locks only: which of the keys asked about it waits for. */
  keys?: string[] | undefined
}

/** A lock by its name. Making one sends nothing; any number of them with one name are the same lock. */
export interface Lock<H extends Hold = Hold> {
  /** As it was given to the client. */
  readonly name: string
  /**
   * Waits for the lock. Aborting or timing out leaves nothing on the server, also when the lock was on its way already.
   * Rejects: `AcquireTimeoutError`, the signal's reason, `BusyError`, `DeadlockError`, `ReplicationError`, `LockLostError` (the answer
   * came after the lease), `ClosedError`, `EngineError`; of several locks `MembersError`, too.
   */
  acquire(options?: AcquireOptions): Promise<H>
  /** `undefined` when it is not had within `wait` (default 0). An abort still rejects. */
  tryAcquire(options?: AcquireOptions): Promise<H | undefined>
  /**
   * Runs `work` while holding the lock, and releases it whatever happens. Rejects with `LockLostError` when the hold was
   * lost by the time the work ended; the work's own error always comes first.
   */
  using<T>(work: (hold: H) => Promise<T> | T): Promise<T>
  /** The same, with options of `acquire`. */
  using<T>(options: AcquireOptions | undefined, work: (hold: H) => Promise<T> | T): Promise<T>
  /** Whether anybody holds it, as the server sees it. */
  isLocked(): Promise<boolean>
  /** Milliseconds until expiry, as the server sees it; `undefined` when free, `Infinity` when somebody removed the expiry. */
  remaining(): Promise<number | undefined>
  /** The holders, and the waiters where the server knows them. */
  inspect(): Promise<LockState>
  /** Takes the lock from whoever holds it; `false` when it was free. The holder is told at its next renewal. */
  forceRelease(): Promise<boolean>
  /** The same lock in Redisson's vocabulary, for one owner. */
  for(owner: Owner): OwnedLock
}

/** Pauses of a spin lock, ms: from `initial` (1) on, times `multiplier` (2) and a little at random, up to `max` (128); or always `delay`. */
export type SpinBackoff =
  | {
      readonly initial?: number | undefined
      readonly max?: number | undefined
      readonly multiplier?: number | undefined
    }
  | { readonly delay: number }

/** A hold of several locks. */
export interface MultiHold extends Hold {
  /** One for each lock, in their order; of a red-lock, one for each that was acquired. */
  readonly members: readonly Hold[]
}

/** Several locks as one. */
export type MultiLock = Lock<MultiHold>

/** A lock whose holds are numbered: see `FencedHold.token`. */
export interface FencedLock extends Lock<FencedHold> {
  for(owner: Owner): OwnedFencedLock
}

/** Two sides of one lock: many hold `read` at a time while nobody holds `write`. */
export interface ReadWriteLock {
  /** Who writes may read as well, and goes on reading when the write is released. */
  readonly read: Lock
  /** Who only reads cannot wait for it: `DeadlockError`; a try is not had. */
  readonly write: Lock
}

/** Of the calls of an `OwnedLock` that may wait. */
export interface OwnedLockOptions {
  /** Ends the wait with the signal's reason, as an interrupt does in Java. An already aborted one sends nothing. */
  signal?: AbortSignal | undefined
}

/** Redisson's vocabulary, for code that ports from it: an owner is what Redisson calls a thread. */
export interface OwnedLock {
  /** Of the lock. */
  readonly name: string
  /** Whose it is. */
  readonly owner: Owner
  /** `lease` -1 or omitted: the watchdog renews. With a `signal` it is Redisson's `lockInterruptibly`. */
  lock(lease?: number, options?: OwnedLockOptions): Promise<void>
  /** `wait` -1, 0 or omitted: one try. `lease` -1 or omitted: the watchdog renews. */
  tryLock(wait?: number, lease?: number, options?: OwnedLockOptions): Promise<boolean>
  /** Rejects with `NotOwnerError` when this owner does not hold it. */
  unlock(): Promise<void>
  /** Takes it from whoever has it; `false` when it was free. */
  forceUnlock(): Promise<boolean>
  /** Whether anybody holds it. */
  isLocked(): Promise<boolean>
  /** Whether this owner holds it. */
  isHeld(): Promise<boolean>
  /** How often this owner has taken it; 0: not at all. */
  holdCount(): Promise<number>
  /** As Redisson: -2 when free, -1 without expiry. */
  remainTimeToLive(): Promise<number>
}

/** The same for a fenced lock, Redisson's RFencedLock. */
export interface OwnedFencedLock extends OwnedLock {
  /** As `lock`; the fencing token of this hold. */
  lockAndGetToken(lease?: number, options?: OwnedLockOptions): Promise<bigint>
  /** As `tryLock`; `undefined` where that is `false`. */
  tryLockAndGetToken(wait?: number, lease?: number, options?: OwnedLockOptions): Promise<bigint | undefined>
  /** Redisson's `getToken`: the newest token of the lock, whoever got it; `undefined` before the first. */
  token(): Promise<bigint | undefined>
}

/** What is kept on the server until it is deleted, or its expiry is over. */
export interface Kept {
  /** As it was given to the client. */
  readonly name: string
  /** Whether it is on the server. */
  exists(): Promise<boolean>
  /** Milliseconds until it expires; `undefined` when it does not exist, `Infinity` when it never expires. */
  remaining(): Promise<number | undefined>
  /** Deletes it with all its keys. `false`: it was not there. */
  delete(): Promise<boolean>
  /** All its keys go after so many ms. `false`: it is not there. */
  expire(ms: number): Promise<boolean>
  /** It stays. `false`: it had no expiry. */
  clearExpire(): Promise<boolean>
}

/**
 * Opens for all who wait when it has been counted down often enough, Redisson's RCountDownLatch. One that is not set is open.
 * Counting down is done once, also when the answer is lost: it is asked for again.
 */
export interface CountDownLatch extends Kept {
  /** Closes it. `false`: it is closed already, and stays as it is. */
  trySetCount(count: number): Promise<boolean>
  /** One less; how many are left. Nothing happens where it is open. */
  countDown(): Promise<number>
  /** How many are left; 0: it is open. */
  count(): Promise<number>
  /**
   * `true` when it is open; `false` when it is not within `wait`. An abort rejects with the signal's reason. Who waits looks
   * at the count when told: a latch that was open for a moment only and is set anew may go unnoticed.
   */
  wait(options?: WaitOptions): Promise<boolean>
  /** Deletes it, which opens it for all who wait. */
  delete(): Promise<boolean>
}

/** So many permits in each interval, wherever it begins. */
export interface Rate {
  /** How many in each interval. */
  readonly permits: number
  /** ms */
  readonly interval: number
  /** `overall`: of all clients together. `client`: of each. Default `overall`. */
  readonly scope?: 'overall' | 'client' | undefined
  /** The limiter goes when nobody asked it for so many ms; at least the interval. Default: it stays. */
  readonly keepAlive?: number | undefined
}

/** A rate that takes the place of another. */
export interface RateOptions extends Rate {
  /** Permits granted before still count. Default `false`, as in Redisson: all permits of the new rate are available. */
  readonly keepState?: boolean | undefined
}

/** Of one try. */
export interface RateTryOptions extends SemaphoreOptions {
  /** Set first, in the same call, where the limiter has no rate: nobody gets a `NotInitializedError`. */
  rate?: Rate | undefined
  /**
   * What becomes of permits whose answer comes too late, after an abort or not at all. They are given back, which may have to be
   * tried for long; or else they `counts`: nothing more is sent for the call.
   */
  late?: 'counts' | undefined
}

/** What came of a try. */
export interface RateDecision {
  /** Whether the permits were acquired. */
  readonly allowed: boolean
  /** How many permits are left. */
  readonly remaining: number
  /** In how many ms there will be enough, if nobody else takes them; 0 when allowed. */
  readonly retryAfter: number
}

/**
 * No more than so many permits in any interval, Redisson's RRateLimiter: a window that slides, by the server's clock. Calls of
 * one process that wait are served in their order. A step is done once, also when its answer is lost. Before a rate is set all
 * that take, look or give back reject with a `NotInitializedError`, and who wants more than the rate with a `RangeError`.
 */
export interface RateLimiter extends Kept {
  /** Sets the rate. `false`: there is one, and stays as it is. */
  trySetRate(rate: Rate): Promise<boolean>
  /** Sets the rate, whatever it was. */
  setRate(rate: RateOptions): Promise<void>
  /** Sets the rate where one is set. `false`: none is, and nothing changes. */
  updateRate(rate: RateOptions): Promise<boolean>
  /** `undefined`: none is set. */
  rate(): Promise<Rate | undefined>
  /** Waits for the permits. Aborting or timing out leaves nothing taken. Rejects as a semaphore's; it waits for no replicas. */
  acquire(options?: SemaphoreOptions & SetupOptions): Promise<void>
  /** Not allowed when they are not had within `wait` (default 0). An abort still rejects. */
  tryAcquire(options?: RateTryOptions): Promise<RateDecision>
  /** How many permits are left in this moment. */
  available(): Promise<number>
  /** Gives back what was not used: a waiter may get it at once. */
  release(permits?: number): Promise<void>
}

/** How a client is doing. */
export interface Health {
  /** `connecting`: it has never reached its server yet. `away`: the connection is gone, or nothing is answered. */
  readonly state: 'up' | 'connecting' | 'away'
  /** Since when that is so, ms since the epoch. */
  readonly since: number
  /** How long the server has taken just now to answer, ms; `undefined` when it has not. */
  readonly latency?: number | undefined
  /** Calls that wait. */
  readonly waiting: number
  /** Locks and permits that are held. */
  readonly held: number
  /** How many of them are uncertain: a renewal failed or is overdue; and how many leaders' work goes on although their term was lost. */
  readonly overdue: number
  /** Elections that this client leads, until the work of the term has settled. */
  readonly leading: number
}

/** Where a client writes what nobody listens to. */
export interface Logger {
  /** What helps to follow it. */
  debug(message: string, details?: unknown): void
  /** What goes as it should. */
  info(message: string, details?: unknown): void
  /** What should be looked at. */
  warn(message: string, details?: unknown): void
  /** What went wrong. */
  error(message: string, details?: unknown): void
}

/** What a client tells. An `error` that nobody listens to goes to the logger; it is never thrown. */
export interface ClientEvents {
  /** Something went wrong in the background. */
  error: [error: Error]
  /** A hold may be lost: a renewal failed or is overdue. `owner` is as secret as that of a `HolderState`. */
  uncertain: [hold: { readonly name: string; readonly owner: string; readonly cause: unknown }]
  /** A hold was lost. `owner` is as secret as that of a `HolderState`. */
  lost: [hold: { readonly name: string; readonly owner: string; readonly error: Error }]
  /** The connection came back. */
  reconnect: []
}

/** Listens to one event, or to any of several: what is told of none is `undefined`. */
export type ClientListener<E extends keyof ClientEvents> = (
  ...args: ClientEvents[E] extends infer A extends unknown[] ? (A extends [] ? [nothing: undefined] : A) : never
) => void

/** Of a call that waits for permits, which somebody must have set. */
export interface SetupOptions {
  /**
   * Where no permits are set, or no rate, it waits until somebody sets them instead of rejecting with a `NotInitializedError`;
   * and for more permits with an id than there are in all, until somebody adds some. Default false.
   */
  waitForSetup?: boolean | undefined
}

/** How permits are acquired. */
export interface SemaphoreOptions extends WaitOptions {
  /** How many, all or none; default 1. 0 are granted at once. */
  permits?: number | undefined
}
