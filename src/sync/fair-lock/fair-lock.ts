import type { LineProtocol, Place, Standing } from '../../core/line-protocol.js'
import type { LockKind } from '../../core/protocol.js'
import { fairCall, fairDeadlines, fairQueue, grantChannel } from '../../keys.js'
import {
  fairLockConfirm,
  fairLockEnqueue,
  fairLockForceRelease,
  fairLockInspect,
  fairLockLeave,
  fairLockPoll,
  fairLockTry,
} from '../../lua/scripts.gen.js'
import { PlainLockProtocol, holdersOf } from '../lock/lock.js'

/** How long a waiter of Redisson's is let be silent, ms: its fairLockWaitTimeout. */
const ALLOWANCE = 300_000
/** The lease that the next holder is taken to want, where none is known. */
const LEASE = 30_000

const STATES = ['waits', 'held', 'late'] as const
const PLACES: readonly Place[] = ['behind ours', 'held', 'behind others', 'gone']

/** Redisson's RFairLock: the hash of a plain lock, a list of those who wait, and their deadlines. */
class FairLockProtocol extends PlainLockProtocol implements LineProtocol {
  get #keys(): [lock: string, queue: string, deadlines: string] {
    return [this.key, fairQueue(this.key), fairDeadlines(this.key)]
  }

  get #voices(): [channel: string, grants: string, publish: string] {
    return [this.channel, grantChannel(this.key), this.runner.publishCommand]
  }

  grants(client: string): string {
    return `${grantChannel(this.key)}:${client}`
  }

  callOf(owner: string): string {
    return fairCall(this.key, owner)
  }

  override async acquire(owner: string, lease: number): Promise<number | undefined> {
    return (await this.runner.run(fairLockTry, this.#keys, [owner, lease])) ?? undefined
  }

  async enqueue(owner: string, lease: number, notAfter: number): Promise<Standing> {
    const args = [owner, lease, ALLOWANCE, notAfter, ...this.#voices] as const
    const [state, stamp, left, ours] = await this.runner.run(fairLockEnqueue, this.#keys, args)
    return { state: STATES[state] ?? 'waits', stamp: Number(stamp), left, ours: ours === 1 }
  }

  async poll(owners: readonly (readonly [string, number])[]) {
    const args = [ALLOWANCE, ...this.#voices, ...owners.flatMap(([owner, lease]) => [owner, String(lease)])] as const
    const [stamp, left, states] = await this.runner.run(fairLockPoll, this.#keys, args)
    return { stamp: Number(stamp), left, states: states.map((state) => PLACES[state] ?? 'gone') }
  }

  async confirm(owner: string, lease: number): Promise<number> {
    return this.runner.run(fairLockConfirm, this.#keys, [owner, lease])
  }

  override async release(owner: string): Promise<number | undefined> {
    const left = await this.runner.run(fairLockLeave, this.#keys, [owner, LEASE, ALLOWANCE, ...this.#voices])
    return left === -1 ? undefined : left
  }

  override async forceRelease(): Promise<boolean> {
    return (await this.runner.run(fairLockForceRelease, this.#keys, [LEASE, ALLOWANCE, ...this.#voices])) === 1
  }

  override async inspect() {
    const [ttl, fields, queue] = await this.runner.run(fairLockInspect, this.#keys, [])
    const waiting = []
    for (let i = 0; i + 1 < queue.length; i += 2) {
      waiting.push({ owner: queue[i] as string, deadline: Math.floor(Number(queue[i + 1])) })
    }
    return { ttl, holders: holdersOf(fields), waiting }
  }
}

export const fairLock: LockKind = {
  name: 'fairLock',
  family: 'fairLock',
  reentrant: true,
  protocol: (runner, key) => new FairLockProtocol(runner, key),
}
