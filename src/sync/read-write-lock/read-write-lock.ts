import { type Attempt, isHeld, isPassed, type LockKind, type Runner, type ServerState } from '../../core/protocol.js'
import { ReadGate } from '../../core/read-gate.js'
import type { ReadProtocol } from '../../core/read-protocol.js'
import { WriteGate } from '../../core/write-gate.js'
import { EngineError } from '../../errors.js'
import { readCompanion, readLevels, readWriteChannel, readWriteTurn } from '../../keys.js'
import {
  readWriteLockForceRelease,
  readWriteLockInspect,
  readWriteLockLeave,
  readWriteLockReadAcquire,
  readWriteLockReadPass,
  readWriteLockReadRelease,
  readWriteLockReadRenew,
  readWriteLockReadSetLevel,
  readWriteLockWriteAcquire,
  readWriteLockWritePass,
  readWriteLockWriteRelease,
} from '../../lua/scripts.gen.js'
import { HashProtocol } from '../lock/lock.js'

/** How long a turn is kept for who goes on asking, ms: longer than from poll to poll. */
const PATIENCE = 2500
/** How long it is kept from when the lock is free, ms. */
const GRACE = 400
/** How many parts are looked at where it is only asked whether anybody reads. */
const BRIEF = 2
/** Redisson's mark of a writer, behind its owner. */
export const WRITE = ':write'

export const MESSAGES = { read: '0', write: '1' } as const

/**
 * Redisson's RReadWriteLock: a hash with the mode, a field for each reader and one for the writer. Each read has keys of
 * its own, which end with it. A key of ours tells who comes next where readers and writers wait for one another.
 */
export abstract class Side extends HashProtocol {
  protected abstract readonly mode: 'read' | 'write'
  /** The mark under which this process has the next turn, for all it knows. */
  #mark: string | undefined

  override get channel(): string {
    return readWriteChannel(this.key)
  }

  protected get turn(): string {
    return readWriteTurn(this.key)
  }

  protected get companion(): string {
    return readCompanion(this.key)
  }

  /** Empty: it does not wait. */
  protected markOf(owner: string, waits: boolean): string {
    const mark = `${this.mode}:${owner}`
    if (waits) this.#mark = mark
    return waits ? mark : ''
  }

  /** Whoever waited and has it now has had the turn. */
  protected answered(left: number | null, waits: boolean): Attempt {
    if (left === null && waits) this.#mark = undefined
    return left
  }

  giveUpTurn(): Promise<unknown> | undefined {
    const mark = this.#mark
    this.#mark = undefined
    if (mark === undefined) return undefined
    return this.runner.run(readWriteLockLeave, [this.turn, this.channel], [mark, this.runner.publishCommand])
  }

  override async forceRelease(): Promise<boolean> {
    const { mode, runner } = this
    const args = [mode, MESSAGES[mode], this.companion, GRACE, runner.publishCommand] as const
    return (await runner.run(readWriteLockForceRelease, [this.key, this.channel, this.turn], args)) === 1
  }

  override inspect(briefly?: boolean): Promise<ServerState> {
    return holdersInParts(briefly, async (from) => {
      const [ttl, next, fields, times] = await this.runner.run(readWriteLockInspect, [this.key], [this.companion, from])
      return { ttl, next, holders: readersAndWriter(ttl, fields, times) }
    })
  }
}

type Part = Pick<ServerState, 'ttl' | 'holders'> & { readonly next: string }

/**
 * No script goes through thousands of readers: each call shows some of them. `briefly`: one who lives is enough, and as many
 * dead ones as a few calls show count as one.
 */
export const holdersInParts = async (
  briefly: boolean | undefined,
  part: (from: string) => Promise<Part>,
): Promise<Pick<ServerState, 'ttl' | 'holders'>> => {
  const holders = new Map<string, ServerState['holders'][number]>()
  let told = await part('0')
  for (let calls = 1; ; calls++) {
    for (const holder of told.holders) holders.set(holder.owner, holder)
    const { ttl, next } = told
    if (next === '0' || (briefly === true && holders.size > 0)) return { ttl, holders: [...holders.values()] }
    if (briefly === true && calls === BRIEF) return { ttl, holders: [{ owner: '', count: 1, mode: 'read', left: ttl }] }
    told = await part(next)
  }
}

/** From the fields of the hash and their values in turn, and for how long each field's read goes on. */
export const readersAndWriter = (
  ttl: number,
  fields: readonly string[],
  times: readonly number[],
): ServerState['holders'] => {
  if (fields.length !== 2 * times.length) {
    throw new EngineError('BAD_REPLY', `the server answered with ${times.length} times for ${fields.length / 2} fields`)
  }
  return times.flatMap((time, i): ServerState['holders'] => {
    const owner = fields[2 * i] as string
    const count = Number(fields[2 * i + 1])
    if (owner.endsWith(WRITE)) return [{ owner, count, mode: 'write', left: ttl }]
    // Who died while reading is not there any more, though its field is.
    return time > 0 ? [{ owner, count, mode: 'read', left: time }] : []
  })
}

export class ReadSide extends Side implements ReadProtocol {
  protected readonly mode = 'read'
  readonly shared = true

  override get renewal() {
    return readWriteLockReadRenew
  }

  /** Each level has a key of its own. */
  weight(level: number): number {
    return Math.max(level, 1)
  }

  renewalKeys(owner: string): readonly string[] {
    return [this.key, readLevels(this.key, owner)]
  }

  override acquire(owner: string, lease: number): Promise<Attempt> {
    return this.acquireAll([[owner, lease]], false)
  }

  async acquireAll(
    owners: readonly (readonly [owner: string, lease: number])[],
    waits: boolean,
    writer = '',
  ): Promise<Attempt> {
    const [[first]] = owners as [[string, number]]
    const levels = owners.map(([owner]) => readLevels(this.key, owner))
    const told = owners.flatMap(([owner, lease]) => [owner, String(lease)])
    const args = [writer, this.markOf(first, waits), PATIENCE, GRACE, ...told] as const
    const left = await this.runner.take(readWriteLockReadAcquire, [this.key, this.turn, ...levels], args, isHeld)
    return this.answered(left, waits)
  }

  readerOf(writer: string): string {
    return writer.slice(0, -WRITE.length)
  }

  override async setLevel(owner: string, level: number, lease: number): Promise<number | undefined> {
    const keys = [this.key, readLevels(this.key, owner)] as const
    const left = await this.runner.run(readWriteLockReadSetLevel, keys, [owner, level, lease])
    return left === -2 ? undefined : left
  }

  override release(owner: string): Promise<number> {
    const keys = [this.key, this.channel, this.turn, readLevels(this.key, owner)] as const
    const args = [owner, this.companion, GRACE, this.runner.publishCommand] as const
    return this.runner.run(readWriteLockReadRelease, keys, args)
  }

  override async pass(from: string, to: string, lease: number): Promise<boolean> {
    const keys = [this.key, readLevels(this.key, from), readLevels(this.key, to)] as const
    const args = [from, to, lease, this.companion] as const
    return isPassed(await this.runner.take(readWriteLockReadPass, keys, args, isPassed))
  }
}

export class WriteSide extends Side {
  protected readonly mode = 'write'

  override async acquire(owner: string, lease: number, waits: boolean): Promise<Attempt> {
    const args = [owner, lease, this.markOf(owner, waits), PATIENCE, GRACE] as const
    return this.answered(await this.runner.take(readWriteLockWriteAcquire, [this.key, this.turn], args, isHeld), waits)
  }

  override release(owner: string): Promise<number> {
    const keys = [this.key, this.channel, this.turn] as const
    const args = [owner, this.companion, GRACE, this.runner.publishCommand] as const
    return this.runner.run(readWriteLockWriteRelease, keys, args)
  }

  override async pass(from: string, to: string, lease: number): Promise<boolean> {
    return isPassed(await this.runner.take(readWriteLockWritePass, [this.key], [from, to, lease], isPassed))
  }
}

const common = { reentrant: true } as const

export const readLock: LockKind = {
  ...common,
  name: 'readWriteLock.read',
  family: 'readWriteLock.read',
  mode: 'read',
  get rival() {
    return writeLock
  },
  protocol: (runner: Runner, key: string) => new ReadSide(runner, key),
  gate: (runtime, name, key) => new ReadGate(runtime, readLock, name, key),
}

export const writeLock: LockKind = {
  ...common,
  name: 'readWriteLock.write',
  family: 'readWriteLock.write',
  mode: 'write',
  mark: WRITE,
  rival: readLock,
  protocol: (runner: Runner, key: string) => new WriteSide(runner, key),
  gate: (runtime, name, key) => new WriteGate(runtime, writeLock, name, key),
}
