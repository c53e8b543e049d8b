import type { Answer, Asker, JoinState, LineProtocol, PlaceState } from '../../core/protocol/line-protocol.js'
import { type Attempt, isHeld, NOT_HELD, type ServerState } from '../../core/protocol/lock-protocol.js'
import { fairCall, grantChannel } from '../../keys.js'
import {
  fairLockConfirm,
  fairLockEnqueue,
  fairLockForceRelease,
  fairLockLeave,
  fairLockPoll,
  fairLockTry,
} from '../../lua/scripts.gen.js'
import { ClassicFairProtocol } from '../classic-fair-lock/classic-fair-lock.js'
import { HashProtocol, wordsOf } from '../lock/lock.js'
import { fairKeys } from './fair-keys.js'
import { inspectLine } from '../lock/inspect-line.js'
import type { LockKind } from '../../core/gate/lock-kind.js'

const JOINED: readonly JoinState[] = ['behind ours', 'held', 'behind others', 'late']
const PLACES: readonly PlaceState[] = ['behind ours', 'held', 'behind others', 'gone']

/** Redisson's RFairLock. The server grants it directly to holdfast's clients. */
class FairLockProtocol extends HashProtocol implements LineProtocol {
  readonly #keys = fairKeys(this.key)
  readonly #voices = [this.channel, grantChannel(this.key), this.runner.publishCommand] as const

  get #allowance(): number {
    return this.runner.fleet.fairWaiterTimeout
  }

  /** What the next holder is assumed to want, if that is unknown. */
  get #guess(): [lease: number, allowance: number] {
    return [this.runner.fleet.watchdog, this.#allowance]
  }

  grants(client: string): string {
    return `${grantChannel(this.key)}:${client}`
  }

  callOf(owner: string): string {
    return fairCall(this.key, owner)
  }

  acquire(owner: string, lease: number): Promise<Attempt> {
    const args = [owner, lease, this.channel, this.runner.publishCommand] as const
    return this.runner.take(fairLockTry, this.#keys, args, isHeld)
  }

  async enqueue(askers: readonly Asker[], notAfter: number): Promise<Answer<JoinState>> {
    const args = [this.#allowance, notAfter, ...this.#voices, ...wordsOf(askers)] as const
    const [stamp, left, states] = await this.runner.run(fairLockEnqueue, this.#keys, args)
    return { stamp: Number(stamp), left, states: states.map((state) => JOINED[state] ?? 'late') }
  }

  async poll(askers: readonly Asker[]): Promise<Answer<PlaceState>> {
    const args = [this.#allowance, ...this.#voices, ...wordsOf(askers)] as const
    const [stamp, left, states] = await this.runner.run(fairLockPoll, this.#keys, args)
    return { stamp: Number(stamp), left, states: states.map((state) => PLACES[state] ?? 'gone') }
  }

  async confirm(owner: string, lease: number): Promise<number> {
    return this.runner.take(fairLockConfirm, this.#keys, [owner, lease], (left) => left > 0)
  }

  async release(owner: string, served: readonly string[] = []): Promise<number> {
    // An owner that was still in the line lost the lock while it was on trial.
    return (await this.#leave(owner, served)) === 1 ? 1 : NOT_HELD
  }

  leave({ owner }: Asker): Promise<number> {
    return this.#leave(owner, [])
  }

  #leave(owner: string, served: readonly string[]): Promise<number> {
    return this.runner.run(fairLockLeave, this.#keys, [owner, ...this.#guess, ...this.#voices, ...served])
  }

  async forceRelease(): Promise<boolean> {
    return (await this.runner.run(fairLockForceRelease, this.#keys, [...this.#guess, ...this.#voices])) === 1
  }

  async inspect(briefly?: boolean): Promise<ServerState> {
    return (await inspectLine(this.runner, fairKeys(this.key), briefly))[0]
  }
}

export const fairLock: LockKind = {
  name: 'fairLock',
  family: 'fairLock',
  reentrant: true,
  protocol: (runner, key) =>
    runner.fleet.redisson === '4' ? new FairLockProtocol(runner, key) : new ClassicFairProtocol(runner, key),
}
