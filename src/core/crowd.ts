import type { Clock } from './clock.js'
import type { Contender, Contest, Outcome } from './contender.js'
import type { Host } from './contention.js'
import type { UnitOfWork } from './owner.js'
import type { Waiter } from './queue.js'
import { GRACE } from './request.js'
import type { Spinner } from './spinner.js'
import { WaitingRoom } from './waiting-room.js'
import type { Wakeups } from './wakeups.js'

/** Those who wait at one gate, whether they are asked for one by one or together. */
export abstract class Crowd<
  H extends Pick<Host, 'name' | 'kind' | 'runtime' | 'protocol' | 'rested'>,
> implements Contest {
  protected readonly host: H
  protected readonly room: WaitingRoom
  protected abstract readonly contender: Contender | Spinner
  /** Those who left while they were asked for: told when the attempt is over. */
  #leaving: (() => void)[] = []

  constructor(host: H) {
    this.host = host
    this.room = new WaitingRoom(host.runtime, host.name, (waiter, settle) => {
      this.#left(waiter, settle)
    })
  }

  abstract next(): Waiter | undefined
  abstract attempt(waiter: Waiter): Promise<Outcome>
  abstract look(): Promise<number | undefined>
  abstract refused(waiter: Waiter): void
  abstract troubled(trouble: unknown): boolean
  /** Whether the attempt on its way is for this one, too. */
  protected abstract asks(waiter: Waiter): boolean

  get clock(): Clock {
    return this.host.runtime.options.clock
  }

  get channel(): string {
    return this.host.protocol.channel
  }

  get wakeups(): Wakeups {
    return this.host.runtime.wakeups
  }

  get first(): Waiter | undefined {
    return this.room.first
  }

  get running(): Promise<void> | undefined {
    return this.contender.running
  }

  /** From here on the call waits, unless too many do. */
  protected admit(waiter: Waiter): void {
    if (!waiter.queued || waiter.counted || waiter.request.wait === 0) return
    if (this.room.admit(waiter)) this.host.runtime.teller.waits(this.host)
  }

  /** The wait ended without the lock. The caller hears of it when nothing of it is left, or the grace is over. */
  #left(waiter: Waiter, settle: () => void): void {
    if (!this.asks(waiter)) settle()
    else {
      const timer = this.clock.setTimer(settle, GRACE)
      this.#leaving.push(() => {
        timer.cancel()
        settle()
      })
    }
    this.#mayRest()
  }

  protected attempted(): void {
    for (const tell of this.#leaving.splice(0)) tell()
  }

  #mayRest(): void {
    if (this.first !== undefined) return
    if (this.running === undefined) this.rested()
    else this.contender.wake()
  }

  /** All calls of this owner leave; `settle` says so to each. */
  dismiss(owner: UnitOfWork, settle: (waiter: Waiter) => void): void {
    this.room.dismiss(owner, settle)
  }

  cannotSubscribe(error: unknown): void {
    this.host.runtime.options.logger.warn(`cannot subscribe for '${this.host.name}': waiting by polling`, error)
  }

  rested(): void {
    this.host.rested()
  }

  /** Rejects all who wait. */
  close(reason: Error): void {
    this.room.rejectAll(reason)
    this.#mayRest()
  }
}
