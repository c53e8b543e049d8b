import { platform } from '#platform'
import type { Answer } from '../../core/protocol/line-protocol.js'
import { type Attempt, isHeld, isPassed, NO_LINE, type ServerState, SHOWN } from '../../core/protocol/lock-protocol.js'
import { keyedDeadlines, keyedGrants, keyedQueue, keyedSets, keyedTurn } from '../../keys.js'
import { KEYED_PART } from '../../script-times-and-limits.js'
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
import { LinedProtocol, type Question, wordsOf } from '../lock/lock.js'
import { fieldOf } from './field-of-key.js'
import { KeyedGate, type Impatient } from './keyed-gate.js'
import type { ScriptRunner } from '../../core/protocol/script-runner.js'
import type { LockKind } from '../../core/gate/lock-kind.js'

/** The keys; the field of each; all fields as one text; and the part of a channel's name that stands for the set. */
interface KeySet {
  readonly keys: readonly string[]
  readonly fields: readonly string[]
  readonly set: string
  readonly mark: string
}

/** How many characters of the hash of a set name the channel of its grants. */
const MARK = 16

/**
 * Redisson's RedissonFasterMultiLock: one hash for a group, with three fields for each key that is held: `h`, the owner;
 * `h:<owner>:expire_time`, until when, in ms since the epoch; `h:<owner>:lock_count`, how many times. Holdfast's clients use the
 * server's clock. Their waiters wait in one line for the group, each process once for each set of keys.
 */
class KeyedLockProtocol extends LinedProtocol implements Impatient {
  passes: () => boolean = () => false
  readonly divisible = true
  readonly standsOnce = true
  readonly #keys: readonly string[]
  readonly #fields: readonly string[]
  readonly #set: string
  readonly #mark: string
  readonly #line: readonly [group: string, queue: string, turn: string, sets: string, deadlines: string]

  constructor(runner: ScriptRunner, group: string, { keys, fields, set, mark }: KeySet) {
    super(runner, group)
    this.#keys = keys
    this.#fields = fields
    this.#set = set
    this.#mark = mark
    this.#line = [group, keyedQueue(group), keyedTurn(group), keyedSets(group), keyedDeadlines(group)]
  }

  override get renewal() {
    return keyedLockRenew
  }

  get #waiters(): [group: string, queue: string, deadlines: string, sets: string] {
    const [group, queue, , sets, deadlines] = this.#line
    return [group, queue, deadlines, sets]
  }

  get #voices(): [channel: string, grants: string, publish: string] {
    return [this.channel, keyedGrants(this.key), this.runner.publishCommand]
  }

  override grants(client: string): string {
    return `${keyedGrants(this.key)}:${client}:${this.#mark}`
  }

  weight(): number {
    return this.#fields.length
  }

  renewalWords(owner: string): string {
    return [owner, ...this.#fields].join(' ')
  }

  protected override takeFree(owner: string, lease: number): Promise<Attempt> {
    const [group, queue, turn, sets] = this.#line
    const args = [owner, lease, ...this.#fields] as const
    const take = this.runner.take(keyedLockAcquire, [group, queue, turn, sets], args, isHeld)
    return this.orOfOneKey(take, () => this.runner.take(keyedLockAcquire, [group], args, isHeld))
  }

  /** A process has one place in the line for this set, so there is hardly ever more than one asker. */
  protected override async ask({ askers, joins, notAfter, news, how }: Question): Promise<Answer<number>> {
    const answers: Answer<number>[] = []
    for (const words of askers.map((asker) => wordsOf([asker]) as [owner: string, lease: string])) {
      const passes = this.passes() ? 1 : 0
      const args = [String(joins), notAfter, ...this.#voices, news, passes, this.#set, ...words] as const
      const [stamp, left, open, share, states] = await (how === 'run'
        ? this.runner.run(keyedLockAsk, this.#line, args)
        : this.runner.take(keyedLockAsk, this.#line, args, ([, , , , [state]]) => state === 1))
      answers.push({ stamp: Number(stamp), left, open, share, states })
    }
    return { ...(answers.at(-1) as Answer<number>), states: answers.flatMap(({ states }) => states) }
  }

  override confirm(owner: string, lease: number): Promise<number> {
    return this.runner.take(keyedLockConfirm, this.#waiters, [owner, lease, this.#set], (left) => left > 0)
  }

  override async setLevel(owner: string, level: number, lease: number): Promise<number | undefined> {
    const left = await this.runner.run(keyedLockSetLevel, [this.key], [owner, level, lease, ...this.#fields])
    return left === -2 ? undefined : left
  }

  protected override giveBack(owner: string, _served: readonly string[], visits: number): Promise<number> {
    const args = [owner, ...this.#voices, this.counts(visits), ...this.#fields] as const
    const step = this.runner.run(keyedLockRelease, this.#line, args)
    return this.orOfOneKey(step, () => this.runner.run(keyedLockRelease, [this.key], args))
  }

  override async pass(from: string, to: string, lease: number): Promise<boolean> {
    const args = [from, to, lease, ...this.#fields] as const
    return isPassed(await this.runner.take(keyedLockPass, [this.key], args, isPassed))
  }

  override async forceRelease(): Promise<boolean> {
    const args = [...this.#voices, ...this.#fields] as const
    return (await this.runner.run(keyedLockForceRelease, this.#waiters, args)) === 1
  }

  override async inspect(briefly?: boolean): Promise<ServerState> {
    const ask = (first: number) => this.runner.run(keyedLockInspect, this.#waiters, [first, ...this.#fields])
    const [owners, left, counts, ...line] = await ask(briefly === true ? NO_LINE : 0)
    const held = new Map<string, number[]>()
    owners.forEach((owner, place) => {
      const places = held.get(owner)
      if (places !== undefined) places.push(place)
      else if (owner !== '') held.set(owner, [place])
    })
    const holders = [...held].map(([owner, places]) => {
      const keys = places.map((place) => this.#keys[place] as string)
      const least = (of: readonly number[]): number => Math.min(...places.map((place) => of[place] as number))
      return { owner, count: least(counts), left: least(left), keys }
    })
    const state = { ttl: Math.max(-2, ...left.filter((ms) => ms > 0)), holders }
    return briefly === true ? state : { ...state, ...(await this.#waiting(held, line, ask)) }
  }

  /** The waiters that want one of these keys and do not hold it already. */
  async #waiting(
    holders: ReadonlyMap<string, unknown>,
    first: Waiting,
    ask: (first: number) => Promise<readonly [unknown, unknown, unknown, ...Waiting]>,
  ): Promise<Pick<ServerState, 'waiting' | 'more'>> {
    const waiting = new Map<string, NonNullable<ServerState['waiting']>[number]>()
    let [pairs, wants]: Waiting = first
    for (let from = KEYED_PART; from <= SHOWN; from += KEYED_PART) {
      wants.forEach((set, i) => {
        const keys = this.#amongOurs(set)
        const [owner, deadline] = [pairs[2 * i] as string, Math.floor(Number(pairs[2 * i + 1]))]
        if (keys.length > 0 && !holders.has(owner)) waiting.set(owner, { owner, deadline, keys })
      })
      if (wants.length < KEYED_PART) return { waiting: [...waiting.values()] }
      ;[, , , pairs, wants] = await ask(from)
    }
    return { waiting: [...waiting.values()], ...(wants.length > 0 && { more: true }) }
  }

  /** Which of these keys are in that set. */
  #amongOurs(set: string): readonly string[] {
    const wanted = new Set(set.split(' '))
    return this.#keys.filter((_, i) => wanted.has(this.#fields[i] as string))
  }
}

/** Owners, each with its deadline; and what each one wants. */
type Waiting = readonly [pairs: readonly string[], wants: readonly string[]]

const FAMILY = 'keyedLock'

/** Encodes a key before it is hashed. */
type KeyEncoder = (key: string) => string | Uint8Array

/** The lock of these keys of a group. Each set of keys is a kind of its own. */
export const keyedLock = (keys: readonly string[], encode: KeyEncoder): LockKind => {
  // A codec may write two keys alike: they are one key on the server, which counts each field of a set once.
  const keyOf = new Map<string, string>()
  for (const key of [...new Set(keys)].sort()) {
    const field = fieldOf(encode(key))
    if (!keyOf.has(field)) keyOf.set(field, key)
  }
  const [fields, named] = [[...keyOf.keys()], [...keyOf.values()]]
  const set = fields.join(' ')
  const keySet: KeySet = { keys: named, fields, set, mark: platform.hash('sha1', set).slice(0, MARK) }
  const kind: LockKind = {
    name: FAMILY,
    // A gate for each set.
    family: `${FAMILY} ${set}`,
    part: new Set(fields),
    keys: named,
    reentrant: true,
    protocol: (runner, group) => new KeyedLockProtocol(runner, group, keySet),
    gate: (home, name, key) => new KeyedGate(home, kind, name, key),
  }
  return kind
}
