/** A library, and what each of its names is called in holdfast. */
export interface Library {
  /** What it is imported as. */
  readonly packages: readonly string[]
  /** The page of `docs/migrate/` that says what is different. */
  readonly page?: string
  /** What stands in holdfast for the import itself. */
  readonly ours: string
  readonly names: readonly Name[]
}

/** A name of a library. `.acquire`: a method; `acquire`: any word. */
export type Name = readonly [name: string, ours: string]

const REDLOCK: readonly Name[] = [
  ['Redlock', 'connect(url); client.lock(name), or client.redLock(...locks) for locks on several servers'],
  [
    '.acquire',
    'lock.acquire({ wait, lease }); of several resources: client.keyedLock(group, keys) or client.multiLock(...locks)',
  ],
  ['.lock', 'lock.acquire({ wait, lease })'],
  ['.using', 'lock.using({ wait, lease, renew: true }, async ({ signal }) => …)'],
  ['.extend', 'hold.extend(ms); not needed without a lease, because the watchdog renews the hold'],
  ['.release', 'hold.release(): false, instead of an error, if the hold was lost'],
  ['.unlock', 'hold.release()'],
  ['.disposer', 'await using hold = await lock.acquire()'],
  ['.quit', 'client.close()'],
  ['driftFactor', 'none: a hold is lost a margin before its lease ends (docs/guide.md#trust)'],
  ['retryCount', 'wait: how many ms to wait in all'],
  ['retryDelay', 'none: a release wakes up the next waiter'],
  ['retryJitter', 'none: a release wakes up the next waiter'],
  ['automaticExtensionThreshold', 'none: a lease is renewed when a third of it is over'],
  ['ResourceLockedError', 'tryAcquire() resolves to undefined'],
  ['ExecutionError', 'AcquireTimeoutError; MembersError of a red-lock'],
  ['LockError', 'AcquireTimeoutError'],
  ['clientError', "client.on('error', …)"],
]

const SEMAPHORE: readonly Name[] = [
  ['Mutex', 'client.lock(name)'],
  ['Semaphore', 'client.permitSemaphore(name), after trySetPermits(n)'],
  ['MultiSemaphore', 'client.permitSemaphore(name).acquireMany(n)'],
  ['RedlockMutex', 'client.redLock(...locks)'],
  ['RedlockSemaphore', 'none: use client.permitSemaphore(name) on one server'],
  ['RedlockMultiSemaphore', 'none: use client.permitSemaphore(name) on one server'],
  ['lockTimeout', 'lease, with renew: true; or the watchdog of connect()'],
  ['acquireTimeout', 'wait'],
  ['acquireAttemptsLimit', 'tryAcquire() for one attempt, else wait'],
  ['retryInterval', 'none: a release wakes up the next waiter'],
  ['refreshInterval', 'none: a lease is renewed when a third of it is over; 0 is a lease without renew'],
  ['identifier', 'hold.owner; to hand a hold to another process, hold.detach() and client.adopt(ticket)'],
  ['identifierSuffix', 'client.owner(label)'],
  ['acquiredExternally', 'client.adopt(ticket)'],
  ['externallyAcquiredIdentifier', 'client.adopt(ticket)'],
  ['onLockLost', "hold.signal, or client.on('lost', …)"],
  ['isAcquired', "hold.state === 'held'"],
  ['.stopRefresh', 'hold.detach()'],
  ['.acquire', 'lock.acquire({ wait })'],
  ['.tryAcquire', 'lock.tryAcquire({ wait }): undefined, instead of false; it waited for acquireTimeout'],
  ['.release', 'hold.release()'],
  ['LostLockError', 'LockLostError'],
  ['TimeoutError', 'AcquireTimeoutError'],
  ['defaultTimeoutOptions', 'the options of connect()'],
]

const REDISSON: readonly Name[] = [
  ['Redisson', 'connect(url), or connect({ file }) with a Redisson configuration'],
  ['.getLock', 'client.lock(name)'],
  ['.tryLock', 'lock.tryAcquire({ wait, lease }); lock.for(owner).tryLock(wait, lease)'],
  ['.lock', 'lock.acquire({ lease }); lock.for(owner).lock(lease)'],
  ['.unlock', 'hold.release(); lock.for(owner).unlock()'],
  ['.forceUnlock', 'lock.forceRelease()'],
  ['.isLocked', 'lock.isLocked()'],
  ['.quit', 'client.close()'],
  ['lockWatchdogTimeout', 'watchdog'],
  ['eventAdapter', 'none: releases are published as Redisson for Java does'],
  ['TimeUnit', 'none: all times are in ms'],
  ['RedissonLockError', 'NotOwnerError'],
]

const IN_PROCESS: readonly Name[] = [
  ['Mutex', 'client.lock(name), for all processes'],
  ['Semaphore', 'client.semaphore(name), after trySetPermits(n)'],
  ['withTimeout', 'wait'],
  ['tryAcquire', 'lock.tryAcquire(): undefined, instead of E_ALREADY_LOCKED'],
  ['.runExclusive', 'lock.using(work)'],
  ['.acquire', 'lock.acquire()'],
  ['.isLocked', 'lock.isLocked(): a promise'],
  ['.cancel', 'signal, for each call'],
  ['.waitForUnlock', 'none: acquire the lock'],
  ['E_TIMEOUT', 'AcquireTimeoutError'],
  ['E_CANCELED', "the signal's reason"],
  ['E_ALREADY_LOCKED', 'tryAcquire() resolves to undefined'],
]

/** What `holdfast migrate check` finds. */
export const LIBRARIES: readonly Library[] = [
  { packages: ['redlock', '@sesamecare-oss/redlock'], page: 'redlock', ours: 'holdfast', names: REDLOCK },
  { packages: ['redis-semaphore'], page: 'redis-semaphore', ours: 'holdfast', names: SEMAPHORE },
  { packages: ['node-redisson'], page: 'redisson', ours: 'holdfast', names: REDISSON },
  { packages: ['async-mutex'], ours: 'holdfast, if the lock must hold for several processes', names: IN_PROCESS },
]
