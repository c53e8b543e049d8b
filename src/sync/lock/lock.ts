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
  lockAcquire,
  lockForceRelease,
  lockInspect,
  lockPass,
  lockRelease,
  lockRenew,
  lockSetLevel,
} from '../../lua/scripts.gen.js'

/** Redisson's RLock: one hash, whose field is the owner and whose value is how often it holds. */
export class PlainLockProtocol implements LockProtocol {
  readonly key: string
  protected readonly runner: Runner

  constructor(runner: Runner, key: string) {
    this.runner = runner
    this.key = key
  }

  get channel(): string {
    return lockChannel(this.key)
  }

  get renewal(): RenewScript {
    return lockRenew
  }

  acquire(owner: string, lease: number, _waits: boolean): Promise<Attempt> {
    return this.runner.take(lockAcquire, [this.key], [owner, lease], isHeld)
  }

  async setLevel(owner: string, level: number, lease: number): Promise<number | undefined> {
    const left = await this.runner.run(lockSetLevel, [this.key], [owner, level, lease])
    return left === -2 ? undefined : left
  }

  release(owner: string): Promise<number> {
    return this.runner.run(lockRelease, [this.key], [owner, this.channel, this.runner.publishCommand])
  }

  async pass(from: string, to: string, lease: number): Promise<boolean> {
    return isPassed(await this.runner.take(lockPass, [this.key], [from, to, lease], isPassed))
  }

  async forceRelease(): Promise<boolean> {
    return (await this.runner.run(lockForceRelease, [this.key], [this.channel, this.runner.publishCommand])) === 1
  }

  async inspect(): Promise<ServerState> {
    const [ttl, fields] = await this.runner.run(lockInspect, [this.key], [])
    return { ttl, holders: holdersOf(fields) }
  }
}

/** From the fields of the hash and their values in turn. */
export const holdersOf = (fields: readonly string[]): { owner: string; count: number }[] => {
  const holders = []
  for (let i = 0; i + 1 < fields.length; i += 2) {
    holders.push({ owner: fields[i] as string, count: Number(fields[i + 1]) })
  }
  return holders
}

export const plainLock: LockKind = {
  name: 'lock',
  family: 'lock',
  reentrant: true,
  protocol: (runner, key) => new PlainLockProtocol(runner, key),
}
