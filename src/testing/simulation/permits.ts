import type { Client } from '../../client.js'
import { whileHeld } from '../../core/using.js'
import type { MemoryServer } from '../../engine/memory/server.js'
import { permitTimeouts } from '../../keys.js'
import type { HeldPermit } from '../../sync/permit-semaphore/held-permit.js'
import type { PermitSemaphore } from '../../permit-types.js'
import type { AcquireOptions, Hold, Lock, LockState, OwnedLock } from '../../types.js'

/** So many may be inside at a time. */
export const PERMITS = 2

/** A semaphore whose permits have ids, in the words of a lock: each hold is one permit, and its id the owner on the wire. */
export class PermitsAsLock implements Lock {
  readonly name: string
  readonly #permits: PermitSemaphore

  constructor(client: Client, name: string) {
    this.name = name
    this.#permits = client.permitSemaphore(name)
  }

  async acquire(options: AcquireOptions = {}): Promise<Hold> {
    return ((await this.#permits.acquire(termsOf(options))) as HeldPermit).hold
  }

  async tryAcquire(options: AcquireOptions = {}): Promise<Hold | undefined> {
    return ((await this.#permits.tryAcquire(termsOf(options))) as HeldPermit | undefined)?.hold
  }

  async using<T>(...args: unknown[]): Promise<T> {
    const [options, work] = args as [AcquireOptions, (hold: Hold) => Promise<T>]
    const hold = (await this.acquire(options)) as HeldPermit['hold']
    return whileHeld({ working: 0 }, hold, () => work(hold))
  }

  async inspect(): Promise<LockState> {
    await this.#permits.acquired()
    return { holders: [], waiting: [] }
  }

  async isLocked(): Promise<boolean> {
    return (await this.#permits.available()) <= 0
  }

  remaining(): Promise<undefined> {
    return Promise.resolve(undefined)
  }

  /** Nobody takes permits away. */
  forceRelease(): Promise<boolean> {
    return Promise.resolve(false)
  }

  for(): OwnedLock {
    throw new Error('permits have no owner')
  }
}

const termsOf = ({ wait, lease, signal }: AcquireOptions): object => ({
  wait,
  signal,
  ...(lease === undefined ? { renew: true } : { lease }),
})

const hex = (id: string): string => Buffer.from(id, 'latin1').toString('hex')

/** Ids of those that last still. */
export const permitsHeld = (redis: MemoryServer, name: string): string[] => {
  const [seconds, micros] = redis.execute(['TIME']) as [string, string]
  const now = Number(seconds) * 1000 + Math.floor(Number(micros) / 1000)
  return (redis.execute(['ZRANGEBYSCORE', permitTimeouts(name), `(${now}`, '+inf']) as string[]).map(hex)
}

/** Those that are taken, and are over and not yet counted as free, and those that are free are all that there are. */
export const permitsMissing = (redis: MemoryServer, name: string): string | undefined => {
  const free = Number(redis.execute(['GET', name]) ?? NaN)
  const taken = Number(redis.execute(['ZCARD', permitTimeouts(name)]))
  return free + taken === PERMITS ? undefined : `${free} are free, ${taken} are taken, of ${PERMITS}`
}

/** As it is before anybody comes. */
export const permitsMade = (redis: MemoryServer, name: string): void => {
  redis.execute(['DEL', name, permitTimeouts(name)])
  redis.execute(['SET', name, String(PERMITS)])
}
