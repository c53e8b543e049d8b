import { abortOf, reasonOf } from '../../base/abort.js'
import type { Clock, Timer } from '../../base/clock.js'
import type { UnitOfWork } from '../../base/owner.js'
import type { Runtime } from '../../core/client/runtime.js'
import { ScopedAbort, type Scoped } from '../../base/scope.js'
import type { HoldWatch } from '../../core/hold/hold.js'
import type { UsedHold } from '../../core/hold/using.js'
import {
  ClosedError,
  HoldfastError,
  LockLostError,
  type MemberFailure,
  MembersError,
  NotOwnerError,
} from '../../errors.js'
import { checkLease } from '../../check-arguments.js'
import type { Hold, HoldState, MultiHold } from '../../api/hold.js'
import { decisive, enough, outcomes } from './member-outcomes.js'
import { quoted } from '../../plain-text.js'

/** After a loss, the holder has this long to stop before the remaining members are released, ms. */
const MARGIN = 500

/** What a hold of several locks consists of. */
export interface Parts {
  readonly name: string
  readonly owner: UnitOfWork
  /** By the index of the lock; undefined if that lock was not acquired. */
  readonly holds: (Hold | undefined)[]
  /** How many must be certain. */
  readonly needed: number
  /** How far the servers' clocks may drift apart during a lease, ms. */
  readonly drift: number
}

const isLive = ({ state }: Hold): boolean => state === 'held' || state === 'uncertain'

/**
 * Releases a hold that no call waits for. A member may be the caller's own object: if its release throws, the client emits an
 * `error` event.
 */
export const released = async (runtime: Runtime, hold: Hold): Promise<void> => {
  try {
    await hold.release()
  } catch (error) {
    runtime.fail(error)
  }
}

/** Several holds as one. It lasts as long as enough of them are certain. */
export class SeveralHolds implements MultiHold, UsedHold {
  readonly name: string
  readonly owner: UnitOfWork
  readonly #runtime: Runtime
  readonly #parts: Parts
  readonly #controller = new ScopedAbort(() => this.state)
  readonly #failures: MemberFailure[] = []
  #end: 'released' | 'lost' | undefined
  #closed: ClosedError | undefined
  #released: Promise<boolean> | undefined
  /** Set if somebody listens for its end. */
  #observer: HoldWatch | undefined
  /** If clocks may differ, the signal fires before the members' own signals. */
  #watch: Timer | undefined

  constructor(runtime: Runtime, parts: Parts) {
    this.#runtime = runtime
    this.#parts = parts
    this.name = parts.name
    this.owner = parts.owner
    parts.holds.forEach((hold, index) => {
      if (hold !== undefined) this.#listen(hold, index)
    })
    this.#arm()
  }

  get clock(): Clock {
    return this.#runtime.options.clock
  }

  get members(): readonly Hold[] {
    return this.#parts.holds.filter((hold) => hold !== undefined)
  }

  /** The hold of the lock at this index. */
  part(index: number): Hold | undefined {
    return this.#parts.holds[index]
  }

  /** The scope for code inside that acquires the lock at this index. Its hold may come later. */
  scope(index: number): Scoped {
    const signal = (): AbortSignal => (this.part(index) ?? this).signal
    return {
      owner: this.owner,
      get signal() {
        return signal()
      },
    }
  }

  /** Adds a hold that was requested earlier and came late. */
  join(hold: Hold, index: number): void {
    if (!this.#live) {
      void released(this.#runtime, hold)
      return
    }
    this.#parts.holds[index] = hold
    this.#listen(hold, index)
  }

  #listen({ signal }: Hold, index: number): void {
    const ended = (): void => this.#memberEnded(index, reasonOf(signal))
    const aborted = abortOf(signal)
    if (aborted !== undefined) this.#memberEnded(index, aborted.error)
    else signal.addEventListener('abort', ended, { once: true })
  }

  #memberEnded(index: number, error: unknown): void {
    const name = this.part(index)?.name ?? ''
    this.#failures.push({ index, name, error })
    const live = this.members.filter(isLive).length
    if (this.#end !== undefined || live >= this.#parts.needed) return
    if (error instanceof ClosedError) this.#closed = error
    this.#over(`its member ${index}, ${quoted(name)}, was lost`)
  }

  #over(why: string): void {
    if (this.#end !== undefined) return
    this.#ends(this.#closed === undefined ? 'lost' : 'released')
    this.#watch?.cancel()
    const [first, ...others] = this.#failures
    const cause = others.length > 0 ? new MembersError(this.name, this.#failures) : first?.error
    this.#controller.abort(this.#closed ?? new LockLostError(this.name, why, { cause }))
    // Members that are lost are freed when the holder has stopped: each client sees to that.
    const rest = (): Promise<unknown> =>
      Promise.all(this.members.filter(isLive).map((one) => released(this.#runtime, one)))
    this.#runtime.background.track(this.#runtime.background.pause(MARGIN).then(rest))
  }

  observe(watch: HoldWatch): void {
    this.#observer = watch
    if (this.#end !== undefined) this.#ends(this.#end)
  }

  #ends(how: 'released' | 'lost'): void {
    this.#end = how
    this.#observer?.ended(how === 'lost' && this.taken ? 'forced' : how)
  }

  #arm(): void {
    if (this.#parts.drift === 0 || this.#end !== undefined) return
    this.#watch = this.clock.setTimer(
      () => {
        if (this.#live) this.#arm()
      },
      // What is left may be a fraction that the clock cannot tell from nothing.
      Math.ceil(this.remaining()),
      { background: true },
    )
  }

  get state(): HoldState {
    const states = this.#end === undefined ? this.#look() : []
    return this.#end ?? this.#together(states)
  }

  /** A hold that this finds to be over ends in the same tick; members report their own end. */
  #look(): readonly HoldState[] {
    const states = this.members.map(({ state }) => state)
    const live = states.filter((state) => state === 'held' || state === 'uncertain').length
    if (live >= this.#parts.needed && this.#certain() <= 0) this.#over('too few of its members are certain for longer')
    return states
  }

  #together(states: readonly HoldState[]): HoldState {
    const held = states.filter((state) => state === 'held').length
    const live = held + states.filter((state) => state === 'uncertain').length
    // The members were released or detached on their own.
    if (live < this.#parts.needed) return 'released'
    return held >= this.#parts.needed ? 'held' : 'uncertain'
  }

  get lost(): boolean {
    return this.state === 'lost'
  }

  get closed(): ClosedError | undefined {
    return this.#closed
  }

  /** Whether the servers reported that too few holds were left. */
  get taken(): boolean {
    const members = this.members as readonly (Hold & { readonly taken?: boolean })[]
    return members.filter(({ taken }) => taken !== true).length < this.#parts.needed
  }

  get signal(): AbortSignal {
    // It may be over by now.
    this.remaining()
    return this.#controller.signal
  }

  get #live(): boolean {
    const { state } = this
    return state === 'held' || state === 'uncertain'
  }

  remaining(): number {
    return this.#live ? Math.max(0, this.#certain()) : 0
  }

  #certain(): number {
    const { needed, drift } = this.#parts
    const left = this.members.map((member) => member.remaining())
    return decisive(left, needed) - drift
  }

  async extend(lease?: number): Promise<void> {
    if (lease !== undefined) checkLease(lease)
    if (this.lost) throw new LockLostError(this.name, 'it is no longer held')
    if (!this.#live)
      throw this.#closed ?? new NotOwnerError(this.name, 'this hold: it was released, so it cannot be extended')
    const { holds, needed } = this.#parts
    const live = holds.map((hold) => (hold !== undefined && isLive(hold) ? hold : undefined))
    const { name, clock } = this
    await outcomes({ name, members: live, needed, clock }, (member) => member.extend(lease))
    this.#watch?.cancel()
    this.#arm()
  }

  release(): Promise<boolean> {
    return (this.#released ??= this.#release())
  }

  async #release(): Promise<boolean> {
    const live = this.#live
    if (this.#end === undefined) this.#ends('released')
    this.#watch?.cancel()
    const releases = this.members.map(async (member) => member.release())
    const { needed } = this.#parts
    const freed = await enough(releases, { needed, clock: this.clock }, Boolean)
    return live && freed.filter((one) => one?.status === 'fulfilled' && one.value).length >= needed
  }

  detach(): Promise<string> {
    const message = `${quoted(this.name)} consists of several locks, perhaps on several servers, and has no ticket: detach each of hold.members`
    return Promise.reject(new HoldfastError('UNSUPPORTED', message, { target: this.name }))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.release()
  }
}
