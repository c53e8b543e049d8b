import assert from 'node:assert/strict'
import { after, before, describe, it, type TestContext } from 'node:test'
import { Redis } from 'ioredis'
import { systemClock } from '#src/base/clock.js'
import { MemoryServer } from '#src/engine/memory/server.js'
import { type RedisServer, startRedis } from '../../support/redis-server.js'
import { Differential, type Run } from './differential.js'
import { Servers } from './servers.js'

const FIXED_SEED = 20_240_601
const seeds = (): number[] => {
  const given = process.env['HOLDFAST_SEED']
  return given === undefined ? [FIXED_SEED, Math.floor(Math.random() * 2 ** 31)] : [Number(given)]
}

describe('the embedded server answers as Redis does', () => {
  let server: RedisServer | undefined
  let redis: Redis | undefined
  let reason = ''

  before(async () => {
    try {
      server = await startRedis()
      redis = new Redis({ port: server.port, protocol: 2, stringNumbers: true })
    } catch (error) {
      const missing = error instanceof Error && 'code' in error && error.code === 'NO_REDIS'
      if (!missing || (process.env['HOLDFAST_REQUIRE'] ?? '').includes('redis')) throw error
      reason = `no redis: ${error.message}`
    }
  })

  after(async () => {
    redis?.disconnect()
    await server?.stop()
  })

  const compare = async (t: TestContext, run: Omit<Run, 'seed'>): Promise<void> => {
    if (redis === undefined) {
      t.skip(reason)
      return
    }
    const memory = new MemoryServer(systemClock)
    const differential = new Differential(new Servers(memory, redis))
    const started = performance.now()
    for (const seed of seeds()) await differential.run({ ...run, seed })
    memory.close()
    const { steps, differences } = differential.outcome
    const seconds = (performance.now() - started) / 1000
    t.diagnostic(`${steps} steps in ${seconds.toFixed(1)} s`)
    assert.equal(differences.length, 0, differences.slice(0, 20).join('\n\n'))
  }

  it('to random commands', async (t) => compare(t, { sequences: 100, steps: 200, scripts: false }))
  it('to random scripts', async (t) => compare(t, { sequences: 50, steps: 200, scripts: true }))
})
