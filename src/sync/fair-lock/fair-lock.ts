import type { LineProtocol, Place, Standing } from '../../core/line-protocol.js'
import type { LockKind, Runner, ServerState } from '../../core/protocol.js'
import { fairCall, fairDeadlines, fairQueue, grantChannel, lockChannel } from '../../keys.js'
import {
  fairLockConfirm,
  fairLockEnqueue,
  fairLockForceRelease,
  fairLockInspect,
  fairLockLeave,
  fairLockPoll,
  fairLockTry,
  lockPass,
  lockRenew,
  lockSetLevel,
} from '../../lua/scripts.gen.js'

/** How long a waiter of Redisson's is let be silent, ms: its fairLockWaitTimeout. */
const ALLOWANCE = 300_000
/** The lease that the next holder is taken to want, where none is known. */
const LEASE = 30_000

const STATES = ['waits', 'held', 'late'] as const
const PLACES: readonly Place[] = ['behind ours', 'held', 'behind others', 'gone']

/** Redisson's RFairLock: the hash of a plain lock, a list of those who wait, and their deadlines. */
class FairLockProtocol implements LineProtocol {
  readonly key: string
  readonly #runner: Runner

  constructor(runner: Runner, key: string) {
    this.#runner = runner
    this.key = key
  }

  get channel(): string {
    return lockChannel(this.key)
  }

  get renewal(): LineProtocol['renewal'] {
    return lockRenew
  }

  get #keys(): [lock: string, queue: string, deadlines: string] {
    return [this.key, fairQueue(this.key), fairDeadlines(this.key)]
  }

  get #voices(): [channel: string, grants: string, publish: string] {
    return [this.channel, grantChannel(this.key), this.#runner.publishCommand]
  }

  grants(client: string): string {
    return `${grantChannel(this.key)}:${client}`
  }

  callOf(owner: string): string {
    return fairCall(this.key, owner)
  }

  async acquire(owner: string, lease: number): Promise<number | undefined> {
    return (await this.#runner.run(fairLockTry, this.#keys, [owner, lease])) ?? undefined
  }

  async enqueue(owner: string, lease: number, notAfter: number): Promise<Standing> {
    const args = [owner, lease, ALLOWANCE, notAfter, ...this.#voices] as const
    const [state, stamp, left, ours] = await this.#runner.run(fairLockEnqueue, this.#keys, args)
    return { state: STATES[state] ?? 'waits', stamp: Number(stamp), left, ours: ours === 1 }
  }

  async poll(owners: readonly (readonly [string, number])[]) {
    const args = [ALLOWANCE, ...this.#voices, ...owners.flatMap(([owner, lease]) => [owner, String(lease)])] as const
    const [stamp, left, states] = await this.#runner.run(fairLockPoll, this.#keys, args)
    return { stamp: Number(stamp), left, states: states.map((state) => PLACES[state] ?? 'gone') }
  }

  async confirm(owner: string, lease: number): Promise<number> {
    return this.#runner.run(fairLockConfirm, this.#keys, [owner, lease])
  }

  async setLevel(owner: string, level: number, lease: number): Promise<number | undefined> {
    const left = await this.#runner.run(lockSetLevel, [this.key], [owner, level, lease])
    return left === -2 ? undefined : left
  }

  async release(owner: string): Promise<number | undefined> {
    const left = await this.#runner.run(fairLockLeave, this.#keys, [owner, LEASE, ALLOWANCE, ...this.#voices])
    return left === -1 ? undefined : left
  }

  async pass(from: string, to: string, lease: number): Promise<boolean> {
    return (await this.#runner.run(lockPass, [this.key], [from, to, lease])) === 1
  }

  async forceRelease(): Promise<boolean> {
    return (await this.#runner.run(fairLockForceRelease, this.#keys, [LEASE, ALLOWANCE, ...this.#voices])) === 1
  }

  async inspect(): Promise<ServerState> {
    const [ttl, fields, queue] = await this.#runner.run(fairLockInspect, this.#keys, [])
    const holders = []
    for (let i = 0; i + 1 < fields.length; i += 2)
      holders.push({ owner: fields[i] as string, count: Number(fields[i + 1]) })
    const waiting = []
    for (let i = 0; i + 1 < queue.length; i += 2) {
      waiting.push({ owner: queue[i] as string, deadline: Math.floor(Number(queue[i + 1])) })
    }
    return { ttl, holders, waiting }
  }
}

export const fairLock: LockKind = {
  name: 'fairLock',
  family: 'fairLock',
  reentrant: true,
  protocol: (runner, key) => new FairLockProtocol(runner, key),
}
