import { UnitOfWork } from '../../core/owner.js'
import { GRACE } from '../../core/request.js'
import type { Runtime } from '../../core/runtime.js'
import { enclosing, within } from '../../core/scope.js'
import { whileHeld } from '../../core/using.js'
import { AcquireTimeoutError, MembersError } from '../../errors.js'
import { checkAcquire, checkFunction, checkMethods, checkOwner } from '../../options.js'
import type { AcquireOptions, Hold, Lock, LockState, MultiHold, OwnedLock, Owner } from '../../types.js'
import { AllHolds } from './multi-hold.js'
import { OwnedMultiLock } from './owned-multi-lock.js'
import { failuresOf, outcomes } from './outcomes.js'

/** Two that met are parted by a pause of up to so many ms. */
const APART = 64

interface Wanted extends AcquireOptions {
  readonly owner: UnitOfWork
  readonly wait: number
}

/**
 * Several locks as one, of whatever kinds and clients. It waits for one lock at a time and only while it holds none:
 * so two that want the same in opposite orders never wait for each other.
 */
export class MultiLock implements Lock<MultiHold> {
  readonly name: string
  readonly members: readonly Lock[]
  readonly #runtime: Runtime

  constructor(runtime: Runtime, members: readonly Lock[]) {
    if (members.length === 0) throw new RangeError('locks must be one at least, not 0')
    members.forEach((member, index) => {
      checkMethods(member, `locks[${index}]`, ['tryAcquire', 'inspect', 'forceRelease', 'for'])
    })
    this.#runtime = runtime
    this.members = members
    this.name = members.map(({ name }) => name).join(', ')
  }

  async acquire(options?: AcquireOptions): Promise<AllHolds> {
    const wanted = this.#wanted(options, Infinity)
    const hold = await this.#take(wanted)
    if (hold === undefined) throw new AcquireTimeoutError(this.name, wanted.wait)
    return hold
  }

  async tryAcquire(options?: AcquireOptions): Promise<AllHolds | undefined> {
    return this.#take(this.#wanted(options, 0))
  }

  async using<T>(
    first: AcquireOptions | undefined | ((hold: MultiHold) => Promise<T> | T),
    second?: (hold: MultiHold) => Promise<T> | T,
  ): Promise<T> {
    const [options, work] = typeof first === 'function' ? [undefined, first] : [first, second]
    checkFunction(work, 'work')
    const hold = await this.acquire(options)
    // Who takes a member in there re-enters, too.
    const inside = this.members.reduceRight<() => Promise<T>>(
      (inner, member, index) => () => within(member, this.#scoped(hold, index), inner),
      async () => (work as (hold: MultiHold) => Promise<T> | T)(hold),
    )
    return whileHeld(hold, () => within(this, hold, inside))
  }

  #scoped(hold: AllHolds, index: number): { owner: UnitOfWork; signal: AbortSignal } {
    return { owner: hold.owner, signal: (hold.members[index] as Hold).signal }
  }

  /** Whether it could not be had now. */
  async isLocked(): Promise<boolean> {
    return (await outcomes(this.name, this.members, (member) => member.isLocked())).includes(true)
  }

  /** Until all of it could be had. */
  async remaining(): Promise<number | undefined> {
    const left = await outcomes(this.name, this.members, (member) => member.remaining())
    const known = left.filter((ms) => ms !== undefined)
    return known.length === 0 ? undefined : Math.max(...known)
  }

  /** The holders and waiters of all members, in their order. */
  async inspect(): Promise<LockState> {
    const states = await outcomes(this.name, this.members, (member) => member.inspect())
    const left = states.flatMap(({ remaining }) => (remaining === undefined ? [] : [remaining]))
    return {
      holders: states.flatMap(({ holders }) => holders),
      waiting: states.flatMap(({ waiting }) => waiting),
      ...(left.length > 0 && { remaining: Math.max(...left) }),
    }
  }

  /** Takes every member from whoever holds it. */
  async forceRelease(): Promise<boolean> {
    return (await outcomes(this.name, this.members, (member) => member.forceRelease())).includes(true)
  }

  for(owner: Owner): OwnedLock {
    checkOwner(owner)
    return new OwnedMultiLock(this, owner as UnitOfWork)
  }

  #wanted(options: AcquireOptions | undefined, wait: number): Wanted {
    const checked = checkAcquire(options)
    this.#runtime.checkOpen(this.name)
    checked.signal?.throwIfAborted()
    const owner = (checked.owner as UnitOfWork | undefined) ?? enclosing((lock) => this.#isSame(lock))?.owner
    return { ...checked, owner: owner ?? new UnitOfWork(), wait: checked.wait ?? wait }
  }

  #isSame(lock: object): boolean {
    return (
      lock instanceof MultiLock &&
      lock.members.length === this.members.length &&
      lock.members.every((member, index) => member === this.members[index])
    )
  }

  async #take(wanted: Wanted): Promise<AllHolds | undefined> {
    const { clock } = this.#runtime.options
    const begun = clock.monotonic()
    let first = 0
    for (let round = 0; ; round++) {
      const left = Math.max(0, wanted.wait - (clock.monotonic() - begun))
      const outcome = await this.#try(wanted, first, left)
      if (typeof outcome === 'object') return outcome
      // What was not had is what to wait for, before anything else is taken.
      first = outcome
      const pause = clock.random() * Math.min(2 ** round, APART)
      if (clock.monotonic() - begun + pause >= wanted.wait) return undefined
      await this.#runtime.pause(pause)
      wanted.signal?.throwIfAborted()
      this.#runtime.checkOpen(this.name)
    }
  }

  /** All of it, or the place of a member that was not had. Waits only for the first, which it takes before all others. */
  async #try({ lease, signal, owner }: Wanted, first: number, wait: number): Promise<AllHolds | number> {
    const options = { lease, signal, owner }
    const take = (index: number, limit: number): Promise<Hold | undefined> =>
      (this.members[index] as Lock).tryAcquire({ ...options, wait: limit })
    const rest = this.members.map((_, index) => index).filter((index) => index !== first)
    const settled = await Promise.allSettled([take(first, wait)])
    if (settled[0].status === 'fulfilled' && settled[0].value === undefined) return first
    if (settled[0].status === 'fulfilled') settled.push(...(await Promise.allSettled(rest.map((i) => take(i, 0)))))
    const order = [first, ...rest]
    const holds: (Hold | undefined)[] = this.members.map(() => undefined)
    settled.forEach((result, place) => {
      if (result.status === 'fulfilled') holds[order[place] as number] = result.value
    })
    if (holds.every((hold) => hold !== undefined)) return new AllHolds(this.#runtime, this.name, owner, holds)
    await this.#giveBack(holds, signal)
    signal?.throwIfAborted()
    const failures = failuresOf(settled, this.members, order)
    if (failures.length > 0) throw new MembersError(this.name, failures)
    return holds.indexOf(undefined)
  }

  /** An aborted call does not wait for a server that is silent; the releases go on. */
  async #giveBack(holds: readonly (Hold | undefined)[], signal: AbortSignal | undefined): Promise<void> {
    const released = Promise.all(holds.flatMap((hold) => (hold === undefined ? [] : [hold.release()])))
    this.#runtime.track(released)
    await (signal?.aborted === true ? Promise.race([released, this.#runtime.pause(GRACE)]) : released)
  }
}
