import type { Redis } from 'ioredis'
import type { Client } from '../../../support/engines.js'

/** A call, and what it changes in the count that the server has. */
export interface Row {
  readonly name: string
  readonly call: (client: Client, name: string) => Promise<unknown>
  readonly by: number
  /** What it answers. */
  readonly answer?: unknown
  /** It is let through where a server has no memory left. */
  readonly needsNoMemory?: true
}

export interface Kind {
  readonly name: string
  readonly channel: (name: string) => string
  prepare(redis: Redis, name: string): Promise<unknown>
  /** Makes it anew, with this count. */
  put(redis: Redis, name: string, count: number): Promise<unknown>
  count(redis: Redis, name: string): Promise<number>
  readonly prepared: number
  readonly rows: readonly Row[]
  /** A call that waits, until `count` is set so. */
  wait(client: Client, name: string, options: { wait?: number; signal?: AbortSignal }): Promise<unknown>
  readonly closed: number
  readonly open: number
  /** The count when it was had. */
  readonly had: number
}

const counted = {
  put: (redis: Redis, name: string, count: number): Promise<unknown> => redis.set(name, count),
  count: async (redis: Redis, name: string): Promise<number> => Number(await redis.get(name)),
}

/** A permit that somebody has. */
const TAKEN = '00112233445566778899aabbccddeeff'

const RATE = 20

/** A limiter with so many permits left: what is missing was granted a moment ago. */
const putLimiter = async (redis: Redis, name: string, count: number): Promise<void> => {
  const grant = Buffer.alloc(21, 16)
  grant.writeUInt32LE(RATE - count, 17)
  const [seconds = 0] = await redis.time()
  await redis
    .multi()
    .del(`{${name}}:permits`)
    .hset(name, { rate: RATE, interval: 600_000, type: 0, keepAliveTime: 0 })
    .set(`{${name}}:value`, count)
    .zadd(`{${name}}:permits`, seconds * 1000, grant)
    .exec()
}

export const kinds: readonly Kind[] = [
  {
    ...counted,
    name: 'semaphore',
    channel: (name) => `redisson_sc:{${name}}`,
    prepare: (redis, name) => redis.set(name, 10),
    prepared: 10,
    rows: [
      { name: 'acquire', call: (client, name) => client.semaphore(name).acquire({ permits: 3 }), by: -3 },
      { name: 'tryAcquire', call: (client, name) => client.semaphore(name).tryAcquire(), by: -1, answer: true },
      { name: 'release', call: (client, name) => client.semaphore(name).release(2), by: 2, needsNoMemory: true },
      {
        name: 'releaseIfExists',
        call: (client, name) => client.semaphore(name).releaseIfExists(),
        by: 1,
        answer: true,
        needsNoMemory: true,
      },
      {
        name: 'addPermits',
        call: (client, name) => client.semaphore(name).addPermits(-4),
        by: -4,
        needsNoMemory: true,
      },
      { name: 'drain', call: (client, name) => client.semaphore(name).drain(), by: -10, answer: 10 },
    ],
    wait: (client, name, options) => client.semaphore(name).acquire(options),
    closed: 0,
    open: 1,
    had: 0,
  },
  {
    ...counted,
    name: 'permitSemaphore',
    channel: (name) => `redisson_sc:{${name}}`,
    prepare: (redis, name) =>
      Promise.all([
        redis.set(name, 10),
        redis.zadd(`{${name}}:timeout`, 922_337_203_685_477, Buffer.from(TAKEN, 'hex')),
      ]),
    prepared: 10,
    rows: [
      {
        name: 'acquire',
        call: async (client, name) => (await client.permitSemaphore(name).acquire({ renew: true })).state,
        by: -1,
        answer: 'held',
      },
      {
        name: 'acquireMany',
        call: async (client, name) => (await client.permitSemaphore(name).acquireMany(3)).length,
        by: -3,
        answer: 3,
      },
      {
        name: 'release',
        call: (client, name) => client.permitSemaphore(name).release(TAKEN),
        by: 1,
        needsNoMemory: true,
      },
      {
        name: 'tryRelease',
        call: (client, name) => client.permitSemaphore(name).tryRelease([TAKEN]),
        by: 1,
        answer: 1,
        needsNoMemory: true,
      },
      { name: 'setPermits', call: (client, name) => client.permitSemaphore(name).setPermits(15), by: 4 },
    ],
    wait: (client, name, options) => client.permitSemaphore(name).acquire(options),
    closed: 0,
    open: 1,
    had: 0,
  },
  {
    ...counted,
    name: 'countDownLatch',
    channel: (name) => `redisson_countdownlatch__channel__{${name}}`,
    prepare: (redis, name) => redis.set(name, 10),
    prepared: 10,
    rows: [
      {
        name: 'countDown',
        call: (client, name) => client.countDownLatch(name).countDown(),
        by: -1,
        answer: 9,
        needsNoMemory: true,
      },
    ],
    wait: (client, name, options) => client.countDownLatch(name).wait(options),
    closed: 2,
    open: 0,
    had: 0,
  },
  {
    name: 'rateLimiter',
    channel: (name) => `holdfast_limiter_grant:{${name}}:*`,
    prepare: (redis, name) => putLimiter(redis, name, 10),
    put: putLimiter,
    count: async (redis, name) => Number(await redis.get(`{${name}}:value`)),
    prepared: 10,
    rows: [
      { name: 'acquire', call: (client, name) => client.rateLimiter(name).acquire({ permits: 3 }), by: -3 },
      {
        name: 'tryAcquire',
        call: (client, name) => client.rateLimiter(name).tryAcquire(),
        by: -1,
        answer: { allowed: true, remaining: 9, retryAfter: 0 },
      },
      { name: 'release', call: (client, name) => client.rateLimiter(name).release(2), by: 2, needsNoMemory: true },
      {
        name: 'updateRate',
        call: (client, name) =>
          client.rateLimiter(name).updateRate({ permits: 15, interval: 600_000, keepState: true }),
        by: -5,
        answer: true,
      },
    ],
    wait: (client, name, options) => client.rateLimiter(name).acquire(options),
    closed: 0,
    open: 1,
    had: 0,
  },
]
