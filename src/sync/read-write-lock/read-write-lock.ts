import type { Answer } from '../../core/protocol/line-protocol.js'
import { type Attempt, isHeld, isPassed, NO_LINE, type ServerState, SHOWN } from '../../core/protocol/lock-protocol.js'
import { ReadGate } from './read-gate.js'
import type { ReadProtocol } from './read-protocol.js'
import type { WriteProtocol } from './write-protocol.js'
import { WriteGate } from './write-gate.js'
import { EngineError } from '../../errors.js'
import {
  readCompanion,
  readLevels,
  readWriteChannel,
  readWriteDeadlines,
  readWriteGrants,
  readWriteQueue,
  readWriteTurn,
} from '../../keys.js'
import {
  readWriteLockAcquire,
  readWriteLockAsk,
  readWriteLockConfirm,
  readWriteLockForceRelease,
  readWriteLockInspect,
  readWriteLockReadPass,
  readWriteLockReadRenew,
  readWriteLockReadSetLevel,
  readWriteLockReadUnderWrite,
  readWriteLockRelease,
  readWriteLockSteal,
  readWriteLockWritePass,
} from '../../lua/scripts.gen.js'
import { waitersInParts } from '../lock/inspect-line.js'
import { LinedProtocol, type Question, wordsOf } from '../lock/lock.js'
import type { ScriptRunner } from '../../core/protocol/script-runner.js'
import type { LockKind } from '../../core/gate/lock-kind.js'

/** How many parts to look at if the question is only whether there is a reader. */
const BRIEF = 2
/** How many parts to look at for all readers, including dead ones and fields of other programs. */
const LOOKS = 40
/** Redisson's mark of a writer, after its owner. */
export const WRITE = ':write'

const MESSAGES = { read: '0', write: '1' } as const

/**
 * Redisson's RReadWriteLock: a hash with the mode, a field for each reader and one for the writer. Each read has its own keys,
 * which expire with it. The waiters of holdfast's clients, readers and writers, are in one line beside Redisson's keys: each
 * reader; and each writer if the lock is fair, else each process that writes.
 */
abstract class Side extends LinedProtocol {
  protected abstract readonly mode: 'read' | 'write'
  readonly standsOnce: boolean

  constructor(runner: ScriptRunner, key: string, standsOnce: boolean) {
    super(runner, key, readWriteChannel(key))
    this.standsOnce = standsOnce
  }

  protected get companion(): string {
    return readCompanion(this.key)
  }

  get #line(): [lock: string, queue: string, deadlines: string] {
    return [this.key, readWriteQueue(this.key), readWriteDeadlines(this.key)]
  }

  get #voices(): [grants: string, publish: string] {
    return [readWriteGrants(this.key), this.runner.publishCommand]
  }

  override grants(client: string): string {
    return `${readWriteGrants(this.key)}:${client}${this.mode === 'write' ? WRITE : ''}`
  }

  protected override takeFree(owner: string, lease: number): Promise<Attempt> {
    const keys = [this.key, readWriteQueue(this.key), readWriteTurn(this.key)] as const
    return this.runner.take(readWriteLockAcquire, keys, [owner, lease, this.companion], isHeld)
  }

  protected override async ask({ askers, joins, notAfter, news, how }: Question): Promise<Answer<number>> {
    const keys = [...this.#line, readWriteTurn(this.key)] as const
    const args = [String(joins), notAfter, this.companion, ...this.#voices, news, ...wordsOf(askers)] as const
    const [stamp, left, open, share, states] = await (how === 'run'
      ? this.runner.run(readWriteLockAsk, keys, args)
      : this.runner.take(readWriteLockAsk, keys, args, ([, , , , [state]]) => state === 1))
    return { stamp: Number(stamp), left, open, share, states }
  }

  override confirm(owner: string, lease: number): Promise<number> {
    return this.runner.take(readWriteLockConfirm, this.#line, [owner, lease, this.companion], (left) => left > 0)
  }

  protected override giveBack(owner: string, served: readonly string[], visits: number): Promise<number> {
    const keys = [...this.#line, readWriteTurn(this.key)] as const
    const args = [this.companion, this.channel, ...this.#voices, this.counts(visits), owner] as const
    return this.runner.run(readWriteLockRelease, keys, [...args, ...served])
  }

  override async forceRelease(): Promise<boolean> {
    const { mode } = this
    const args = [mode, MESSAGES[mode], this.companion, this.channel, ...this.#voices] as const
    return (await this.runner.run(readWriteLockForceRelease, this.#line, args)) === 1
  }

  override async inspect(briefly?: boolean, owner = ''): Promise<ServerState> {
    const ask = (from: string, first: number) =>
      this.runner.run(readWriteLockInspect, this.#line, [this.companion, from, first, owner])
    const held = await holdersInParts(briefly, async (from) => {
      const [ttl, next, fields, times] = await ask(from, NO_LINE)
      return { ttl, next, holders: readersAndWriter(fields, times) }
    })
    if (briefly === true) return held
    const next = async (first: number): Promise<readonly string[]> => (await ask('', first))[4]
    const line = await waitersInParts(await next(0), next)
    return { ...held, ...line, ...((held.more ?? line.more) === true && { more: true }) }
  }
}

type Part = Pick<ServerState, 'ttl' | 'holders'> & { readonly next: string }

/**
 * No script goes through thousands of readers: each call returns some of them. `briefly`: one live reader is enough. If a few calls
 * show only dead ones, they count as one reader.
 */
const holdersInParts = async (
  briefly: boolean | undefined,
  part: (from: string) => Promise<Part>,
): Promise<Pick<ServerState, 'ttl' | 'holders' | 'more'>> => {
  const holders = new Map<string, ServerState['holders'][number]>()
  let told = await part('0')
  for (let calls = 1; ; calls++) {
    for (const holder of told.holders) holders.set(holder.owner, holder)
    const { ttl, next } = told
    const all = next === '0'
    if (all || holders.size >= SHOWN || calls === LOOKS || (briefly === true && holders.size > 0)) {
      const shown = [...holders.values()].slice(0, SHOWN)
      return { ttl, holders: shown, ...((!all || holders.size > SHOWN) && { more: true }) }
    }
    if (briefly === true && calls === BRIEF) return { ttl, holders: [{ owner: '', count: 1, mode: 'read' }] }
    told = await part(next)
  }
}

/** Reads the holders from the fields of the hash with their values, and from the time that each field's read has left. */
const readersAndWriter = (fields: readonly string[], times: readonly number[]): ServerState['holders'] => {
  if (fields.length !== 2 * times.length) {
    throw new EngineError('BAD_REPLY', `the server answered with ${times.length} times for ${fields.length / 2} fields`)
  }
  return times.flatMap((time, i): ServerState['holders'] => {
    const owner = fields[2 * i] as string
    const count = Number(fields[2 * i + 1])
    if (owner.endsWith(WRITE)) return [{ owner, count, mode: 'write' }]
    // A reader that died is left out, although its field is still there.
    return time > 0 ? [{ owner, count, mode: 'read', left: time }] : []
  })
}

class ReadSide extends Side implements ReadProtocol {
  protected readonly mode = 'read'
  readonly shared = true

  /** Each reader has its own place in the line. Readers next to each other are let in together. */
  constructor(runner: ScriptRunner, key: string) {
    super(runner, key, false)
  }

  override get renewal() {
    return readWriteLockReadRenew
  }

  /** Each level has its own key. */
  weight(level: number): number {
    return Math.max(level, 1)
  }

  renewalKeys(owner: string): readonly string[] {
    return [this.key, readLevels(this.key, owner)]
  }

  readUnder(writer: string, owner: string, lease: number): Promise<Attempt> {
    const keys = [this.key, readLevels(this.key, owner)] as const
    return this.runner.take(readWriteLockReadUnderWrite, keys, [writer, owner, lease], isHeld)
  }

  readerOf(writer: string): string {
    return writer.slice(0, -WRITE.length)
  }

  override async setLevel(owner: string, level: number, lease: number): Promise<number | undefined> {
    const keys = [this.key, readLevels(this.key, owner)] as const
    const left = await this.runner.run(readWriteLockReadSetLevel, keys, [owner, level, lease])
    return left === -2 ? undefined : left
  }

  override async pass(from: string, to: string, lease: number): Promise<boolean> {
    const keys = [this.key, readLevels(this.key, from), readLevels(this.key, to)] as const
    const args = [from, to, lease, this.companion] as const
    return isPassed(await this.runner.take(readWriteLockReadPass, keys, args, isPassed))
  }
}

class WriteSide extends Side implements WriteProtocol {
  protected readonly mode = 'write'

  steal(owner: string, lease: number): Promise<number> {
    const keys = [this.key, readWriteQueue(this.key), readWriteDeadlines(this.key), readWriteTurn(this.key)] as const
    return this.runner.take(readWriteLockSteal, keys, [owner, lease, this.companion], () => true)
  }

  override async pass(from: string, to: string, lease: number): Promise<boolean> {
    return isPassed(await this.runner.take(readWriteLockWritePass, [this.key], [from, to, lease], isPassed))
  }
}

/** Both sides of the read-write lock of this name. `fair`: each writer has its own place in the line. */
const sides = (name: string, fair: boolean): { readonly read: LockKind; readonly write: LockKind } => {
  const read: LockKind = {
    name: `${name}.read`,
    family: `${name}.read`,
    reentrant: true,
    mode: 'read',
    get rival() {
      return write
    },
    protocol: (runner: ScriptRunner, key: string) => new ReadSide(runner, key),
    gate: (home, lock, key) => new ReadGate(home, read, lock, key),
  }
  const write: LockKind = {
    name: `${name}.write`,
    family: `${name}.write`,
    reentrant: true,
    mode: 'write',
    mark: WRITE,
    rival: read,
    protocol: (runner: ScriptRunner, key: string) => new WriteSide(runner, key, !fair),
    gate: (home, lock, key) => new WriteGate(home, write, lock, key),
  }
  return { read, write }
}

export const { read: readLock, write: writeLock } = sides('readWriteLock', false)
export const { read: fairReadLock, write: fairWriteLock } = sides('fairReadWriteLock', true)
