import type { Answer, Asker, Joined, LineProtocol, Place } from '../../core/line-protocol.js'
import { type Attempt, isHeld, type LockKind, NOT_HELD, type Runner, type ServerState } from '../../core/protocol.js'
import { ReadGate } from '../../core/read-gate.js'
import { WriteGate } from '../../core/write-gate.js'
import { readLevels, readWriteDeadlines, readWriteGrants, readWriteQueue } from '../../keys.js'
import {
  fairReadWriteLockAsk,
  fairReadWriteLockConfirm,
  fairReadWriteLockForceRelease,
  fairReadWriteLockInspect,
  fairReadWriteLockLeave,
  fairReadWriteLockReadUnder,
} from '../../lua/scripts.gen.js'
import { waitersInParts } from '../fair-lock/fair-keys.js'
import {
  MESSAGES,
  ReadSide,
  type Side,
  WRITE,
  WriteSide,
  holdersInParts,
  readersAndWriter,
} from '../read-write-lock/read-write-lock.js'

/** Who has no place asks in vain. */
const TOO_LATE = 0
const NEVER_TOO_LATE = Number.MAX_SAFE_INTEGER
const JOINED: readonly Joined[] = ['behind others', 'held', 'late', 'behind ours']
const PLACES: readonly Place[] = ['behind others', 'held', 'gone', 'behind ours']

/**
 * Redisson's RReadWriteLock, whose waiters of ours stand in one line, readers and writers, beside Redisson's keys. Whoever
 * ends a read or a write lets in who is first there.
 */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- what TypeScript wants of a mixin
const inLine = <S extends new (...args: any[]) => Side>(PlainSide: S) =>
  class extends PlainSide implements LineProtocol {
    declare protected readonly mode: 'read' | 'write'

    get #keys(): [lock: string, queue: string, deadlines: string] {
      return [this.key, readWriteQueue(this.key), readWriteDeadlines(this.key)]
    }

    get #voices(): [companion: string, grants: string, publish: string] {
      return [this.companion, readWriteGrants(this.key), this.runner.publishCommand]
    }

    grants(client: string): string {
      return `${readWriteGrants(this.key)}:${client}${this.mode === 'write' ? WRITE : ''}`
    }

    /** Redisson calls nobody by name. */
    callOf(): string {
      return this.channel
    }

    async #ask(
      askers: readonly Asker[],
      joins: 0 | 1,
      notAfter: number,
      how: 'run' | 'take' = 'run',
    ): Promise<Answer<number>> {
      const words = askers.flatMap(({ owner, lease }) => [owner, String(lease)])
      const args = [String(joins), notAfter, this.runner.fleet.fairWaiterTimeout, ...this.#voices, ...words] as const
      const [stamp, left, states] = await (how === 'run'
        ? this.runner.run(fairReadWriteLockAsk, this.#keys, args)
        : this.runner.take(fairReadWriteLockAsk, this.#keys, args, ([, , [state]]) => state === 1))
      return { stamp: Number(stamp), left, states }
    }

    override async acquire(owner: string, lease: number): Promise<Attempt> {
      const { left, states } = await this.#ask([{ owner, lease, wait: 0 }], 0, NEVER_TOO_LATE, 'take')
      return states[0] === 1 ? null : left
    }

    async enqueue(askers: readonly Asker[], notAfter: number): Promise<Answer<Joined>> {
      const { states, ...told } = await this.#ask(askers, 1, notAfter)
      return { ...told, states: states.map((state) => JOINED[state] ?? 'late') }
    }

    async poll(askers: readonly Asker[]): Promise<Answer<Place>> {
      const { states, ...told } = await this.#ask(askers, 0, TOO_LATE)
      return { ...told, states: states.map((state) => PLACES[state] ?? 'gone') }
    }

    confirm(owner: string, lease: number): Promise<number> {
      const args = [owner, lease, this.companion] as const
      return this.runner.take(fairReadWriteLockConfirm, this.#keys, args, (left) => left > 0)
    }

    override async release(owner: string, served: readonly string[] = []): Promise<number> {
      // Who only stood in the line had lost it while it was on trial.
      return (await this.#leave(owner, served)) === 1 ? 1 : NOT_HELD
    }

    leave({ owner }: Asker): Promise<number> {
      return this.#leave(owner, [])
    }

    #leave(owner: string, served: readonly string[]): Promise<number> {
      const args = [...this.#voices, owner, ...served] as const
      return this.runner.run(fairReadWriteLockLeave, [...this.#keys, this.channel], args)
    }

    override async forceRelease(): Promise<boolean> {
      const { mode } = this
      const args = [mode, MESSAGES[mode], ...this.#voices] as const
      return (await this.runner.run(fairReadWriteLockForceRelease, [...this.#keys, this.channel], args)) === 1
    }

    override async inspect(briefly?: boolean): Promise<ServerState> {
      let queue: readonly string[] = []
      const ask = (from: string, first: number) =>
        this.runner.run(fairReadWriteLockInspect, this.#keys, [this.companion, from, first])
      const held = await holdersInParts(briefly, async (from) => {
        const [ttl, next, fields, times, waiting] = await ask(from, 0)
        queue = waiting
        return { ttl, next, holders: readersAndWriter(ttl, fields, times) }
      })
      if (briefly === true) return held
      return { ...held, waiting: await waitersInParts(queue, async (first) => (await ask('', first))[4]) }
    }
  }

class FairReadSide extends inLine(ReadSide) {
  /** Only under a write: all others stand in the line. */
  override acquireAll(
    [[owner, lease]]: readonly [readonly [owner: string, lease: number]],
    _waits: boolean,
    writer: string,
  ): Promise<Attempt> {
    const keys = [this.key, readLevels(this.key, owner)] as const
    return this.runner.take(fairReadWriteLockReadUnder, keys, [writer, owner, lease], isHeld)
  }
}

class FairWriteSide extends inLine(WriteSide) {}

const common = { reentrant: true } as const

export const fairReadLock: LockKind = {
  ...common,
  name: 'fairReadWriteLock.read',
  family: 'fairReadWriteLock.read',
  mode: 'read',
  get rival() {
    return fairWriteLock
  },
  protocol: (runner: Runner, key: string) => new FairReadSide(runner, key),
  gate: (runtime, name, key) => new ReadGate(runtime, fairReadLock, name, key),
}

export const fairWriteLock: LockKind = {
  ...common,
  name: 'fairReadWriteLock.write',
  family: 'fairReadWriteLock.write',
  mode: 'write',
  mark: WRITE,
  rival: fairReadLock,
  protocol: (runner: Runner, key: string) => new FairWriteSide(runner, key),
  gate: (runtime, name, key) => new WriteGate(runtime, fairWriteLock, name, key),
}
