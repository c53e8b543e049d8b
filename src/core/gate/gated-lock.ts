import { DeadlockError } from '../../errors.js'
import { checkOwner, usingArgs } from '../../check-arguments.js'
import type { Owner } from '../../api/hold.js'
import type { AcquireOptions, ForceExtendOptions, ForceReleaseOptions, Lock, LockState } from '../../api/lock.js'
import type { OwnedLock } from '../../api/owned-lock.js'
import type { Gates } from './gates.js'
import type { TenureHold } from '../hold/hold.js'
import { clientsIn, lockStateOf } from './lock-state.js'
import { GatedRedissonNamedLock } from './redisson-named-lock.js'
import { forcedExtension, forcedOwner } from './release-by-force.js'
import { requestOf } from './request-of-options.js'
import type { UnitOfWork } from '../../base/owner.js'
import type { ServerState } from '../protocol/lock-protocol.js'
import type { Request } from '../waiting/acquire-request.js'
import type { KnownLabels } from '../client/presence-label.js'
import type { Reported } from '../client/observed-call.js'
import type { Runtime } from '../client/runtime.js'
import { enclosing, within } from '../../base/scope.js'
import { leftOf } from '../hold/lease-terms.js'
import { whileHeld } from '../hold/using.js'
import { excludeEachOther, type LockKind, type OpenGate, overlap } from './lock-kind.js'
import type { Tenure } from '../hold/tenure.js'

/** Reads the labels of the clients with these ids. */
export type ReadLabels = (clients: readonly string[]) => Promise<KnownLabels>

/** A client as others see it, with its label if it has one. */
export const whoIs = async (readLabels: ReadLabels, client: string): Promise<{ client: string; label?: string }> => {
  const label = (await readLabels([client])).labels.get(client)
  return { client, ...(label !== undefined && { label }) }
}

/** What a lock needs from its client. */
export interface LockHome {
  readonly runtime: Runtime
  readonly gates: Gates
  readonly readLabels: ReadLabels
}

/** The public side of every lock that is acquired through a gate. */
export class GatedLock implements Lock<TenureHold> {
  readonly name: string
  readonly kind: LockKind
  readonly key: string
  readonly #home: LockHome

  /** `key`: given if the lock is part of another object, whose name has been mapped already. */
  constructor(home: LockHome, kind: LockKind, name: string, key = home.runtime.keyOf(name)) {
    this.#home = home
    this.kind = kind
    this.name = name
    this.key = key
  }

  get runtime(): Runtime {
    return this.#home.runtime
  }

  /** What the events of its calls are about. */
  protected get reported(): Reported {
    return this
  }

  acquire(options?: AcquireOptions): Promise<TenureHold> {
    try {
      const request = this.#request(options, Infinity)
      return this.runtime.lockEvents.call(this.reported, request, () => this.#acquire(request))
    } catch (error) {
      return Promise.reject(error)
    }
  }

  #acquire(request: Request): Promise<TenureHold> {
    const asked = this.#ask(request)
    return request.wait === Infinity ? (asked as Promise<TenureHold>) : this.runtime.inTime(request, this.name, asked)
  }

  tryAcquire(options?: AcquireOptions): Promise<TenureHold | undefined> {
    try {
      const request = this.#request(options, 0)
      const tried = () => this.runtime.tried(request, this.name, this.#try(request))
      return this.runtime.lockEvents.call(this.reported, request, tried)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  #try(request: Request): Promise<TenureHold | undefined> {
    if (request.wait > 0) return this.#ask(request)
    return this.runtime.unanswered.ask(this.key, request.signal, () => this.#ask(request))
  }

  #ask(request: Request): Promise<TenureHold | undefined> {
    const { owner, explicit, wait, signal } = request
    if (wait === 0) this.runtime.link.checkUp(this.name)
    const vain = wait === Infinity ? this.inVain(explicit ? owner : undefined, signal, false) : undefined
    if (vain !== undefined) throw vain
    // If the client closes, the gate rejects its waiters; a named owner may ask the server outside the queue, and is rejected here.
    if (!explicit) return this.#gate.acquire(request)
    return this.runtime.untilClosed(() => this.#gate.acquire(request), this.name)
  }

  async using<T>(
    first: AcquireOptions | undefined | ((hold: TenureHold) => Promise<T> | T),
    second?: (hold: TenureHold) => Promise<T> | T,
  ): Promise<T> {
    const [options, work] = usingArgs<AcquireOptions, (hold: TenureHold) => Promise<T> | T>(first, second)
    return this.runtime.lockEvents.using(this, async () => {
      const hold = await this.acquire(options)
      return whileHeld(this.runtime, hold, () => within(this, hold, async () => work(hold)))
    })
  }

  async isLocked(): Promise<boolean> {
    const { holders } = await this.serverState(true)
    return holders.some(({ mode = 'exclusive' }) => mode === (this.kind.mode ?? 'exclusive'))
  }

  async remaining(): Promise<number | undefined> {
    return leftOf((await this.serverState(true)).ttl)
  }

  async inspect(): Promise<LockState> {
    const state = await this.serverState()
    const { labels } = await this.runtime.untilClosed(() => this.#home.readLabels(clientsIn(state)), this.name)
    return lockStateOf(state, labels)
  }

  async forceRelease(options?: ForceReleaseOptions): Promise<boolean> {
    const owner = forcedOwner(options)
    const forced = await this.runtime.untilClosed(() => this.#gate.forceRelease(owner), this.name)
    if (forced) this.runtime.forced(this.key)
    return forced
  }

  async forceExtend(options: ForceExtendOptions): Promise<boolean> {
    const { owner, lease } = forcedExtension(options)
    return this.runtime.untilClosed(() => this.#gate.forceExtend(owner, lease), this.name)
  }

  tenureOf(owner: UnitOfWork): Tenure | undefined {
    return this.gates.inUse(this.kind, this.key)?.tenureOf(owner)
  }

  for(owner: Owner): OwnedLock {
    checkOwner(owner)
    return new GatedRedissonNamedLock(this, owner as UnitOfWork)
  }

  get gates(): Gates {
    return this.#home.gates
  }

  get #gate(): OpenGate {
    return this.gates.at(this.kind, this.name, this.key)
  }

  async serverState(briefly?: boolean, owner?: string): Promise<ServerState> {
    return this.runtime.untilClosed(() => this.#gate.inspect(briefly, owner), this.name)
  }

  /** Inside a `using` of the same lock, or of another kind on the same key, the owner is the one of that `using`. */
  #request(options: AcquireOptions | undefined, wait: number): Request {
    return requestOf(this, options, wait, (lock) => this.isSame(lock) || this.#isOtherKind(lock))
  }

  #isOtherKind(lock: object): boolean {
    return this.meets(lock) && (excludeEachOther(lock.kind, this.kind) || !this.kind.reentrant)
  }

  /** The error if this owner cannot get the lock before the calling code has ended. */
  inVain(owner: UnitOfWork | undefined, signal: AbortSignal | undefined, limited: boolean): DeadlockError | undefined {
    if (!limited) {
      const around = enclosing((lock) => this.#excludes(lock))
      // A signal limits the wait, except that of the enclosing hold: it fires only if that hold is lost.
      const unlimited = signal === undefined || signal === around?.signal
      if (around !== undefined && around.owner !== owner && unlimited)
        return new DeadlockError(this.name, 'the enclosing using() of another owner holds it until this code ends')
    }
    return owner && this.gates.inVain(this.key, this.kind, this.name, owner)
  }

  /** Whether the other lock must be released before this one can be acquired. */
  #excludes(lock: object): boolean {
    if (!this.meets(lock)) return false
    return lock.kind.mode !== 'read' || this.kind.mode !== 'read'
  }

  /** Whether both locks are on one key, or on parts of it that overlap. */
  meets(lock: object): lock is GatedLock {
    if (!(lock instanceof GatedLock) || lock.runtime !== this.runtime) return false
    return lock.key === this.key && overlap(lock.kind, this.kind)
  }

  /** Whether both objects stand for the same lock. The other side of a read-write lock counts as the same. */
  isSame(lock: object): boolean {
    if (!(lock instanceof GatedLock) || lock.runtime !== this.runtime || lock.name !== this.name) return false
    const { kind } = lock
    return (kind.name === this.kind.name && kind.family === this.kind.family) || kind === this.kind.rival
  }
}
