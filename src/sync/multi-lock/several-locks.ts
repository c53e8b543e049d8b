import type { AcquireOptions, ForceExtendOptions, ForceReleaseOptions, Lock, LockState } from '../../api/lock.js'
import type { MultiHold, Owner } from '../../api/hold.js'
import type { OwnedLock } from '../../api/owned-lock.js'
import { UnitOfWork } from '../../base/owner.js'
import { enclosing, within } from '../../base/scope.js'
import type { Runtime } from '../../core/client/runtime.js'
import { GatedLock } from '../../core/gate/gated-lock.js'
import { forcedExtension, forcedOwner } from '../../core/gate/release-by-force.js'
import { whileHeld } from '../../core/hold/using.js'
import type { Patience } from '../../core/waiting/acquire-request.js'
import { AcquireTimeoutError, type DeadlockError } from '../../errors.js'
import { checkAcquire, checkMethods, checkOwner, usingArgs } from '../../check-arguments.js'
import { SHOWN } from '../../core/protocol/lock-protocol.js'
import { errorOf, outcomes, tooFewWithout } from './member-outcomes.js'
import { RedissonNamedLocks } from './redisson-named-locks.js'
import { type Missed, type Rounds, type Wanted, inRounds } from './retry-rounds.js'
import { RoundSteps } from './round-steps.js'
import { SeveralHolds } from './several-holds.js'
import { quoted } from '../../plain-text.js'

/** Several locks as one, of any kinds and clients. The subclass defines how many it needs, and how a round tries them. */
export abstract class SeveralLocks extends RoundSteps implements Lock<MultiHold>, Rounds {
  readonly name: string
  readonly members: readonly Lock[]
  readonly runtime: Runtime

  constructor(runtime: Runtime, members: readonly Lock[]) {
    super()
    if (members.length === 0) throw new RangeError('locks must contain at least one lock')
    members.forEach((member, index) =>
      checkMethods(member, `locks[${index}]`, ['tryAcquire', 'inspect', 'forceRelease', 'for']),
    )
    mustDiffer(members)
    this.runtime = runtime
    this.members = members
    this.name = members.map(({ name }) => name).join(', ')
  }

  /** As its client's method is called. */
  abstract readonly kind: { readonly name: string }

  waits(_wanted: Wanted): () => void {
    // A call that waits for a member is counted by that member.
    return () => undefined
  }

  /** Why this owner cannot acquire enough members before this very code has ended. */
  inVain(owner: UnitOfWork | undefined, signal: AbortSignal | undefined, limited: boolean): DeadlockError | undefined {
    const vain = this.members.map((member) => blocked(member)?.inVain(owner, signal, limited))
    const first = vain.find((error) => error !== undefined)
    const open = vain.filter((error) => error === undefined).length
    return first !== undefined && open < this.needed ? first : undefined
  }

  abstract attempt(wanted: Wanted, last: Missed | undefined): Promise<SeveralHolds | Missed>

  async acquire(options?: AcquireOptions): Promise<SeveralHolds> {
    const wanted = this.#wanted(options, Infinity)
    return this.runtime.lockEvents.call(this, wanted, () => this.#acquire(wanted))
  }

  async #acquire(wanted: Wanted): Promise<SeveralHolds> {
    const had = await inRounds(this, wanted)
    if (had instanceof SeveralHolds) return had
    const { failures } = had
    const patience: Patience = { wait: wanted.wait, signal: undefined }
    for (const runtime of new Set(this.members.flatMap(runtimesOf))) runtime.blame(patience, this.name)
    const cause = failures.length > 0 ? errorOf(this.name, failures) : patience.trouble
    throw new AcquireTimeoutError(this.name, wanted.wait, cause)
  }

  async tryAcquire(options?: AcquireOptions): Promise<SeveralHolds | undefined> {
    const wanted = this.#wanted(options, 0)
    return this.runtime.lockEvents.call(this, wanted, () => this.#try(wanted))
  }

  async #try(wanted: Wanted): Promise<SeveralHolds | undefined> {
    const had = await inRounds(this, wanted)
    if (had instanceof SeveralHolds) return had
    const { failures, cut } = had
    // If the wait is shorter than an answer may take, silence means nothing.
    if (wanted.wait > 0 && cut !== true && tooFewWithout(this, failures)) throw errorOf(this.name, failures)
    return undefined
  }

  async using<T>(
    first: AcquireOptions | undefined | ((hold: MultiHold) => Promise<T> | T),
    second?: (hold: MultiHold) => Promise<T> | T,
  ): Promise<T> {
    const [options, work] = usingArgs<AcquireOptions, (hold: MultiHold) => Promise<T> | T>(first, second)
    return this.runtime.lockEvents.using(this, async () => this.#use(await this.acquire(options), work))
  }

  #use<T>(hold: SeveralHolds, work: (hold: MultiHold) => Promise<T> | T): Promise<T> {
    // Code inside that acquires a member re-enters it, too.
    const inside = this.members.reduceRight<() => Promise<T>>(
      (inner, member, index) => () => within(member, hold.scope(index), inner),
      async () => work(hold),
    )
    return whileHeld(this.runtime, hold, () => within(this, hold, inside))
  }

  /** Whether an attempt would fail now. */
  async isLocked(): Promise<boolean> {
    const taken = await this.each((member) => member.isLocked())
    return taken.filter((one) => !one).length < this.needed
  }

  /** How long until it could be acquired, ms. */
  async remaining(): Promise<number | undefined> {
    return this.#untilFree(await this.each((member) => member.remaining()))
  }

  /** The holders and waiters of all members, in their order. */
  async inspect(): Promise<LockState> {
    const states = await this.each((member) => member.inspect())
    const remaining = this.#untilFree(states.map((state) => state.remaining))
    const holders = states.flatMap((state) => state.holders)
    const waiting = states.flatMap((state) => state.waiting)
    const more = holders.length > SHOWN || waiting.length > SHOWN || states.some((state) => state.more === true)
    return {
      holders: holders.slice(0, SHOWN),
      waiting: waiting.slice(0, SHOWN),
      ...(more && { more: true }),
      ...(remaining !== undefined && { remaining }),
    }
  }

  #untilFree(left: readonly (number | undefined)[]): number | undefined {
    const sorted = left.map((ms) => ms ?? 0).sort((one, other) => one - other)
    // When this member is free, as many as needed are free.
    const last = sorted[this.needed - 1] ?? 0
    return last === 0 ? undefined : last
  }

  /** Releases every member by force, or only those that this owner holds. */
  async forceRelease(options?: ForceReleaseOptions): Promise<boolean> {
    forcedOwner(options)
    return (await this.each((member) => member.forceRelease(options))).includes(true)
  }

  /** Extends what this owner holds of the members. */
  async forceExtend(options: ForceExtendOptions): Promise<boolean> {
    forcedExtension(options)
    return (await this.each((member) => member.forceExtend(options))).includes(true)
  }

  for(owner: Owner): OwnedLock {
    checkOwner(owner)
    return new RedissonNamedLocks(this, owner as UnitOfWork)
  }

  /** The results of the members that answered, if there are enough. */
  each<T>(step: (member: Lock) => Promise<T>): Promise<T[]> {
    return outcomes(this, step)
  }

  /** Whether it has the same locks in the same order, even as other objects. */
  isSame(lock: object): boolean {
    if (!(lock instanceof SeveralLocks) || lock.constructor !== this.constructor) return false
    return (
      lock.members.length === this.members.length &&
      lock.members.every((member, index) => areSame(member, this.members[index] as Lock))
    )
  }

  #wanted(options: AcquireOptions | undefined, wait: number): Wanted {
    const checked = checkAcquire(options)
    this.runtime.checkTakes(this.name)
    checked.signal?.throwIfAborted()
    const owner = (checked.owner as UnitOfWork | undefined) ?? enclosing((lock) => this.isSame(lock))?.owner
    const since = this.clock.monotonic()
    return { ...checked, owner: owner ?? new UnitOfWork(), wait: checked.wait ?? wait, since }
  }
}

const areSame = (one: object, other: object): boolean => {
  if (one === other) return true
  if (one instanceof GatedLock) return one.isSame(other)
  return one instanceof SeveralLocks && one.isSame(other)
}

const leavesOf = (lock: Lock): Lock[] => (lock instanceof SeveralLocks ? lock.members.flatMap(leavesOf) : [lock])

/** Two members that exclude each other could never be held together. */
const mustDiffer = (members: readonly Lock[]): void => {
  const leaves = members.map(leavesOf)
  leaves.forEach((mine, index) => {
    for (let other = 0; other < index; other++) {
      const met = mine.find((lock) => leaves[other]?.some((one) => one === lock || meets(one, lock)))
      if (met === undefined) continue
      const place = `locks[${other}] and locks[${index}]`
      throw new TypeError(`${place} are the same lock, ${quoted(met.name)}: pass each lock once`)
    }
  })
}

/** The clients that these locks belong to. */
const runtimesOf = (lock: Lock): Runtime[] => {
  if (lock instanceof GatedLock) return [lock.runtime]
  return lock instanceof SeveralLocks ? lock.members.flatMap(runtimesOf) : []
}

/** Only holdfast's locks know who they wait for. */
const blocked = (lock: Lock): GatedLock | SeveralLocks | undefined =>
  lock instanceof GatedLock || lock instanceof SeveralLocks ? lock : undefined

const meets = (one: Lock, other: Lock): boolean => one instanceof GatedLock && one.meets(other)
