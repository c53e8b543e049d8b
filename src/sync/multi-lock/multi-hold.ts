import type { UnitOfWork } from '../../core/owner.js'
import type { Runtime } from '../../core/runtime.js'
import type { UsedHold } from '../../core/using.js'
import { ClosedError, HoldfastError, LockLostError, NotOwnerError } from '../../errors.js'
import { checkLease } from '../../options.js'
import type { Hold, HoldState, MultiHold } from '../../types.js'
import { outcomes } from './outcomes.js'

/** When one member is lost the holder has this long to stop before the others are given back, ms. */
const MARGIN = 500

/** All members, or nothing: it lasts as long as the one that is over first. */
export class AllHolds implements MultiHold, UsedHold {
  readonly name: string
  readonly owner: UnitOfWork
  readonly members: readonly Hold[]
  readonly #runtime: Runtime
  readonly #controller = new AbortController()
  #end: 'released' | 'lost' | undefined
  #closed: ClosedError | undefined
  #released: Promise<boolean> | undefined

  constructor(runtime: Runtime, name: string, owner: UnitOfWork, members: readonly Hold[]) {
    this.#runtime = runtime
    this.name = name
    this.owner = owner
    this.members = members
    members.forEach(({ signal }, index) => {
      const ended = (): void => {
        this.#memberEnded(index, signal.reason)
      }
      if (signal.aborted) ended()
      else signal.addEventListener('abort', ended, { once: true })
    })
  }

  #memberEnded(index: number, reason: unknown): void {
    if (this.#end !== undefined) return
    if (reason instanceof ClosedError) {
      this.#end = 'released'
      this.#closed = reason
    } else this.#end = 'lost'
    const why = `'${this.members[index]?.name}', its member ${index}, was lost`
    this.#controller.abort(this.#closed ?? new LockLostError(this.name, why, { cause: reason }))
    this.#runtime.track(this.#runtime.pause(MARGIN).then(() => this.release()))
  }

  get state(): HoldState {
    // A member that finds itself to be over says so at once.
    const states = this.#end === undefined ? this.members.map(({ state }) => state) : []
    return this.#end ?? this.#together(states)
  }

  #together(states: readonly HoldState[]): HoldState {
    // Given back or detached by itself.
    if (states.some((state) => state === 'released' || state === 'detached')) return 'released'
    return states.every((state) => state === 'held') ? 'held' : 'uncertain'
  }

  get lost(): boolean {
    return this.state === 'lost'
  }

  get closed(): ClosedError | undefined {
    return this.#closed
  }

  get signal(): AbortSignal {
    // In case that a member is over by now.
    this.remaining()
    return this.#controller.signal
  }

  get #live(): boolean {
    const { state } = this
    return state === 'held' || state === 'uncertain'
  }

  remaining(): number {
    return this.#live ? Math.min(...this.members.map((member) => member.remaining())) : 0
  }

  async extend(lease?: number): Promise<void> {
    if (lease !== undefined) checkLease(lease)
    if (this.lost) throw new LockLostError(this.name, 'it is not held any more')
    if (!this.#live)
      throw this.#closed ?? new NotOwnerError(this.name, 'this hold, which was released and cannot be extended')
    await outcomes(this.name, this.members, (member) => member.extend(lease))
  }

  release(): Promise<boolean> {
    return (this.#released ??= this.#release())
  }

  async #release(): Promise<boolean> {
    const live = this.#live
    this.#end ??= 'released'
    const freed = await Promise.all(this.members.map((member) => member.release()))
    return live && freed.every(Boolean)
  }

  detach(): Promise<string> {
    const message = `'${this.name}' is several locks, perhaps of several servers, and has no ticket: detach each of hold.members`
    return Promise.reject(new HoldfastError('UNSUPPORTED', message, { target: this.name }))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.release()
  }
}
