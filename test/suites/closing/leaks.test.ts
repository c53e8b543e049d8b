import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { seeded } from '../../support/random.js'
import type { Leftovers } from '../../support/leak-process.js'
import { isSampled } from '../../support/sample.js'
import { onServer } from '../../support/server.js'

const PROGRAM = fileURLToPath(new URL('../../support/leak-process.js', import.meta.url))
const TIMEOUT = 280_000
const MEGABYTE = 1 << 20
/** The presence key of each client, the time limit of the replies, the next look of the watchdog. */
const TIMERS = 3

const leftBy = async (job: string, url: string, amount: number, seed = 1): Promise<Leftovers> => {
  const args = ['--expose-gc', '--unhandled-rejections=strict', PROGRAM, job, url, String(amount), String(seed)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const [said, [code]] = await Promise.all([text(child.stdout), once(child, 'close') as Promise<[number | null]>])
  assert.equal(code, 0)
  return JSON.parse(said) as Leftovers
}

const nothing = (left: Leftovers, clients: number): void => {
  const [before, after] = left.heap
  assert.ok(Math.abs(after - before) < 10 * MEGABYTE, `the heap went from ${before} to ${after} bytes`)
  assert.deepEqual(left.inside, { gates: 0, holds: 0, waiting: 0 })
  assert.equal(left.listeners, 0, 'a listener is left on a signal')
  assert.deepEqual(left.channels, [])
  assert.equal(left.keys, 0, 'a key is left')
  assert.ok(left.timers[0] <= clients * TIMERS + 1, `${left.timers[0]} timers`)
  assert.equal(left.timers[1], 0, 'a timer outlives the clients')
  assert.equal(left.keysWhenClosed, 0)
}

const seedOf = (text: string | undefined): number => Number(text ?? Math.floor(seeded(process.pid)() * 1e9))

void describe('what many locks leave behind', { concurrency: 2 }, () => {
  const seed = seedOf(process.env['HOLDFAST_SEED'])

  const names = isSampled ? 250_000 : 1_000_000
  test(`${names} names locked once on memory: → nothing`, { timeout: TIMEOUT }, async () => {
    const left = await leftBy('names', 'memory:names', names)
    assert.deepEqual([left.had, left.notHad], [names + 20_000, 0])
    nothing(left, 1)
  })

  test(
    `ten minutes of aborts, time limits and contention on memory: (seed ${seed}) → nothing`,
    { timeout: TIMEOUT },
    async () => {
      const left = await leftBy('churn', 'memory:churn', 600_000, seed)
      assert.ok(left.had > 10_000 && left.notHad > 10_000, `${left.had} had, ${left.notHad} not`)
      nothing(left, 2)
    },
  )

  onServer('100,000 names locked once on a server → nothing', async ({ server, redis }) => {
    const left = await leftBy('names', server.url, 100_000)
    assert.deepEqual([left.had, left.notHad], [120_000, 0])
    nothing(left, 1)
    assert.equal(await redis.dbsize(), 0)
  })

  onServer(`seconds of aborts, time limits and contention on a server (seed ${seed}) → nothing`, async (broken) => {
    const { server, redis, until } = broken
    const left = await leftBy('churn', server.url, 15_000, seed)
    assert.ok(left.had > 500 && left.notHad > 500, `${left.had} had, ${left.notHad} not`)
    nothing(left, 2)
    assert.equal(await redis.dbsize(), 0)
    assert.deepEqual(await redis.pubsub('CHANNELS', '*'), [])
    await until(
      async () =>
        String(await redis.client('LIST'))
          .trim()
          .split('\n').length === 1,
    )
  })
})
