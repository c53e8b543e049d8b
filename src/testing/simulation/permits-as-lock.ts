import type { Client } from '../../api/client.js'
import type { Hold } from '../../api/hold.js'
import type { AcquireOptions, Lock, LockState } from '../../api/lock.js'
import type { OwnedLock } from '../../api/owned-lock.js'
import type { PermitSemaphore } from '../../api/semaphore.js'
import { whileHeld } from '../../core/hold/using.js'
import { sha1 } from '../../engine/memory/lua/sha1.js'
import type { MemoryServer } from '../../engine/memory/server.js'
import { expirableAmounts, expirableDeadlines, expirableGrants, expirableQueue, permitTimeouts } from '../../keys.js'
import type { HeldPermit } from '../../sync/permit-semaphore/held-permit.js'
import type { Family } from './family.js'
import type { PermitsLineKeys, SimKind } from './sim-kind.js'

/** So many may be inside at a time. */
const PERMITS = 2

/** A semaphore whose permits have ids, in the words of a lock: each hold is one permit, and its id the owner on the wire. */
class PermitsAsLock implements Lock {
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

  /** Nobody extends what others hold. */
  forceExtend(): Promise<boolean> {
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

/** What the ids of permits begin with that were granted along the line and are not confirmed, in hex. */
const trials = (redis: MemoryServer, name: string): ReadonlySet<string> => {
  const owners = redis.execute(['HKEYS', expirableAmounts(name)]) as string[]
  return new Set(owners.map((owner) => sha1(owner).slice(0, TRIAL)))
}
const TRIAL = 28

const lasting = (redis: MemoryServer, name: string): string[] => {
  const [seconds, micros] = redis.execute(['TIME']) as [string, string]
  const now = Number(seconds) * 1000 + Math.floor(Number(micros) / 1000)
  return (redis.execute(['ZRANGEBYSCORE', permitTimeouts(name), `(${now}`, '+inf']) as string[]).map(hex)
}

/** Ids of those that last still. */
const permitsHeld = (redis: MemoryServer, name: string): string[] => {
  const ids = lasting(redis, name)
  const onTrial = trials(redis, name)
  return ids.filter((id) => !onTrial.has(id.slice(0, TRIAL)))
}

/** How many were granted to some who have not said that they have them, or do not live any more. */
const permitsOnTrial = (redis: MemoryServer, name: string): number =>
  lasting(redis, name).length - permitsHeld(redis, name).length

const EXPIRABLE_LINE: PermitsLineKeys = {
  kind: 'permit-semaphore',
  queue: expirableQueue,
  deadlines: expirableDeadlines,
  amounts: expirableAmounts,
  grants: expirableGrants,
  taken: permitsHeld,
}

/** Those that are taken, and are over and not yet counted as free, and those that are free are all that there are. */
const permitsMissing = (redis: MemoryServer, name: string): string | undefined => {
  const free = Number(redis.execute(['GET', name]) ?? NaN)
  const taken = Number(redis.execute(['ZCARD', permitTimeouts(name)]))
  return free + taken === PERMITS ? undefined : `${free} are free, ${taken} are taken, of ${PERMITS}`
}

/** As it is before anybody comes. */
const permitsMade = (redis: MemoryServer, name: string): void => {
  redis.execute(['DEL', name, permitTimeouts(name)])
  redis.execute(['SET', name, String(PERMITS)])
}

const SEMAPHORES = ['acquire', 'ask', 'leave', 'pass', 'release', 'renew', 'extend', 'undo', 'count'].map(
  (script) => `permit-semaphore/${script}`,
)

const PERMIT_SEMAPHORE: SimKind = {
  name: 'permitSemaphore',
  reentrant: false,
  permits: PERMITS,
  open: (client, name) => new PermitsAsLock(client, name),
  channel: (name) => `redisson_sc:{${name}}`,
  make: permitsMade,
  holders: permitsHeld,
  malformed: permitsMissing,
  onTrial: permitsOnTrial,
  fair: false,
  permitsLine: EXPIRABLE_LINE,
}

export const PERMIT_SEMAPHORES: Family = {
  name: 'semaphores',
  kinds: [PERMIT_SEMAPHORE],
  scripts: SEMAPHORES,
  strangers: false,
  told: true,
}
