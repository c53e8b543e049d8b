import type { Answer, Asker, JoinState, LineProtocol, PlaceState } from '../../core/protocol/line-protocol.js'
import type { Attempt, ServerState } from '../../core/protocol/protocol.js'
import { fairCall } from '../../keys.js'
import {
  classicFairLockAsk,
  classicFairLockForceRelease,
  classicFairLockLeave,
  lockSetLevel,
} from '../../lua/scripts.gen.js'
import { LONGEST_TIMEOUT } from '../../check-options.js'
import { fairKeys, inspectLine } from '../fair-lock/fair-keys.js'
import { HashProtocol } from '../lock/lock.js'

/** Who has no place asks in vain. */
const TOO_LATE = 0
const NEVER_TOO_LATE = Number.MAX_SAFE_INTEGER
const JOINED: readonly JoinState[] = ['behind others', 'held', 'late']
const PLACES: readonly PlaceState[] = ['behind others', 'held', 'gone']

/**
 * The fair lock by the rules of a Redisson before version 4: whoever frees it calls the next by name, and the next asks.
 * Since 3.11 places are counted on, each an allowance behind the one before it.
 */
export class ClassicFairProtocol extends HashProtocol implements LineProtocol {
  get #counted(): 0 | 1 {
    return this.runner.fleet.redisson === '3.8' ? 0 : 1
  }

  get #voices(): [channel: string, publish: string] {
    return [this.channel, this.runner.publishCommand]
  }

  /** Since 3.11 a waiter that limits its wait may be silent for that long; the server adds up the allowances of all. */
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

  async #ask(askers: readonly Asker[], joins: 0 | 1, notAfter: number) {
    const words = askers.flatMap(({ owner, lease, wait }) => [owner, String(lease), String(this.#allowance(wait))])
    const args = [String(this.#counted), String(joins), notAfter, ...words] as const
    const [stamp, left, states] = await this.runner.run(classicFairLockAsk, fairKeys(this.key), args)
    return { stamp: Number(stamp), left, states }
  }

  async acquire(owner: string, lease: number): Promise<Attempt> {
    const { left, states } = await this.#ask([{ owner, lease, wait: Infinity }], 0, NEVER_TOO_LATE)
    return states[0] === 1 ? null : left
  }

  async enqueue(askers: readonly Asker[], notAfter: number): Promise<Answer<JoinState>> {
    const { states, ...told } = await this.#ask(askers, 1, notAfter)
    return { ...told, states: states.map((state) => JOINED[state] ?? 'late') }
  }

  async poll(askers: readonly Asker[]): Promise<Answer<PlaceState>> {
    const { states, ...told } = await this.#ask(askers, 0, TOO_LATE)
    return { ...told, states: states.map((state) => PLACES[state] ?? 'gone') }
  }

  /** Nobody is granted it on trial: who has it has it. */
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

  async inspect(): Promise<ServerState> {
    return (await inspectLine(this.runner, fairKeys(this.key)))[0]
  }
}
