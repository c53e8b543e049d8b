import type { Client, Hold, Lock, Permit } from 'holdfast'

/** The ways to take a lock. */
export const LOCKS: Readonly<Record<string, (client: Client, name: string) => Lock>> = {
  lock: (client, name) => client.lock(name),
  nonReentrantLock: (client, name) => client.nonReentrantLock(name),
  fairLock: (client, name) => client.fairLock(name),
  nonReentrantFairLock: (client, name) => client.nonReentrantFairLock(name),
  fencedLock: (client, name) => client.fencedLock(name),
  spinLock: (client, name) => client.spinLock(name),
  keyedLock: (client, name) => client.keyedLock(name, ['a', 'b']),
  'readWriteLock.read': (client, name) => client.readWriteLock(name).read,
  'readWriteLock.write': (client, name) => client.readWriteLock(name).write,
  'fair readWriteLock.read': (client, name) => client.readWriteLock(name, { fair: true }).read,
  'fair readWriteLock.write': (client, name) => client.readWriteLock(name, { fair: true }).write,
  multiLock: (client, name) => client.multiLock(client.lock(name), client.lock(`${name}:2`)),
  redLock: (client, name) => client.redLock(client.lock(name)),
}

/** What may be waited for besides locks, and how it is tried. */
export interface Waited {
  /** Rejects with an `AcquireTimeoutError` when the wait is over; left out where there is none. */
  readonly acquire?: (client: Client, name: string, options: { wait?: number }) => Promise<unknown>
  readonly tryAcquire: (client: Client, name: string, options: { wait?: number }) => Promise<unknown>
}

export const WAITED: Readonly<Record<string, Waited>> = {
  ...Object.fromEntries(
    Object.entries(LOCKS).map(([kind, of]): [string, Waited] => [
      kind,
      {
        acquire: (client, name, options) => of(client, name).acquire(options),
        tryAcquire: (client, name, options) => of(client, name).tryAcquire(options),
      },
    ]),
  ),
  semaphore: {
    acquire: (client, name, options) => client.semaphore(name).acquire(options),
    tryAcquire: (client, name, options) => client.semaphore(name).tryAcquire(options),
  },
  permitSemaphore: {
    acquire: (client, name, options) => client.permitSemaphore(name).acquire({ lease: 1000, ...options }),
    tryAcquire: (client, name, options) => client.permitSemaphore(name).tryAcquire({ lease: 1000, ...options }),
  },
  rateLimiter: {
    acquire: (client, name, options) => client.rateLimiter(name).acquire(options),
    tryAcquire: (client, name, options) => client.rateLimiter(name).tryAcquire(options),
  },
  countDownLatch: { tryAcquire: (client, name, options) => client.countDownLatch(name).wait({ wait: 0, ...options }) },
}

/** What somebody has while the calls are tried. */
export interface Held {
  readonly holds: readonly Hold[]
  readonly permit: Permit
  readonly ticket: string
}

let names = 0

type Calls = (client: Client, held: Held) => Readonly<Record<string, () => Promise<unknown>>>

const lockCalls = (kind: string): Calls => {
  const make = LOCKS[kind] as (client: Client, name: string) => Lock
  return (client) => {
    // Whoever waits is before a try of the same name.
    const free = (): Lock => make(client, `free:${kind}:${names++}`)
    const lock = free()
    const me = client.owner()
    return {
      [`${kind}.acquire`]: () => free().acquire(),
      [`${kind}.acquire with a wait`]: () => free().acquire({ wait: 60_000 }),
      [`${kind}.acquire at once`]: () => free().acquire({ wait: 0 }),
      [`${kind}.acquire by an owner`]: () => free().acquire({ owner: me }),
      [`${kind}.tryAcquire`]: () => free().tryAcquire(),
      [`${kind}.using`]: () => free().using(() => undefined),
      [`${kind}.using with options`]: () => free().using({ lease: 1000 }, () => undefined),
      [`${kind}.isLocked`]: () => lock.isLocked(),
      [`${kind}.remaining`]: () => lock.remaining(),
      [`${kind}.inspect`]: () => lock.inspect(),
      [`${kind}.forceRelease`]: () => lock.forceRelease(),
      [`${kind}.forceExtend`]: () => lock.forceExtend({ owner: 'nobody', lease: 1000 }),
      [`${kind}.for.lock`]: () => free().for(me).lock(),
      [`${kind}.for.tryLock`]: () => free().for(me).tryLock(),
      [`${kind}.for.isLocked`]: () => lock.for(me).isLocked(),
      [`${kind}.for.isHeld`]: () => lock.for(me).isHeld(),
      [`${kind}.for.holdCount`]: () => lock.for(me).holdCount(),
      [`${kind}.for.remainTimeToLive`]: () => lock.for(me).remainTimeToLive(),
      [`${kind}.for.forceUnlock`]: () => lock.for(me).forceUnlock(),
    }
  }
}

const holdCalls: Calls = (client, { holds, permit, ticket }) => ({
  ...Object.fromEntries(
    holds.flatMap((hold) => [
      [`extend of '${hold.name}'`, (): Promise<unknown> => hold.extend(60_000)],
      [
        `nested acquire of '${hold.name}'`,
        (): Promise<unknown> => client.lock(hold.name).acquire({ owner: hold.owner }),
      ],
    ]),
  ),
  [`detach of '${holds[1]?.name}'`]: () => (holds[1] as Hold).detach(),
  'extend of a permit': () => permit.extend(60_000),
  adopt: () => client.adopt(ticket),
})

const keptCalls: Calls = (client) => {
  const s = client.semaphore('s')
  const p = client.permitSemaphore('p')
  const l = client.countDownLatch('l')
  const r = client.rateLimiter('r')
  const id = '0'.repeat(32)
  const all = { semaphore: s, permitSemaphore: p, countDownLatch: l, rateLimiter: r }
  return {
    ...Object.fromEntries(
      Object.entries(all).flatMap(([kind, kept]) => [
        [`${kind}.exists`, (): Promise<unknown> => kept.exists()],
        [`${kind}.remaining`, (): Promise<unknown> => kept.remaining()],
        [`${kind}.expire`, () => kept.expire(60_000)],
        [`${kind}.clearExpire`, () => kept.clearExpire()],
        [`${kind}.delete`, () => kept.delete()],
      ]),
    ),
    'semaphore.trySetPermits': () => s.trySetPermits(1),
    'semaphore.addPermits': () => s.addPermits(1),
    'semaphore.available': () => s.available(),
    'semaphore.drain': () => s.drain(),
    'semaphore.release': () => s.release(),
    'semaphore.releaseIfExists': () => s.releaseIfExists(),
    'semaphore.acquire': () => s.acquire(),
    'semaphore.acquire with a wait': () => s.acquire({ wait: 60_000 }),
    'semaphore.tryAcquire': () => s.tryAcquire(),
    'semaphore.using': () => s.using(() => undefined),
    'permitSemaphore.trySetPermits': () => p.trySetPermits(1),
    'permitSemaphore.setPermits': () => p.setPermits(1),
    'permitSemaphore.addPermits': () => p.addPermits(1),
    'permitSemaphore.available': () => p.available(),
    'permitSemaphore.acquired': () => p.acquired(),
    'permitSemaphore.permits': () => p.permits(),
    'permitSemaphore.acquire': () => p.acquire(),
    'permitSemaphore.acquireMany': () => p.acquireMany(2),
    'permitSemaphore.tryAcquire': () => p.tryAcquire(),
    'permitSemaphore.tryAcquireMany': () => p.tryAcquireMany(2),
    'permitSemaphore.release': () => p.release(id),
    'permitSemaphore.tryRelease': () => p.tryRelease(id),
    'permitSemaphore.tryRelease of several': () => p.tryRelease([id]),
    'permitSemaphore.extend': () => p.extend(id, 1000),
    'permitSemaphore.leaseTime': () => p.leaseTime(id),
    'countDownLatch.trySetCount': () => l.trySetCount(1),
    'countDownLatch.countDown': () => l.countDown(),
    'countDownLatch.count': () => l.count(),
    'countDownLatch.wait': () => l.wait(),
    'rateLimiter.trySetRate': () => r.trySetRate({ permits: 1, interval: 1000 }),
    'rateLimiter.setRate': () => r.setRate({ permits: 1, interval: 1000 }),
    'rateLimiter.updateRate': () => r.updateRate({ permits: 1, interval: 1000 }),
    'rateLimiter.rate': () => r.rate(),
    'rateLimiter.available': () => r.available(),
    'rateLimiter.release': () => r.release(),
    'rateLimiter.acquire': () => r.acquire(),
    'rateLimiter.tryAcquire': () => r.tryAcquire(),
  }
}

const otherCalls: Calls = (client) => {
  const topic = client.topic('t')
  const pattern = client.patternTopic('t*')
  const fenced = client.fencedLock('fenced').for(client.owner())
  const script = client.script('return 1')
  return {
    'topic.publish': () => topic.publish('hello'),
    'topic.subscribers': () => topic.subscribers(),
    'topic.messages.next': () => topic.messages().next(),
    'patternTopic.activeTopics': () => pattern.activeTopics(),
    'patternTopic.messages.next': () => pattern.messages().next(),
    'script.run': () => script.run(),
    'scripts.run': () => client.scripts.run(script.sha),
    'scripts.load': () => client.scripts.load('return 2'),
    'scripts.exists': () => client.scripts.exists(script.sha),
    'scripts.flush': () => client.scripts.flush(),
    'scripts.kill': () => client.scripts.kill(),
    'functions.load': () => client.functions.load('#!lua name=x'),
    'functions.call': () => client.functions.call('x'),
    'functions.list': () => client.functions.list(),
    'functions.stats': () => client.functions.stats(),
    'functions.delete': () => client.functions.delete('x'),
    'functions.flush': () => client.functions.flush(),
    'functions.dump': () => client.functions.dump(),
    'functions.restore': () => client.functions.restore(new Uint8Array(1)),
    'functions.kill': () => client.functions.kill(),
    'fencedLock.for.lockAndGetToken': () => fenced.lockAndGetToken(),
    'fencedLock.for.tryLockAndGetToken': () => fenced.tryLockAndGetToken(),
    'fencedLock.for.token': () => fenced.token(),
    'election.leader': () => client.election('e').leader(),
    'election.observe.next': () => client.election('e').observe().next(),
    'slots.run': () => client.slots('o').run(`${names++}`, () => undefined),
    'slots.skip': () => client.slots('o').skip(`${names++}`),
    'slots.inspect': () => client.slots('o').inspect('x'),
    'slots.last': () => client.slots('o').last(),
    'slots.now': () => client.slots('o').now(),
    health: () => client.health(),
  }
}

/** Every call that waits for an answer of the server, by its name. */
export const callsOf: Calls = (client, held) =>
  Object.assign(
    {},
    ...[...Object.keys(LOCKS).map(lockCalls), holdCalls, keptCalls, otherCalls].map((calls) => calls(client, held)),
  ) as Readonly<Record<string, () => Promise<unknown>>>
