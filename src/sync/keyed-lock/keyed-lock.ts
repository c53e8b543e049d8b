import {
  type Attempt,
  isHeld,
  isPassed,
  type LockKind,
  type LockProtocol,
  type RenewScript,
  type Runner,
  type ServerState,
} from '../../core/protocol.js'
import { lockChannel } from '../../keys.js'
import {
  keyedLockAcquire,
  keyedLockForceRelease,
  keyedLockInspect,
  keyedLockPass,
  keyedLockRelease,
  keyedLockRenew,
  keyedLockSetLevel,
} from '../../lua/scripts.gen.js'
import { fieldOf } from './fields.js'
import { KeyedGate } from './keyed-gate.js'

/**
 * Redisson's RedissonFasterMultiLock: one hash for a group, with three fields for each key that is held: `h`, the owner;
 * `h:<owner>:expire_time`, until when, in ms since the epoch; `h:<owner>:lock_count`, how often. Ours go by the server's clock.
 */
class KeyedLockProtocol implements LockProtocol {
  readonly key: string
  readonly renewal: RenewScript = keyedLockRenew
  readonly divisible = true
  readonly #runner: Runner
  readonly #keys: readonly string[]
  readonly #fields: readonly string[]

  /** A field for each of the keys. */
  constructor(runner: Runner, group: string, keys: readonly string[], fields: readonly string[]) {
    this.#runner = runner
    this.key = group
    this.#keys = keys
    this.#fields = fields
  }

  get channel(): string {
    return lockChannel(this.key)
  }

  weight(): number {
    return this.#fields.length
  }

  renewalWords(owner: string): string {
    return [owner, ...this.#fields].join(' ')
  }

  acquire(owner: string, lease: number): Promise<Attempt> {
    const args = [owner, lease, ...this.#fields] as const
    return this.#runner.take(keyedLockAcquire, [this.key], args, isHeld)
  }

  async setLevel(owner: string, level: number, lease: number): Promise<number | undefined> {
    const left = await this.#runner.run(keyedLockSetLevel, [this.key], [owner, level, lease, ...this.#fields])
    return left === -2 ? undefined : left
  }

  release(owner: string): Promise<number> {
    const args = [owner, this.channel, this.#runner.publishCommand, ...this.#fields] as const
    return this.#runner.run(keyedLockRelease, [this.key], args)
  }

  async pass(from: string, to: string, lease: number): Promise<boolean> {
    const args = [from, to, lease, ...this.#fields] as const
    return isPassed(await this.#runner.take(keyedLockPass, [this.key], args, isPassed))
  }

  async forceRelease(): Promise<boolean> {
    const args = [this.channel, this.#runner.publishCommand, ...this.#fields] as const
    return (await this.#runner.run(keyedLockForceRelease, [this.key], args)) === 1
  }

  async inspect(): Promise<ServerState> {
    const [owners, left, counts] = await this.#runner.run(keyedLockInspect, [this.key], this.#fields)
    const places = (owner: string): number[] => [...owners.keys()].filter((place) => owners[place] === owner)
    const holders = [...new Set(owners)]
      .filter((owner) => owner !== '')
      .map((owner) => {
        const held = places(owner)
        const least = (numbers: readonly number[]): number => Math.min(...held.map((place) => numbers[place] as number))
        const keys = held.map((place) => this.#keys[place] as string)
        return { owner, count: least(counts), left: least(left), keys, partial: keys.length < this.#keys.length }
      })
    return { ttl: Math.max(-2, ...left.filter((ms) => ms > 0)), holders }
  }
}

const FAMILY = 'keyedLock'

/** What a key becomes before it is hashed. */
type KeyEncoder = (key: string) => string | Uint8Array

/** These keys of a group; a kind for each set of them. */
export const keyedLock = (keys: readonly string[], encode: KeyEncoder): LockKind => {
  const part = [...new Set(keys)].sort()
  const fields = part.map((key) => fieldOf(encode(key)))
  // A queue for each set; and what a ticket calls it.
  const family = `${FAMILY} ${JSON.stringify(part)}`
  const kind: LockKind = {
    name: FAMILY,
    family,
    ticket: family,
    part,
    reentrant: true,
    protocol: (runner, group) => new KeyedLockProtocol(runner, group, part, fields),
    gate: (runtime, name, key) => new KeyedGate(runtime, kind, name, key),
  }
  return kind
}

/** The kind that a ticket is of. */
export const keyedLockOf = (ticket: string, encode: KeyEncoder): LockKind | undefined => {
  const keys = keysIn(ticket)
  return keys && keyedLock(keys, encode)
}

const keysIn = (ticket: string): readonly string[] | undefined => {
  if (!ticket.startsWith(`${FAMILY} `)) return undefined
  try {
    const keys: unknown = JSON.parse(ticket.slice(FAMILY.length + 1))
    const whole = Array.isArray(keys) && keys.length > 0 && keys.every((key) => typeof key === 'string')
    return whole ? keys : undefined
  } catch {
    return undefined
  }
}
