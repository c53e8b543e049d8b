import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Redis } from 'ioredis'
import { holdfast } from '../../../bench/participants/holdfast.js'
import type { Sample } from '../../../bench/base/load.js'
import { atDistance } from '../../../bench/measure/at-distance.js'
import type { Bench, MeasuredServer } from '../../../bench/measure/bench.js'
import { betweenProcesses } from '../../../bench/measure/digest.js'
import { runRounds } from '../../../bench/measure/rounds.js'
import { ServerMeter } from '../../../bench/measure/server-meter.js'
import { type RedisServer, startRedis } from '../../support/redis-server.js'

const TRIP = 5

describe('a server at a distance', () => {
  let redis: RedisServer
  let bench: Bench

  before(async () => {
    redis = await startRedis()
    bench = { quick: true, rounds: 1, server: { redis, meter: new ServerMeter(redis.url) }, log: () => undefined }
  })
  after(async () => {
    bench.server?.meter.end()
    await redis.stop()
  })

  const far = (work: (client: Redis, server: MeasuredServer, bench: Bench) => Promise<void>): Promise<void> =>
    atDistance(bench, TRIP, async (away) => {
      const client = new Redis(away.server!.redis.url)
      try {
        await client.ping()
        await work(client, away.server!, away)
      } finally {
        client.disconnect()
      }
    })

  it('delays each reply by a trip, and the quickest by hardly more', () =>
    far(async (client) => {
      const trips: number[] = []
      for (let i = 0; i < 50; i++) {
        const from = performance.now()
        await client.ping()
        trips.push(performance.now() - from)
      }
      const least = Math.min(...trips)
      assert.ok(least >= TRIP && least < 1.5 * TRIP, `${least} ms`)
    }))

  it('lets what is sent at once arrive at once, whole and in order', () =>
    far(async (client) => {
      const large = 'x'.repeat(5_000_000)
      const from = performance.now()
      const all = [client.set('large', large), ...Array.from({ length: 2000 }, () => client.incr('count'))]
      const [, ...counts] = await Promise.all(all)
      assert.deepEqual(
        counts,
        Array.from({ length: 2000 }, (_, i) => i + 1),
      )
      assert.equal(await client.get('large'), large)
      assert.ok(performance.now() - from < 1000 * TRIP, 'far less than a trip for each')
    }))

  it('counts each wait for a reply once, however much was sent', () =>
    far(async (client, { turns }) => {
      const from = await turns!()
      for (let i = 0; i < 3; i++) await Promise.all([client.ping(), client.ping(), client.ping()])
      assert.equal((await turns!()) - from, 3)
    }))

  it('a pair alone takes two trips', () =>
    far(async (_client, _server, away) => {
      const load = { kind: 'lock', engine: 'redis', processes: 1, callers: 1, names: 'each', holdMs: 0 } as const
      const [row] = await runRounds(away, { load, seconds: 1, quick: 1, who: [holdfast.name] })
      const { turns = NaN } = row!.cells
      // A slow machine has few pairs, beside which the heartbeats of a client count.
      assert.ok(turns >= 1.99 && turns < 2.5, `${turns} trips`)
    }))

  it('a lock gets from one process to the next in one trip', () =>
    far(async (_client, _server, away) => {
      const load = { kind: 'fairLock', engine: 'redis', processes: 2, callers: 2, names: 'one', holdMs: 1 } as const
      const [row] = await runRounds(away, { load, seconds: 1, quick: 1, who: [holdfast.name] })
      const { leastGap = NaN } = row!.cells
      // The release has to get there, and the message back. A whole trip more would be two.
      assert.ok(leastGap >= 0.95 * TRIP && leastGap < 1.9 * TRIP, `${leastGap} ms`)
    }))
})

describe('what lies between two processes', () => {
  const sampleOf = (...stays: number[]): Sample => ({
    ...{ pairs: 0, total: 0, waits: new Float64Array(), stays: Float64Array.from(stays) },
    ...{ crowded: 0, held: 0, cpu: 0 },
  })

  it('is the time from the end of a hold to the next hold elsewhere, in ms', () => {
    const one = sampleOf(0, 1000, 1100, 2000)
    assert.deepEqual(betweenProcesses([one, sampleOf(5000, 6000)]), { gap: 3, leastGap: 3 })
    assert.deepEqual(betweenProcesses([one]), {})
  })
})
