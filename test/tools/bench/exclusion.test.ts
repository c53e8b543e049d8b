import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { holdfast } from '../../../bench/participants/holdfast.js'
import { drowsy, leaky, open } from '../../../bench/participants/trials.js'
import { violations } from '../../../bench/measure/digest.js'
import type { Load, Sample } from '../../../bench/base/load.js'
import { runRounds } from '../../../bench/measure/rounds.js'
import { ServerMeter } from '../../../bench/measure/server-meter.js'
import { type RedisServer, startRedis } from '../../support/redis-server.js'

const sampleOf = (...stays: number[]): Sample => ({
  ...{ pairs: 0, total: 0, waits: new Float64Array(), stays: Float64Array.from(stays) },
  ...{ crowded: 0, held: 0, cpu: 0 },
})

describe('the harness looks who is inside', () => {
  it('finds who came in before another process had left', () => {
    assert.equal(violations([sampleOf(0, 10, 30, 40), sampleOf(10, 20, 20, 30)]), 0)
    assert.equal(violations([sampleOf(0, 10, 30, 40), sampleOf(9, 20)]), 1)
    assert.equal(violations([sampleOf(0, 100), sampleOf(10, 20), sampleOf(30, 40)]), 2)
  })

  it('finds who came in where all places were taken', () => {
    const inside = [sampleOf(0, 100), sampleOf(10, 90), sampleOf(50, 60)]
    assert.equal(violations(inside, 3), 0)
    assert.equal(violations(inside, 2), 1)
  })
})

describe('who does not exclude', () => {
  let redis: RedisServer
  let meter: ServerMeter

  before(async () => {
    redis = await startRedis()
    meter = new ServerMeter(redis.url)
  })
  after(async () => {
    meter.end()
    await redis.stop()
  })

  const notesOf = async (load: Load, ...who: string[]): Promise<(string | undefined)[]> => {
    const bench = { quick: true, rounds: 3, server: { redis, meter }, log: () => undefined }
    const rows = await runRounds(bench, { load, seconds: 0.5, who })
    return rows.map(({ note }) => note)
  }

  const load = { kind: 'lock', engine: 'redis', processes: 2, callers: 4, names: 'one', holdMs: 1 } as const

  it('is marked in the row of its figures, and who does is not', async () => {
    const notes = await notesOf(load, open.name, leaky.name, holdfast.name)
    assert.deepEqual(notes, ['VIOLATED', 'VIOLATED', undefined])
  })

  it('is seen within one process, too', async () => {
    assert.deepEqual(await notesOf({ ...load, processes: 1 }, leaky.name, holdfast.name), ['VIOLATED', undefined])
  })

  it('and who is never called again is counted, beside the figures of the others', async () => {
    const [note = ''] = await notesOf({ ...load, processes: 1 }, drowsy.name)
    assert.match(note, /^1 of the callers still waited/)
  })
})
