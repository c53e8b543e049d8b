import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Redis } from 'ioredis'
import type { Script } from '#src/lua/script.js'
import * as generated from '#src/lua/scripts.gen.js'
import { seeded } from '../support/random.js'
import { startRedis, type RedisServer } from '../support/redis-server.js'
import { argumentsOf, CLIENT, slotsOf, type Word } from './hostile.js'

/** Of the server's time, ms: 5, and a margin for a busy machine. */
const LONGEST = 15
/** In the quickest of so many, each with other names: how many of them the server keeps in one place is chance. */
const TRIES = 12
const FIELDS = 64
const LONG = 'x'.repeat(1_000_000)

/** The scripts that go through a hash which another program may have filled, and the key that it is. */
const SCRIPTS: readonly (readonly [name: string, key: string])[] = [
  ['lock/acquire', 'lock'],
  ['spin-lock/inspect', 'lock'],
  ['fair-lock/enqueue', 'lock'],
  ['keyed-lock/acquire', 'group'],
  ['read-write-lock/ask', 'lock'],
  ['read-write-lock/release', 'lock'],
  ['read-write-lock/read-pass', 'lock'],
  ['read-write-lock/force-release', 'lock'],
  ['read-write-lock/steal', 'lock'],
  ['read-write-lock/inspect', 'lock'],
  ['semaphore/ask', 'amounts'],
  ['semaphore/try-set-permits', 'amounts'],
]

/** What stands there before: a few short fields, and the long ones. */
const FILLINGS: Readonly<Record<string, (i: string) => { readonly short?: Word[]; readonly long: Word[] }>> = {
  'long names': (i) => ({ long: [`${CLIENT}:${i}${LONG}`, 1] }),
  'long values': (i) => ({ long: [`${CLIENT}:${i}`, `1${LONG}`] }),
  'readers of long names, and mine': (i) => ({
    short: ['mode', 'read', `${CLIENT}:7`, 1],
    long: [`${CLIENT}:${i}${LONG}`, 1],
  }),
  'readers who read long numbers of times, and mine': (i) => ({
    short: ['mode', 'read', `${CLIENT}:7`, 1],
    long: [`${CLIENT}:${i}`, `1${LONG}`],
  }),
  'a write of mine above readers of long names': (i) => ({
    short: ['mode', 'write', `${CLIENT}:7:write`, 1],
    long: [`${CLIENT}:${i}${LONG}`, 1],
  }),
}

void describe(`hashes with ${FIELDS} fields of 1 MB`, () => {
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

  const fill = async (filling: string, round: number): Promise<void> => {
    await redis.unlink('template')
    for (let i = 0; i < FIELDS; i++) {
      const { short = [], long } = FILLINGS[filling]?.(`${round}${String(i).padStart(2, '0')}`) ?? assert.fail()
      await redis.hset('template', ...short, ...long)
    }
  }

  /** What the server took for it, without what it then frees in another thread, ms. */
  const run = async (script: Script, key: string, args: readonly Word[]): Promise<number> => {
    const keys = slotsOf(script).KEYS.map(({ name }) => name)
    await redis.unlink(...keys)
    await redis.copy('template', key)
    const [, , stats] = (await redis
      .pipeline()
      .call('CONFIG', 'RESETSTAT')
      .call('EVAL', script.text, keys.length, ...keys, ...args)
      .call('INFO', 'commandstats')
      .exec()) as [unknown, unknown, [null, string]]
    return Number(/cmdstat_eval:calls=1,usec=(\d+)/.exec(stats[1])?.[1]) / 1000
  }

  for (const filling of Object.keys(FILLINGS)) {
    test(`${filling} → ${LONGEST} ms at most, whatever goes through them`, { timeout: 120_000 }, async () => {
      const least = new Map<string, number>()
      for (let round = 0; round < TRIES; round++) {
        const slow = SCRIPTS.filter(([name]) => !((least.get(name) ?? Infinity) <= LONGEST))
        if (slow.length === 0) break
        await fill(filling, round)
        for (const [name, key] of slow) {
          const script = (Object.values(generated) as readonly Script[]).find((one) => one.name === name)
          assert.ok(script !== undefined, name)
          const took = await run(script, key, argumentsOf(script, seeded(round)))
          least.set(name, Math.min(took, least.get(name) ?? Infinity))
        }
      }
      assert.deepEqual(
        [...least].filter(([, ms]) => ms > LONGEST),
        [],
      )
    })
  }
})
