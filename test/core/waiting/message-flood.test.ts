import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'holdfast'
import type { Redis } from 'ioredis'
import { grantTo } from '../../support/grant.js'
import { onServer } from '../../support/server.js'

const NAME = 'a'
const SECOND = 1000
/** Messages in that second. */
const FLOOD = 10_000
/** Few at once: each comes while another question is on its way. */
const BATCH = 5
/** Questions that they may cost: 500, as many at once as a busy lock may need, and polls; a slow machine takes longer. */
const MOST = 750

type Ends = () => Promise<unknown>

interface Kind {
  /** Somebody has it, so that another has to wait: how that ends. */
  readonly take: (client: Client, redis: Redis) => Promise<Ends>
  readonly wait: (client: Client) => Promise<unknown>
  readonly channel: (waiter: Client) => string
  readonly payload: (waiter: Client) => string
  /** Where that is less than for others: so many questions. */
  readonly most?: number
}

/** A question about them takes four scripts. */
const READERS = 1000

const zero = (): string => '0'

const grantOfAnybody = ({ id }: Client): string => grantTo(`${id}:1234567891`, `${Date.now()}000`)

const KINDS: Readonly<Record<string, Kind>> = {
  lock: {
    take: async (client) => {
      const hold = await client.lock(NAME).acquire()
      return () => hold.release()
    },
    wait: (client) => client.lock(NAME).acquire(),
    channel: ({ id }) => `holdfast_line_grant:{${NAME}}:${id}`,
    payload: zero,
  },
  'lock, behind a Redisson': {
    take: async (client, redis) => {
      const held = [NAME, 'c4c1d8a2-5b7c-4f5f-9d0e-1f6d3a3f7a11:1'] as const
      await redis.hset(...held, 1)
      await redis.pexpire(NAME, 60_000)
      return async () => {
        await redis.hdel(...held)
        await redis.publish(`redisson_lock__channel:{${NAME}}`, '0')
      }
    },
    wait: (client) => client.lock(NAME).acquire(),
    channel: () => `redisson_lock__channel:{${NAME}}`,
    payload: zero,
  },
  'fair lock': {
    take: async (client) => {
      const hold = await client.fairLock(NAME).acquire()
      return () => hold.release()
    },
    wait: (client) => client.fairLock(NAME).acquire(),
    channel: ({ id }) => `holdfast_grant:{${NAME}}:${id}`,
    payload: zero,
  },
  'fair lock, forged grants': {
    take: async (client) => {
      const hold = await client.fairLock(NAME).acquire()
      return () => hold.release()
    },
    wait: (client) => client.fairLock(NAME).acquire(),
    channel: ({ id }) => `holdfast_grant:{${NAME}}:${id}`,
    payload: grantOfAnybody,
  },
  'fair read-write lock': {
    take: async (client) => {
      const hold = await client.readWriteLock(NAME, { fair: true }).write.acquire()
      return () => hold.release()
    },
    wait: (client) => client.readWriteLock(NAME, { fair: true }).read.acquire(),
    channel: ({ id }) => `holdfast_rwlock_grant:{${NAME}}:${id}`,
    payload: grantOfAnybody,
  },
  'read-write lock, 1,000 readers': {
    take: async (client) => {
      const hold = await client.readWriteLock(NAME).write.acquire()
      return () => hold.release()
    },
    wait: (client) => {
      const { read } = client.readWriteLock(NAME)
      return Promise.all(Array.from({ length: READERS }, async () => (await read.acquire()).release()))
    },
    channel: ({ id }) => `holdfast_rwlock_grant:{${NAME}}:${id}`,
    payload: grantOfAnybody,
    // Each 80 ms, as far as messages alone are the cause.
    most: 150,
  },
  semaphore: {
    take: async (client) => {
      await client.semaphore(NAME).trySetPermits(1)
      await client.semaphore(NAME).acquire()
      return () => client.semaphore(NAME).release()
    },
    wait: (client) => client.semaphore(NAME).acquire(),
    channel: () => `redisson_sc:{${NAME}}`,
    payload: () => '2147483647',
  },
  latch: {
    take: async (client) => {
      await client.countDownLatch(NAME).trySetCount(1)
      return () => client.countDownLatch(NAME).countDown()
    },
    wait: (client) => client.countDownLatch(NAME).wait(),
    channel: () => `redisson_countdownlatch__channel__{${NAME}}`,
    payload: zero,
  },
}

const asked = async (redis: Redis, kind: string): Promise<number> => {
  const stats = await redis.info('commandstats')
  const counts = [...stats.matchAll(/^cmdstat_(evalsha|eval|get):calls=(\d+)/gm)]
  // Whether a latch is open is asked without a script; scripts read keys as well.
  const questions = counts.filter(([, command]) => command !== 'get' || kind === 'latch')
  return questions.reduce((sum, [, , calls]) => sum + Number(calls), 0)
}

for (const [kind, { take, wait, channel, payload, most = MOST }] of Object.entries(KINDS)) {
  onServer(
    `${kind}: 10,000 messages in a second that say nothing true → some questions, and nobody starts`,
    async (broken) => {
      const { redis, server } = broken
      const [one, two] = [await broken.open({ url: server.url }), await broken.open({ url: server.url })]
      const end = await take(one, redis)
      let passed = false
      const waiting = wait(two).then(() => (passed = true))
      await broken.until(async () => Number((await redis.pubsub('NUMSUB', channel(two)))[1]) > 0)
      await sleep(100)
      const before = await asked(redis, kind)
      const began = performance.now()
      for (let sent = 0; sent < FLOOD; sent += BATCH) {
        const pipeline = redis.pipeline()
        for (let n = 0; n < BATCH; n++) pipeline.publish(channel(two), payload(two))
        await pipeline.exec()
        const ahead = began + (sent / FLOOD) * SECOND - performance.now()
        if (ahead > 1) await sleep(ahead)
      }
      const seconds = (performance.now() - began) / SECOND
      const cost = (await asked(redis, kind)) - before
      assert.equal(passed, false)
      assert.ok(cost > 0 && cost < most * Math.max(1, seconds), `${cost} questions in ${seconds.toFixed(1)} s`)
      await end()
      await waiting
    },
  )
}
