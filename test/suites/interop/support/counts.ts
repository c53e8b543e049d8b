import type { Client, ClientOptions } from 'holdfast'
import { connect, NotOwnerError } from 'holdfast'
import type { Redis } from 'ioredis'
import type { Actor, Compared } from './actors.js'
import { latchChannel, listenersOf, semaphoreChannel } from './names.js'
import { JavaError, type Redisson } from './redisson.js'

export type Step = (name: string, args: readonly number[]) => Promise<unknown>
export type Steps = Readonly<Record<string, Step>>

const MS = 'MILLISECONDS'

/** What Redisson's blocking methods say of an error of its own. */
const NOT_THERE = /doesn't exist|Unexpected exception while processing command/

const notThere = (error: unknown): string | undefined => {
  const unknown = error instanceof NotOwnerError || (error instanceof JavaError && NOT_THERE.test(error.message))
  return unknown ? 'not there' : undefined
}

interface Sides {
  readonly kind: 'semaphore' | 'permits' | 'latch' | 'limiter'
  readonly channel: (name: string) => string
  /** What the same mistake is called on both sides. */
  readonly mistake?: (error: unknown) => string | undefined
  readonly frees: RegExp
  theirs(redisson: Redisson): Steps
  ours(client: Client): Steps
}

const actor = (who: Pick<Actor, 'side' | 'id' | 'close'>, steps: Steps, mistake = notThere): Actor => ({
  ...who,
  async run(name, operation, args) {
    try {
      return (await (steps[operation] as Step)(name, args)) ?? 'done'
    } catch (error) {
      return mistake(error) ?? String(error)
    }
  },
})

export const compared = ({ kind, channel, frees, mistake, theirs, ours }: Sides): Compared => ({
  kind,
  // What can be done is the same for all: nobody is asked for it.
  operations: Object.keys(ours(undefined as never)),
  frees,
  listeners: (redis: Redis, name: string) => listenersOf(redis, channel(name)),
  java: (redisson) =>
    actor({ side: 'java', id: redisson.id, close: () => redisson.shutdown() }, theirs(redisson), mistake),
  node: async (url: string, options?: ClientOptions) => {
    const client = await connect({ ...options, url, presence: false })
    return actor({ side: 'node', id: client.id, close: () => client.close() }, ours(client), mistake)
  },
})

/** What Redisson has for all of them. */
export const kept = (redisson: Redisson, kind: Sides['kind']) => {
  const call =
    (method: string, ...last: string[]): Step =>
    (name, args) =>
      redisson.lock(kind, name).call(method, [...args, ...last], `actor of ${redisson.label}`)
  return { call, delete: call('delete'), expire: call('expire', MS), clearExpire: call('clearExpire') }
}

export const ourKept = (
  open: (name: string) => {
    delete(): Promise<boolean>
    expire(ms: number): Promise<boolean>
    clearExpire(): Promise<boolean>
  },
): Steps => ({
  delete: (name) => open(name).delete(),
  expire: (name, [ms = 0]) => open(name).expire(ms),
  clearExpire: (name) => open(name).clearExpire(),
})

export const SEMAPHORE = compared({
  kind: 'semaphore',
  channel: semaphoreChannel,
  frees: /release|addPermits|trySetPermits/,
  theirs(redisson) {
    const { call, ...rest } = kept(redisson, 'semaphore')
    const [trySetPermits, acquire, release] = [call('trySetPermits'), call('acquire'), call('release')]
    const [addPermits, availablePermits, drainPermits] = ['addPermits', 'availablePermits', 'drainPermits'].map((one) =>
      call(one),
    ) as [Step, Step, Step]
    const tryAcquire: Step = (name, args) => call('tryAcquire', ...(args.length > 1 ? [MS] : []))(name, args)
    return { ...rest, trySetPermits, acquire, tryAcquire, release, addPermits, availablePermits, drainPermits }
  },
  ours(client) {
    const open = (name: string) => client.semaphore(name)
    return {
      ...ourKept(open),
      trySetPermits: (name, [permits = 0]) => open(name).trySetPermits(permits),
      acquire: (name, [permits]) => open(name).acquire({ permits }),
      tryAcquire: (name, [permits, wait]) => open(name).tryAcquire({ permits, wait }),
      release: (name, [permits]) => open(name).release(permits),
      addPermits: (name, [permits = 0]) => open(name).addPermits(permits),
      availablePermits: (name) => open(name).available(),
      drainPermits: (name) => open(name).drain(),
    }
  },
})

export const LATCH = compared({
  kind: 'latch',
  channel: latchChannel,
  frees: /countDown|delete/,
  theirs(redisson) {
    const { call, ...rest } = kept(redisson, 'latch')
    const wait: Step = (name, args) => call('await', ...(args.length > 0 ? [MS] : []))(name, args)
    return {
      ...rest,
      trySetCount: call('trySetCount'),
      // Redisson does not say.
      countDown: call('countDown'),
      getCount: call('getCount'),
      await: async (name, args) => (await wait(name, args)) ?? true,
    }
  },
  ours(client) {
    const open = (name: string) => client.countDownLatch(name)
    return {
      ...ourKept(open),
      trySetCount: (name, [count = 0]) => open(name).trySetCount(count),
      countDown: (name) =>
        open(name)
          .countDown()
          .then(() => undefined),
      getCount: (name) => open(name).count(),
      await: (name, [wait]) => open(name).wait({ wait }),
    }
  },
})

/** The ids that were had under a name, by whomever: steps mean them by their number. */
const ids = new Map<string, string[]>()

const numbered = (name: string, had: readonly string[] | null): unknown => {
  if (had === null) return 'nothing'
  const known = ids.get(name) ?? []
  ids.set(name, [...known, ...had])
  return had.map((id, index) => `${id.length} characters: #${known.length + index}`)
}

const idOf = (name: string, number = 0): string => ids.get(name)?.[number] ?? '0'.repeat(32)

/** `acquire` without a lease is for ever; `release 0 2`: the first and the third that were had. */
export const PERMITS = compared({
  kind: 'permits',
  channel: semaphoreChannel,
  frees: /release|Permits/i,
  theirs(redisson) {
    const { call, ...rest } = kept(redisson, 'permits')
    const one = (name: string, id: unknown) => numbered(name, id === null ? null : [id as string])
    const byId =
      (method: string, ...last: string[]) =>
      (name: string, id: string | string[], ...args: number[]): Promise<unknown> =>
        redisson.lock('permits', name).call(method, [id, ...args, ...last], `actor of ${redisson.label}`)
    return {
      ...rest,
      ...Object.fromEntries(
        ['trySetPermits', 'setPermits', 'addPermits', 'availablePermits', 'acquiredPermits', 'getPermits'].map(
          (step) => [step, call(step)],
        ),
      ),
      acquire: async (name, lease) => one(name, await call('acquire', ...(lease.length > 0 ? [MS] : []))(name, lease)),
      tryAcquire: async (name, [lease]) =>
        one(
          name,
          await (lease === undefined ? call('tryAcquire')(name, []) : call('tryAcquire', MS)(name, [0, lease])),
        ),
      acquireMany: async (name, args) =>
        numbered(name, (await call('acquire', ...(args.length > 1 ? [MS] : []))(name, args)) as string[]),
      release: (name, which) =>
        which.length === 1
          ? byId('release')(name, idOf(name, which[0]))
          : byId('release')(
              name,
              which.map((n) => idOf(name, n)),
            ),
      tryRelease: (name, [n]) => byId('tryRelease')(name, idOf(name, n)),
      tryReleaseMany: (name, which) =>
        byId('tryRelease')(
          name,
          which.map((n) => idOf(name, n)),
        ),
      extend: (name, [n, lease = 0]) => byId('updateLeaseTime', MS)(name, idOf(name, n), lease),
      leaseTime: (name, [n]) => byId('getLeaseTime')(name, idOf(name, n)),
    }
  },
  ours(client) {
    const open = (name: string) => client.permitSemaphore(name)
    return {
      ...ourKept(open),
      trySetPermits: (name, [permits = 0]) => open(name).trySetPermits(permits),
      setPermits: (name, [permits = 0]) => open(name).setPermits(permits),
      addPermits: (name, [permits = 0]) => open(name).addPermits(permits),
      availablePermits: (name) => open(name).available(),
      acquiredPermits: (name) => open(name).acquired(),
      getPermits: (name) => open(name).permits(),
      acquire: async (name, [lease]) => numbered(name, [(await open(name).acquire({ lease })).id]),
      tryAcquire: async (name, [lease]) => {
        const permit = await open(name).tryAcquire({ lease })
        return numbered(name, permit === undefined ? null : [permit.id])
      },
      acquireMany: async (name, [count = 0, lease]) =>
        numbered(
          name,
          (await open(name).acquireMany(count, { lease })).map(({ id }) => id),
        ),
      release: (name, which) => open(name).release(which.map((n) => idOf(name, n))),
      tryRelease: (name, [n]) => open(name).tryRelease(idOf(name, n)),
      tryReleaseMany: (name, which) => open(name).tryRelease(which.map((n) => idOf(name, n))),
      extend: (name, [n, lease = 0]) => open(name).extend(idOf(name, n), lease),
      leaseTime: async (name, [n]) => {
        const left = await open(name).leaseTime(idOf(name, n))
        return left === Infinity ? -1 : left
      },
    }
  },
})
