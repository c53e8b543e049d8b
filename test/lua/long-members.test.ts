import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Redis } from 'ioredis'
import type { Script } from '#src/lua/script.js'
import * as generated from '#src/lua/scripts.gen.js'
import { seeded } from '../support/random.js'
import { cpuOf } from '../support/main-thread-cpu.js'
import { startRedis, type RedisServer } from '../support/redis-server.js'
import { slownessOf } from '../support/server-pace.js'
import { argumentsOf, slotsOf } from './hostile.js'

/** Of the server's time, in ms of a quiet machine: as much as it takes to read twelve of these names. */
const LONGEST = 20
const TRIES = 12
const MEMBERS = 64
const LONG = 'x'.repeat(1_000_000)

/** The scripts that go through a sorted set or a list which another program may have filled, and the key that it is. */
const SCRIPTS: readonly (readonly [name: string, key: string])[] = [
  ['lock/ask', 'queue'],
  ['fair-lock/enqueue', 'queue'],
  ['fair-lock/enqueue', 'deadlines'],
  ['fair-lock/leave', 'queue'],
  ['classic-fair-lock/ask', 'queue'],
  ['classic-fair-lock/ask', 'deadlines'],
  ['classic-fair-lock/leave', 'queue'],
  ['classic-fair-lock/leave', 'deadlines'],
  ['read-write-lock/ask', 'queue'],
  ['keyed-lock/ask', 'queue'],
  ['semaphore/ask', 'queue'],
  ['semaphore/ask', 'deadlines'],
  ['semaphore/add', 'deadlines'],
  ['permit-semaphore/ask', 'deadlines'],
  ['permit-semaphore/ask', 'timeouts'],
  ['permit-semaphore/count', 'timeouts'],
  ['permit-semaphore/acquire', 'timeouts'],
  ['rate-limiter/ask', 'order'],
  ['rate-limiter/ask', 'permits'],
  ['rate-limiter/take', 'permits'],
  ['rate-limiter/release', 'permits'],
]
const LISTS: ReadonlySet<string> = new Set(['queue'])

/** When what stands in a sorted set is over. */
const SCORES: Readonly<Record<string, (i: number) => number>> = {
  'over long ago': (i) => i,
  'not over yet': (i) => Date.now() + 1_000_000 + i,
  'over, every other': (i) => (i % 2 === 0 ? i : Date.now() + 1_000_000 + i),
}

void describe(`sorted sets and lists with ${MEMBERS} members of 1 MB`, () => {
  let server: RedisServer
  let redis: Redis
  before(async () => {
    server = await startRedis()
    redis = new Redis(server.port, { protocolVersion: 2 } as object)
  })
  after(async () => {
    redis.disconnect()
    await server.stop()
  })

  /** `short`: how many ordinary names stand before the long ones. */
  const fill = async (score: (i: number) => number, short: number): Promise<void> => {
    await redis.unlink('set', 'list')
    for (let i = 0; i < MEMBERS; i++) {
      const member = `${String(i).padStart(8, '0')}-0a1b-8101-8001-0a1b2c3d4e5f:${i < short ? i : LONG}`
      await redis.zadd('set', score(i), member)
      await redis.rpush('list', member)
    }
  }

  /** What the server took for it, ms. */
  const run = async (script: Script, key: string, round: number): Promise<number> => {
    const keys = slotsOf(script).KEYS.map(({ name }) => name)
    await redis.unlink(...keys)
    await redis.copy(LISTS.has(key) ? 'list' : 'set', key)
    if (keys.includes('permits') && key !== 'permits') await redis.set('permits', 3)
    if (keys.includes('limiter')) await redis.hset('limiter', 'rate', 5, 'interval', 60_000, 'type', 0)
    const args = argumentsOf(script, seeded(round))
    const [, , before, , behind, stats] = (await redis
      .pipeline()
      // What earlier scripts left is no work of this one's.
      .call('EVAL', 'collectgarbage()', 0)
      .call('CONFIG', 'RESETSTAT')
      .call('INFO', 'cpu')
      .call('EVAL', script.text, keys.length, ...keys, ...args)
      .call('INFO', 'cpu')
      .call('INFO', 'commandstats')
      .exec()) as [unknown, unknown, [null, string], unknown, [null, string], [null, string]]
    const took = Number(/cmdstat_eval:calls=1,usec=(\d+)/.exec(stats[1])?.[1]) / 1000
    // Where others have the processor meanwhile, what it used of that.
    return Math.min(took, cpuOf(behind[1]) - cpuOf(before[1]))
  }

  for (const [[when, score], short] of Object.entries(SCORES).flatMap((one) =>
    [0, 16].map((count) => [one, count] as const),
  )) {
    test(
      `${when}, behind ${short} ordinary ones → ${LONGEST} ms at most, whatever goes through them`,
      { timeout: 120_000 },
      async () => {
        await fill(score, short)
        const least = new Map<string, number>()
        for (let round = 0; round < TRIES; round++) {
          const slowness = await slownessOf(redis, 'long names', 'list')
          for (const [name, key] of SCRIPTS) {
            const at = `${name}, ${key}`
            if ((least.get(at) ?? Infinity) <= LONGEST) continue
            const script = (Object.values(generated) as readonly Script[]).find((one) => one.name === name)
            assert.ok(script !== undefined, name)
            least.set(at, Math.min((await run(script, key, round)) / slowness, least.get(at) ?? Infinity))
          }
        }
        assert.deepEqual(
          [...least].filter(([, ms]) => !(ms <= LONGEST)),
          [],
        )
      },
    )
  }
})
