import { hash } from 'node:crypto'
import type { Answer, Asker, JoinState, LineProtocol, News, PlaceState } from '../../core/protocol/line-protocol.js'
import {
  type Attempt,
  isHeld,
  isPassed,
  NOT_HELD,
  type RenewScript,
  type ServerState,
} from '../../core/protocol/protocol.js'
import { isMoving } from '../../core/server/error-kinds.js'
import { keyedDeadlines, keyedGrants, keyedQueue, keyedSets, keyedTurn, lockChannel } from '../../keys.js'
import { KEYED_PART } from '../../constants.js'
import {
  keyedLockAcquire,
  keyedLockAsk,
  keyedLockConfirm,
  keyedLockForceRelease,
  keyedLockInspect,
  keyedLockPass,
  keyedLockRelease,
  keyedLockRenew,
  keyedLockSetLevel,
} from '../../lua/scripts.gen.js'
import { NEVER_TOO_LATE, TOO_LATE, asJoined, asPlaces } from '../lock/lock.js'
import { fieldOf } from './field-of-key.js'
import { KeyedGate, type Impatient } from './keyed-gate.js'
import type { Runner } from '../../core/protocol/runner.js'
import type { LockKind } from '../../core/gate/lock-kind.js'

/** Keys, a field for each, all of these in one text, and what the channel of its grants is named by. */
interface KeySet {
  readonly keys: readonly string[]
  readonly fields: readonly string[]
  readonly set: string
  readonly mark: string
}

/** So much of the hash of a set names the channel where its grants are told. */
const MARK = 16

/**
 * Redisson's RedissonFasterMultiLock: one hash for a group, with three fields for each key that is held: `h`, the owner;
 * `h:<owner>:expire_time`, until when, in ms since the epoch; `h:<owner>:lock_count`, how often. Ours go by the server's clock.
 * Those of ours who wait stand in one line for the group, each process once for each set of keys.
 */
class KeyedLockProtocol implements LineProtocol, Impatient {
  passes: () => boolean = () => false
  readonly key: string
  readonly renewal: RenewScript = keyedLockRenew
  readonly divisible = true
  readonly standsOnce = true
  readonly #runner: Runner
  readonly #keys: readonly string[]
  readonly #fields: readonly string[]
  readonly #set: string
  readonly #mark: string
  readonly #line: readonly [group: string, queue: string, turn: string, sets: string, deadlines: string]

  constructor(runner: Runner, group: string, { keys, fields, set, mark }: KeySet) {
    this.#runner = runner
    this.key = group
    this.#keys = keys
    this.#fields = fields
    this.#set = set
    this.#mark = mark
    this.#line = [group, keyedQueue(group), keyedTurn(group), keyedSets(group), keyedDeadlines(group)]
  }

  get channel(): string {
    return lockChannel(this.key)
  }

  get #waiters(): [group: string, queue: string, deadlines: string, sets: string] {
    const [group, queue, , sets, deadlines] = this.#line
    return [group, queue, deadlines, sets]
  }

  get #voices(): [channel: string, grants: string, publish: string] {
    return [this.channel, keyedGrants(this.key), this.#runner.publishCommand]
  }

  grants(client: string): string {
    return `${keyedGrants(this.key)}:${client}:${this.#mark}`
  }

  weight(): number {
    return this.#fields.length
  }

  renewalWords(owner: string): string {
    return [owner, ...this.#fields].join(' ')
  }

  async acquire(owner: string, lease: number): Promise<Attempt> {
    const [group, queue, turn, sets] = this.#line
    const args = [owner, lease, ...this.#fields] as const
    let left: Attempt
    try {
      left = await this.#runner.take(keyedLockAcquire, [group, queue, turn, sets], args, isHeld)
    } catch (trouble) {
      if (!isMoving(trouble)) throw trouble
      left = await this.#runner.take(keyedLockAcquire, [group], args, isHeld)
    }
    if (left !== -2) return left
    // The next waiter for one of the keys may be dead.
    const { left: another, states } = await this.#ask({ owner, lease, wait: 0 }, 0, NEVER_TOO_LATE, { how: 'take' })
    return states[0] === 1 ? null : another
  }

  async #ask(
    { owner, lease }: Asker,
    joins: 0 | 1,
    notAfter: number,
    { news = 0, how = 'run' }: { news?: News; how?: 'run' | 'take' },
  ): Promise<Answer<number>> {
    const keys = this.#line
    const args = [
      String(joins),
      notAfter,
      ...this.#voices,
      news,
      this.passes() ? 1 : 0,
      this.#set,
      owner,
      String(lease),
    ] as const
    const [stamp, left, open, share, states] = await (how === 'run'
      ? this.#runner.run(keyedLockAsk, keys, args)
      : this.#runner.take(keyedLockAsk, keys, args, ([, , , , [state]]) => state === 1))
    return { stamp: Number(stamp), left, open, share, states }
  }

  /** A process stands in the line once for this set: there is hardly ever more than one. */
  async #askAll(askers: readonly Asker[], joins: 0 | 1, notAfter: number, news: News): Promise<Answer<number>> {
    const [first, ...others] = askers as readonly [Asker, ...Asker[]]
    let answer = await this.#ask(first, joins, notAfter, { news })
    for (const asker of others) {
      const { states, ...told } = await this.#ask(asker, joins, notAfter, { news })
      answer = { ...told, states: [...answer.states, ...states] }
    }
    return answer
  }

  async enqueue(askers: readonly Asker[], notAfter: number): Promise<Answer<JoinState>> {
    return asJoined(await this.#askAll(askers, 1, notAfter, 0))
  }

  async poll(askers: readonly Asker[], news: News): Promise<Answer<PlaceState>> {
    return asPlaces(await this.#askAll(askers, 0, TOO_LATE, news))
  }

  confirm(owner: string, lease: number): Promise<number> {
    return this.#runner.take(keyedLockConfirm, this.#waiters, [owner, lease, this.#set], (left) => left > 0)
  }

  async setLevel(owner: string, level: number, lease: number): Promise<number | undefined> {
    const left = await this.#runner.run(keyedLockSetLevel, [this.key], [owner, level, lease, ...this.#fields])
    return left === -2 ? undefined : left
  }

  async release(owner: string, _served?: readonly string[], visits = 1): Promise<number> {
    // Who only stood in the line had lost them while they were on trial.
    return (await this.#leave(owner, visits)) === 1 ? 1 : NOT_HELD
  }

  leave({ owner }: Asker): Promise<number> {
    return this.#leave(owner, 1)
  }

  /** While a slot of a cluster moves, no node runs what has several keys, one of which is not there. */
  async #leave(owner: string, visits: number): Promise<number> {
    const { countsAll } = this.#runner
    const own = this.#runner.mayBeCounted(this.channel) ? 1 : 0
    const args = [owner, ...this.#voices, countsAll ? '1' : '0', own, visits, ...this.#fields] as const
    try {
      return await this.#runner.run(keyedLockRelease, this.#line, args)
    } catch (trouble) {
      if (!isMoving(trouble)) throw trouble
      return this.#runner.run(keyedLockRelease, [this.key], args)
    }
  }

  async pass(from: string, to: string, lease: number): Promise<boolean> {
    const args = [from, to, lease, ...this.#fields] as const
    return isPassed(await this.#runner.take(keyedLockPass, [this.key], args, isPassed))
  }

  async forceRelease(): Promise<boolean> {
    const args = [...this.#voices, ...this.#fields] as const
    return (await this.#runner.run(keyedLockForceRelease, this.#waiters, args)) === 1
  }

  async inspect(briefly?: boolean): Promise<ServerState> {
    const ask = (first: number) => this.#runner.run(keyedLockInspect, this.#waiters, [first, ...this.#fields])
    const [owners, left, counts, ...line] = await ask(0)
    const places = (owner: string): number[] => [...owners.keys()].filter((place) => owners[place] === owner)
    const holders = [...new Set(owners)]
      .filter((owner) => owner !== '')
      .map((owner) => {
        const held = places(owner)
        const keys = held.map((place) => this.#keys[place] as string)
        return { owner, count: Math.min(...held.map((place) => counts[place] as number)), keys }
      })
    const state = { ttl: Math.max(-2, ...left.filter((ms) => ms > 0)), holders }
    return briefly === true ? state : { ...state, waiting: await this.#waiting(holders, line, ask) }
  }

  /** Those in the line who want one of these keys, and do not hold it already. */
  async #waiting(
    holders: ServerState['holders'],
    first: Waiting,
    ask: (first: number) => Promise<readonly [unknown, unknown, unknown, ...Waiting]>,
  ): Promise<NonNullable<ServerState['waiting']>> {
    const waiting = new Map<string, NonNullable<ServerState['waiting']>[number]>()
    let [pairs, wants]: Waiting = first
    for (let from = KEYED_PART; ; from += KEYED_PART) {
      wants.forEach((set, i) => {
        const keys = this.#amongOurs(set)
        const [owner, deadline] = [pairs[2 * i] as string, Math.floor(Number(pairs[2 * i + 1]))]
        if (keys.length > 0 && !holders.some((holder) => holder.owner === owner))
          waiting.set(owner, { owner, deadline, keys })
      })
      if (wants.length < KEYED_PART) return [...waiting.values()]
      ;[, , , pairs, wants] = await ask(from)
    }
  }

  /** Which of these keys are in that set. */
  #amongOurs(set: string): readonly string[] {
    const wanted = new Set(set.split(' '))
    return this.#keys.filter((_, i) => wanted.has(this.#fields[i] as string))
  }
}

/** Owners, each with its deadline; and what each wants. */
type Waiting = readonly [pairs: readonly string[], wants: readonly string[]]

const FAMILY = 'keyedLock'

/** What a key becomes before it is hashed. */
type KeyEncoder = (key: string) => string | Uint8Array

/** These keys of a group; a kind for each set of them. */
export const keyedLock = (keys: readonly string[], encode: KeyEncoder): LockKind => {
  const part = [...new Set(keys)].sort()
  const fields = part.map((key) => fieldOf(encode(key)))
  const set = fields.join(' ')
  const keySet: KeySet = { keys: part, fields, set, mark: hash('sha1', set, 'hex').slice(0, MARK) }
  // A queue for each set.
  const family = `${FAMILY} ${JSON.stringify(part)}`
  const kind: LockKind = {
    name: FAMILY,
    family,
    part,
    reentrant: true,
    protocol: (runner, group) => new KeyedLockProtocol(runner, group, keySet),
    gate: (home, name, key) => new KeyedGate(home, kind, name, key),
  }
  return kind
}
