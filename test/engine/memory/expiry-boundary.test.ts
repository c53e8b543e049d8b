import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Redis } from 'ioredis'
import { systemClock } from '#src/base/clock.js'
import { MemoryServer } from '#src/engine/memory/server.js'
import { type RedisServer, startRedis } from '../../support/redis-server.js'
import { fromMemory, fromRedis, type Plain } from './replies.js'

type Ask = (commands: readonly (readonly string[])[]) => Promise<Plain[]>

const LOOK = `local time = redis.call('TIME')
local exists, left = redis.call('EXISTS', KEYS[1]), redis.call('PTTL', KEYS[1])
return { time[1] .. string.format('%03d', math.floor(time[2] / 1000)), exists, left }`
const NOW = `local time = redis.call('TIME')
redis.call('SET', KEYS[1], 'v')
redis.call('PEXPIREAT', KEYS[1], time[1] .. string.format('%03d', math.floor(time[2] / 1000)))
return redis.call('EXISTS', KEYS[1])`
/** How far off the end is: on a loaded machine, the looks arrive later. */
const AHEAD_MS = [4, 8, 16, 32, 64, 128] as const
const ROUNDS = 240
const MOMENTS = 12

const msOf = (time: Plain): number => {
  const [seconds, micros] = (time as string[]).map((part) => Number(part.slice(1)))
  return (seconds ?? NaN) * 1000 + Math.floor((micros ?? NaN) / 1000)
}

/** What each setter of an expiry means by the moment `at`. */
const SETTERS: Readonly<Record<string, (key: string, at: number) => readonly string[]>> = {
  PEXPIREAT: (key, at) => ['PEXPIREAT', key, String(at)],
  'SET … PXAT': (key, at) => ['SET', key, 'v', 'PXAT', String(at)],
  'GETEX … PXAT': (key, at) => ['GETEX', key, 'PXAT', String(at)],
}

interface Seen {
  last: number
  after: number
}

/** Checks one batch of looks, each a script and a plain command between two looks at the time; returns the latest time. */
const checkLooks = (answers: readonly Plain[], at: number, before: number, seen: Seen): number => {
  let known = before
  for (let i = 0; i < answers.length; i += 4) {
    const [time, exists, left] = answers[i] as [string, string, string]
    const inScript = Number(time.slice(1))
    const [earliest, there, latest] = [msOf(answers[i + 1] ?? null), answers[i + 2], msOf(answers[i + 3] ?? null)]
    if (inScript <= at) assert.equal(exists, ':1', `${at - inScript} ms before its end, in a script`)
    if (inScript === at) assert.equal(left, ':0', 'what PTTL says in the last millisecond')
    if (known > at) assert.deepEqual([exists, left], [':0', ':-2'], 'gone for scripts')
    if (latest <= at) assert.equal(there, ':1', `${at - latest} ms before its end`)
    if (earliest > at) assert.equal(there, ':0', 'gone')
    if (inScript === at) seen.last++
    if (earliest > at) seen.after++
    known = latest
  }
  return known
}

const LOOKS = Array.from({ length: 50 }, () => [['EVAL', LOOK, '1', 'key'], ['TIME'], ['EXISTS', 'key'], ['TIME']])

const watch = async (ask: Ask, setter: (key: string, at: number) => readonly string[]): Promise<Seen> => {
  const seen = { last: 0, after: 0 }
  for (let round = 0; round < ROUNDS && (seen.last < MOMENTS || seen.after < MOMENTS); round++) {
    const [time = null] = await ask([['TIME']])
    const at = msOf(time) + (AHEAD_MS[round % AHEAD_MS.length] ?? 0)
    const [, , set = null] = await ask([['SET', 'key', 'v'], setter('key', at), ['TIME']])
    if (msOf(set) >= at) continue
    let known = 0
    while (known <= at) known = checkLooks(await ask(LOOKS.flat()), at, known, seen)
  }
  return seen
}

const promises = (asked: () => Ask | undefined): void => {
  for (const [name, setter] of Object.entries(SETTERS)) {
    it(`an expiry set by ${name}`, async (t) => {
      const ask = asked()
      if (ask === undefined) {
        t.skip('no redis')
        return
      }
      const seen = await watch(ask, setter)
      assert.ok(seen.last > 0 && seen.after > 0, `the boundary was seen: ${JSON.stringify(seen)}`)
    })
  }

  it('but one that is set to this very millisecond removes it at once', async (t) => {
    const ask = asked()
    if (ask === undefined) {
      t.skip('no redis')
      return
    }
    const answers = await ask(Array.from({ length: 50 }, () => ['EVAL', NOW, '1', 'key']))
    assert.deepEqual(new Set(answers), new Set([':0']))
  })
}

describe('a key is still there in the millisecond at which it expires, and gone in the next', () => {
  describe('on a real server', () => {
    let server: RedisServer | undefined
    let redis: Redis | undefined
    before(async () => {
      try {
        server = await startRedis()
        redis = new Redis({ port: server.port, protocol: 2, stringNumbers: true })
      } catch (error) {
        const missing = error instanceof Error && 'code' in error && error.code === 'NO_REDIS'
        if (!missing || (process.env['HOLDFAST_REQUIRE'] ?? '').includes('redis')) throw error
      }
    })
    after(async () => {
      redis?.disconnect()
      await server?.stop()
    })
    promises(() => {
      const connection = redis
      if (connection === undefined) return undefined
      return async (commands) => {
        const pipeline = connection.pipeline()
        for (const [name = '', ...args] of commands) pipeline.callBuffer(name, ...args)
        return ((await pipeline.exec()) ?? []).map(([error, reply]) => fromRedis(error ?? reply))
      }
    })
  })

  describe('on the embedded one', () => {
    const memory = new MemoryServer(systemClock)
    after(() => {
      memory.close()
    })
    promises(() => (commands) => Promise.resolve(commands.map((argv) => fromMemory(memory.execute(argv)))))
  })
})
