import {
  type Attempt,
  isHeld,
  isPassed,
  type LockProtocol,
  NOT_HELD,
  type RenewScript,
  type ServerState,
} from '../../core/protocol/lock-protocol.js'
import type { Answer, Asker, JoinState, LineProtocol, News, PlaceState } from '../../core/protocol/line-protocol.js'
import { isMoving } from '../../core/server/transient-or-unsure-errors.js'
import { lineDeadlines, lineGrants, lineQueue, lineTurn, lockChannel } from '../../keys.js'
import {
  lockAcquire,
  lockAsk,
  lockConfirm,
  lockForceRelease,
  lockReleaseWhileSlotMoves,
  lockPass,
  lockRelease,
  lockRenew,
  lockSetLevel,
  spinLockAcquire,
} from '../../lua/scripts.gen.js'
import { inspectLine } from './inspect-line.js'
import type { ScriptRunner } from '../../core/protocol/script-runner.js'
import type { LockKind } from '../../core/gate/lock-kind.js'

/** With this limit, an asker without a place is not let in. */
export const TOO_LATE = 0
export const NEVER_TOO_LATE = Number.MAX_SAFE_INTEGER
const JOINED: readonly JoinState[] = ['behind others', 'held', 'late', 'behind ours', 'next']
const PLACES: readonly PlaceState[] = ['behind others', 'held', 'gone', 'behind ours', 'next']

/** What the numbers of `ask.lua` mean for askers that join, and for those already in the line. */
export const asJoined = ({ states, ...told }: Answer<number>): Answer<JoinState> => ({
  ...told,
  states: states.map((state) => JOINED[state] ?? 'late'),
})
export const asPlaces = ({ states, ...told }: Answer<number>): Answer<PlaceState> => ({
  ...told,
  states: states.map((state) => PLACES[state] ?? 'gone'),
})

/** One hash, whose fields are owners and whose values are counts: the base of all kinds that use it. */
export abstract class HashProtocol implements LockProtocol {
  readonly key: string
  readonly channel: string
  protected readonly runner: ScriptRunner

  constructor(runner: ScriptRunner, key: string, channel = lockChannel(key)) {
    this.runner = runner
    this.key = key
    this.channel = channel
  }

  get renewal(): RenewScript {
    return lockRenew
  }

  abstract acquire(owner: string, lease: number): Promise<Attempt>
  abstract release(owner: string, served?: readonly string[], visits?: number): Promise<number>
  abstract forceRelease(): Promise<boolean>
  abstract inspect(briefly?: boolean, owner?: string): Promise<ServerState>

  /** While a cluster slot moves, no node runs a command with several keys of which one is missing. */
  protected orOfOneKey<T>(step: Promise<T>, alone: () => Promise<T>): Promise<T> {
    return step.catch((trouble: unknown) => {
      if (!isMoving(trouble)) throw trouble
      return alone()
    })
  }

  async setLevel(owner: string, level: number, lease: number): Promise<number | undefined> {
    const left = await this.runner.run(lockSetLevel, [this.key], [owner, level, lease])
    return left === -2 ? undefined : left
  }

  async pass(from: string, to: string, lease: number): Promise<boolean> {
    return isPassed(await this.runner.take(lockPass, [this.key], [from, to, lease], isPassed))
  }
}

/** The askers; whether they join the line, and until when; whether the script may let one of them acquire the lock (`take`). */
export interface Question {
  readonly askers: readonly Asker[]
  readonly joins: 0 | 1
  readonly notAfter: number
  readonly news: News
  readonly how: 'run' | 'take'
}

export const wordsOf = (askers: readonly Asker[]): string[] => {
  const words: string[] = []
  for (const { owner, lease } of askers) words.push(owner, String(lease))
  return words
}

/**
 * A lock whose waiters in holdfast's clients wait in a line beside Redisson's keys. Its `ask.lua` serves both new askers and those in the
 * line.
 */
export abstract class LinedProtocol extends HashProtocol implements LineProtocol {
  /** Runs the script that acquires a free lock; -2: it is free, but others may come first. */
  protected abstract takeFree(owner: string, lease: number): Promise<Attempt>
  protected abstract ask(question: Question): Promise<Answer<number>>
  /** Releases the hold, or leaves the place; 1: it was a hold. */
  protected abstract giveBack(owner: string, served: readonly string[], visits: number): Promise<number>
  abstract grants(client: string): string
  abstract confirm(owner: string, lease: number): Promise<number>

  /** The argument of `readCounts` in the scripts. */
  protected counts(visits: number): number {
    return 4 * visits + (this.runner.countsAll ? 2 : 0) + (this.runner.mayBeCounted(this.channel) ? 1 : 0)
  }

  async acquire(owner: string, lease: number): Promise<Attempt> {
    const left = await this.takeFree(owner, lease)
    if (left !== -2) return left
    // The next waiter may be dead.
    const askers = [{ owner, lease, wait: 0 }]
    const answer = await this.ask({ askers, joins: 0, notAfter: NEVER_TOO_LATE, news: 0, how: 'take' })
    return answer.states[0] === 1 ? 'held' : answer.left
  }

  async enqueue(askers: readonly Asker[], notAfter: number): Promise<Answer<JoinState>> {
    return asJoined(await this.ask({ askers, joins: 1, notAfter, news: 0, how: 'run' }))
  }

  async poll(askers: readonly Asker[], news: News): Promise<Answer<PlaceState>> {
    return asPlaces(await this.ask({ askers, joins: 0, notAfter: TOO_LATE, news, how: 'run' }))
  }

  release(owner: string, served: readonly string[] = [], visits = 1): Promise<number> {
    // An owner that was still in the line lost the lock while it was on trial.
    return this.giveBack(owner, served, visits).then((freed) => (freed === 1 ? 1 : NOT_HELD))
  }

  leave({ owner }: Asker): Promise<number> {
    return this.giveBack(owner, [], 1)
  }
}

type LineKeys = readonly [lock: string, queue: string, deadlines: string, turn: string]

/** For the hash of a plain lock, where each process has one place in the line. */
export abstract class HashLineProtocol extends LinedProtocol {
  readonly standsOnce = true
  protected readonly keys: LineKeys = [this.key, lineQueue(this.key), lineDeadlines(this.key), lineTurn(this.key)]
  /** The key that counts tokens, if the lock has them, and the newest token that is known. */
  protected readonly counter: readonly string[] = []
  protected readonly newest: bigint = 0n

  /** Called with the token that a reply brought. */
  protected brought(_owner: string, _token: string | null): void {
    // A plain lock has none.
  }

  /** What `inspect` returns besides. */
  protected counted(_token: string | null): Pick<ServerState, 'token'> {
    return {}
  }

  get #line(): [lock: string, queue: string, deadlines: string] {
    const [lock, queue, deadlines] = this.keys
    return [lock, queue, deadlines]
  }

  get #voices(): [channel: string, grants: string, publish: string] {
    return [this.channel, lineGrants(this.key), this.runner.publishCommand]
  }

  override grants(client: string): string {
    return `${lineGrants(this.key)}:${client}`
  }

  protected override async ask({ askers, joins, notAfter, news, how }: Question): Promise<Answer<number>> {
    const keys = [...this.keys, ...this.counter] as const
    const args = [String(joins), notAfter, ...this.#voices, news, String(this.newest), ...wordsOf(askers)] as const
    const [stamp, left, open, share, token, states] = await (how === 'run'
      ? this.runner.run(lockAsk, keys, args)
      : this.runner.take(lockAsk, keys, args, ([, , , , , [state]]) => state === 1))
    if (askers[0] !== undefined) this.brought(askers[0].owner, token)
    return { stamp: Number(stamp), left, open, share, states }
  }

  override async confirm(owner: string, lease: number): Promise<number> {
    const args = [owner, lease, String(this.newest)] as const
    const [left, token] = await this.runner.take(lockConfirm, [...this.#line, ...this.counter], args, ([ms]) => ms > 0)
    this.brought(owner, token)
    return left
  }

  override release(owner: string, served?: readonly string[], visits?: number): Promise<number> {
    return this.orOfOneKey(super.release(owner, served, visits), async () => {
      const freed = await this.runner.run(
        lockReleaseWhileSlotMoves,
        [this.key],
        [owner, this.channel, this.runner.publishCommand],
      )
      return freed === 1 ? 1 : NOT_HELD
    })
  }

  protected override giveBack(owner: string, _served: readonly string[], visits: number): Promise<number> {
    const counts = this.counts(visits)
    if (this.counter.length === 0) return this.runner.run(lockRelease, this.keys, [owner, ...this.#voices, counts])
    const args = [owner, ...this.#voices, counts, String(this.newest)] as const
    return this.runner.run(lockRelease, [...this.keys, ...this.counter], args)
  }

  async forceRelease(): Promise<boolean> {
    return (await this.runner.run(lockForceRelease, this.#line, this.#voices)) === 1
  }

  async inspect(briefly?: boolean): Promise<ServerState> {
    const [state, token] = await inspectLine(this.runner, [...this.#line, ...this.counter], briefly)
    return { ...state, ...this.counted(token) }
  }
}

/** Redisson's RLock. */
class PlainLockProtocol extends HashLineProtocol {
  protected override takeFree(owner: string, lease: number): Promise<Attempt> {
    const [lock, queue, , turn] = this.keys
    return this.orOfOneKey(this.runner.take(lockAcquire, [lock, queue, turn], [owner, lease], isHeld), () =>
      this.runner.take(spinLockAcquire, [lock], [owner, lease], isHeld),
    )
  }
}

export const plainLock: LockKind = {
  name: 'lock',
  family: 'lock',
  reentrant: true,
  protocol: (runner, key) => new PlainLockProtocol(runner, key),
}
