import type { Answer, Asker, JoinState, LineProtocol, PlaceState } from '../../core/protocol/line-protocol.js'
import type { Attempt, ServerState } from '../../core/protocol/lock-protocol.js'
import { fairCall } from '../../keys.js'
import {
  classicFairLockAsk,
  classicFairLockForceRelease,
  classicFairLockLeave,
  lockSetLevel,
} from '../../lua/scripts.gen.js'
import { LONGEST_TIMEOUT } from '../../check-arguments.js'
import { fairKeys } from '../fair-lock/fair-keys.js'
import { inspectLine } from '../lock/inspect-line.js'
import { HashProtocol, NEVER_TOO_LATE, TOO_LATE, asJoined, asPlaces } from '../lock/lock.js'

interface Asking {
  readonly joins?: 0 | 1
  readonly notAfter: number
  readonly takes?: boolean
}

/**
 * The fair lock by the rules of Redisson before version 4: a release wakes up the next waiter by name, and that waiter asks again.
 * Since 3.11, the deadline of each place is one allowance after that of the place before it.
 */
export class ClassicFairProtocol extends HashProtocol implements LineProtocol {
  get #counted(): 0 | 1 {
    return this.runner.fleet.redisson === '3.8' ? 0 : 1
  }

  get #voices(): [channel: string, publish: string] {
    return [this.channel, this.runner.publishCommand]
  }

  /** Since 3.11, a waiter with a limited wait may be silent for that long. The server adds up the allowances of the whole line. */
  #allowance(wait: number): number {
    const limits = this.#counted === 1 && wait > 0 && wait !== Infinity
    return limits ? Math.min(Math.ceil(wait), LONGEST_TIMEOUT) : this.runner.fleet.fairWaiterTimeout
  }

  grants(): undefined {
    return undefined
  }

  callOf(owner: string): string {
    return fairCall(this.key, owner)
  }

  /**
   * `takes`: the caller continues as soon as it has acquired the lock, so this waits for the replicas. For a lock acquired from the
   * line, `confirm` waits.
   */
  async #ask(askers: readonly Asker[], { joins = 0, notAfter, takes = false }: Asking) {
    const words = askers.flatMap(({ owner, lease, wait }) => [owner, String(lease), String(this.#allowance(wait))])
    const args = [String(this.#counted), String(joins), notAfter, ...words] as const
    const keys = fairKeys(this.key)
    const [stamp, left, states] = await (takes
      ? this.runner.take(classicFairLockAsk, keys, args, ([, , [state]]) => state === 1)
      : this.runner.run(classicFairLockAsk, keys, args))
    return { stamp: Number(stamp), left, states }
  }

  async acquire(owner: string, lease: number): Promise<Attempt> {
    const { left, states } = await this.#ask([{ owner, lease, wait: Infinity }], {
      notAfter: NEVER_TOO_LATE,
      takes: true,
    })
    return states[0] === 1 ? 'held' : left
  }

  async enqueue(askers: readonly Asker[], notAfter: number): Promise<Answer<JoinState>> {
    return asJoined(await this.#ask(askers, { joins: 1, notAfter }))
  }

  async poll(askers: readonly Asker[]): Promise<Answer<PlaceState>> {
    return asPlaces(await this.#ask(askers, { notAfter: TOO_LATE }))
  }

  /** There are no trials here: a holder has the lock for good. */
  async confirm(owner: string, lease: number): Promise<number> {
    const left = await this.runner.take(lockSetLevel, [this.key], [owner, 1, lease], (ms) => ms > 0)
    return Math.max(0, left)
  }

  leave({ owner, wait }: Pick<Asker, 'owner' | 'wait'>): Promise<number> {
    const args = [owner, this.#allowance(wait), String(this.#counted), ...this.#voices] as const
    return this.runner.run(classicFairLockLeave, fairKeys(this.key), args)
  }

  release(owner: string): Promise<number> {
    return this.leave({ owner, wait: Infinity })
  }

  async forceRelease(): Promise<boolean> {
    return (await this.runner.run(classicFairLockForceRelease, fairKeys(this.key), this.#voices)) === 1
  }

  async inspect(briefly?: boolean): Promise<ServerState> {
    return (await inspectLine(this.runner, fairKeys(this.key), briefly))[0]
  }
}
