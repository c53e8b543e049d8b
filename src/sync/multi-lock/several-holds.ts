import { abortOf, reasonOf } from '../../base/abort.js'
import type { Clock, Timer } from '../../base/clock.js'
import type { UnitOfWork } from '../../base/owner.js'
import type { Runtime } from '../../core/client/runtime.js'
import { ScopedAbort, type Scoped } from '../../base/scope.js'
import type { UsedHold } from '../../core/hold/using.js'
import {
  ClosedError,
  HoldfastError,
  LockLostError,
  type MemberFailure,
  MembersError,
  NotOwnerError,
} from '../../errors.js'
import { checkLease } from '../../check-options.js'
import type { Hold, HoldState, MultiHold } from '../../api/hold.js'
import { decisive, enough, outcomes } from './outcomes.js'
import { quoted } from '../../plain-text.js'

/** When it is lost the holder has this long to stop before the members that are left are given back, ms. */
const MARGIN = 500

/** What a hold of several is made of. */
export interface Parts {
  readonly name: string
  readonly owner: UnitOfWork
  /** By the place of its lock; undefined where that was not acquired. */
  readonly holds: (Hold | undefined)[]
  /** How many must be certain. */
  readonly needed: number
  /** By how much the servers' clocks may differ in the course of a lease, ms. */
  readonly drift: number
}

const isLive = ({ state }: Hold): boolean => state === 'held' || state === 'uncertain'

/** Where nobody waits for it. A member may be an object of the caller's own: what its release throws is an `error` event. */
export const released = async (runtime: Runtime, hold: Hold): Promise<void> => {
  try {
    await hold.release()
  } catch (error) {
    runtime.fail(error)
  }
}

/** Several holds as one, which lasts while as many of them as are needed are certain. */
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
  /** Where clocks may differ the signal fires before the members' own. */
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

  /** The hold of the lock at this place. */
  part(index: number): Hold | undefined {
    return this.#parts.holds[index]
  }

  /** What it is to who takes the lock at this place inside of it, which may be had only later. */
  scope(index: number): Scoped {
    const signal = (): AbortSignal => (this.part(index) ?? this).signal
    return {
      owner: this.owner,
      get signal() {
        return signal()
      },
    }
  }

  /** One more that was asked for and came late. */
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
    this.#over(`${quoted(name)}, its member ${index}, was lost`)
  }

  #over(why: string): void {
    if (this.#end !== undefined) return
    this.#end = this.#closed === undefined ? 'lost' : 'released'
    this.#watch?.cancel()
    const [first, ...others] = this.#failures
    const cause = others.length > 0 ? new MembersError(this.name, this.#failures) : first?.error
    this.#controller.abort(this.#closed ?? new LockLostError(this.name, why, { cause }))
    this.#runtime.background.track(this.#runtime.background.pause(MARGIN).then(() => this.release()))
  }

  #arm(): void {
    if (this.#parts.drift === 0 || this.#end !== undefined) return
    this.#watch = this.clock.setTimer(
      () => {
        if (this.#live) this.#arm()
      },
      this.remaining(),
      { background: true },
    )
  }

  get state(): HoldState {
    const states = this.#end === undefined ? this.#look() : []
    return this.#end ?? this.#together(states)
  }

  /** What it finds to be over ends in the same tick: a member says so by itself. */
  #look(): readonly HoldState[] {
    const states = this.members.map(({ state }) => state)
    const live = states.filter((state) => state === 'held' || state === 'uncertain').length
    if (live >= this.#parts.needed && this.#certain() <= 0) this.#over('too few of its members are certain for longer')
    return states
  }

  #together(states: readonly HoldState[]): HoldState {
    const held = states.filter((state) => state === 'held').length
    const live = held + states.filter((state) => state === 'uncertain').length
    // Given back or detached by themselves.
    if (live < this.#parts.needed) return 'released'
    return held >= this.#parts.needed ? 'held' : 'uncertain'
  }

  get lost(): boolean {
    return this.state === 'lost'
  }

  get closed(): ClosedError | undefined {
    return this.#closed
  }

  /** By the word of the servers too few were left. */
  get taken(): boolean {
    const members = this.members as readonly (Hold & { readonly taken?: boolean })[]
    return members.filter(({ taken }) => taken !== true).length < this.#parts.needed
  }

  get signal(): AbortSignal {
    // In case that it is over by now.
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
    if (this.lost) throw new LockLostError(this.name, 'it is not held any more')
    if (!this.#live)
      throw this.#closed ?? new NotOwnerError(this.name, 'this hold, which was released and cannot be extended')
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
    this.#end ??= 'released'
    this.#watch?.cancel()
    const releases = this.members.map(async (member) => member.release())
    const { needed } = this.#parts
    const freed = await enough(releases, { needed, clock: this.clock }, Boolean)
    return live && freed.filter((one) => one?.status === 'fulfilled' && one.value).length >= needed
  }

  detach(): Promise<string> {
    const message = `${quoted(this.name)} is several locks, perhaps of several servers, and has no ticket: detach each of hold.members`
    return Promise.reject(new HoldfastError('UNSUPPORTED', message, { target: this.name }))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.release()
  }
}
