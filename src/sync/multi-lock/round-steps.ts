import type { Hold } from '../../api/hold.js'
import type { Lock } from '../../api/lock.js'
import { abortOf } from '../../base/abort.js'
import type { Clock } from '../../base/clock.js'
import { asPartOf } from '../../core/client/lock-events.js'
import type { Runtime } from '../../core/client/runtime.js'
import { afterLeaseError } from '../../core/waiting/answer-after-lease.js'
import { limitedStep, type LATE } from '../../core/waiting/limited-step-outside-queue.js'
import type { Wanted } from './retry-rounds.js'
import { released, SeveralHolds } from './several-holds.js'

/** How long a round waits for its releases, ms. */
const GIVING_BACK = 1000

/** The steps of one round: try members, combine their holds into one, or release them again. The subclass puts the steps in order. */
export abstract class RoundSteps {
  abstract readonly name: string
  abstract readonly members: readonly Lock[]
  abstract readonly runtime: Runtime
  /** How many members it needs. */
  abstract get needed(): number
  /** How far the servers' clocks may drift apart during a lease, ms. */
  protected abstract drift(lease: number): number

  get clock(): Clock {
    return this.runtime.options.clock
  }

  left({ wait, since }: Wanted): number {
    return Math.max(0, wait - (this.clock.monotonic() - since))
  }

  /** Tries one member, for a limited time. A hold that comes later is released, unless `late` uses it. */
  protected async try(
    index: number,
    wanted: Wanted,
    limit: number,
    late: (hold: Hold) => unknown = (hold) => hold.release(),
  ): Promise<Hold | undefined | typeof LATE> {
    const { signal } = wanted
    const trying = this.ask(index, wanted, undefined)
    return limitedStep(trying, { signal, wait: limit }, this.clock, async (hold) => hold && late(hold))
  }

  /** One call at one member. */
  protected ask(index: number, wanted: Wanted, wait: number | undefined): Promise<Hold | undefined> {
    const { lease, renew, signal, owner, release } = wanted
    const how = { ...(wait !== undefined && { wait }), ...(release !== undefined && { release }) }
    const options = { lease, renew, signal, owner, ...how }
    return asPartOf(wanted, () => (this.members[index] as Lock).tryAcquire(options))
  }

  /** Combines the holds into one. It never returns a hold that is already over. */
  protected async together(holds: (Hold | undefined)[], wanted: Wanted): Promise<SeveralHolds> {
    const { lease = this.runtime.options.watchdog, owner, signal } = wanted
    const { name, needed } = this
    const hold = new SeveralHolds(this.runtime, { name, owner, holds, needed, drift: this.drift(lease) })
    let aborted = abortOf(signal)
    if (hold.remaining() > 0 && aborted === undefined) return hold
    await this.giveBack(holds, wanted)
    aborted ??= abortOf(signal)
    if (aborted !== undefined) throw aborted.error
    throw hold.closed ?? afterLeaseError(name, lease)
  }

  /** The call does not wait for a server that is silent beyond its limit, nor if it is aborted; the releases go on. */
  protected async giveBack(holds: readonly (Hold | undefined)[], wanted: Wanted): Promise<void> {
    const had = holds.filter((hold) => hold !== undefined)
    const all = Promise.all(had.map((hold) => released(this.runtime, hold)))
    this.runtime.background.track(all)
    const limit = wanted.wait === 0 ? GIVING_BACK : Math.min(this.left(wanted), GIVING_BACK)
    const wait = abortOf(wanted.signal) !== undefined ? 1 : Math.max(1, limit)
    await limitedStep(all, { signal: undefined, wait }, this.clock, () => Promise.resolve())
  }
}
