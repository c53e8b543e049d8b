import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Topics } from '#src/sync/topic/topics.js'
import type { LeaderRecord } from '#src/sync/election/leader-record.js'
import { Observer } from '#src/sync/election/observer.js'
import { virtualClock } from 'holdfast/testing'
import { onStage } from '../../support/stage.js'

const MANY = 30_000

for (const refusal of [
  'OOM command not allowed',
  'MISCONF Redis is configured to save RDB snapshots',
  'NOREPLICAS Not enough good replicas',
  'ERR upstream failure',
])
  onStage(
    `${refusal}, for half a minute → told once, and it leads then`,
    async ({ client, driver, clock, errors, run, raw }) => {
      driver.refuses = refusal
      const led = client.election('e').lead(({ term }) => term)
      await clock.advance(MANY)
      assert.deepEqual(
        errors.map(({ message }) => message),
        [refusal],
      )
      driver.refuses = undefined
      assert.equal(await run(led), 1n)
      // What nobody could delete meanwhile expires later.
      for (const note of raw('KEYS', 'holdfast_request:*') as string[]) raw('DEL', note)
    },
    ['redisson_lock_token:{e}'],
  )

onStage('NOPERM → lead rejects', async ({ client, driver, run }) => {
  driver.refuses = 'NOPERM this user has no permissions'
  await run(
    assert.rejects(
      client.election('e').lead(() => assert.fail()),
      { code: 'NOPERM' },
    ),
  )
  driver.refuses = undefined
})

void test('an observer that ends with an error → it unsubscribes', async () => {
  const clock = virtualClock(1)
  let left = 0
  const listening = { on: () => listening, atEnd: () => undefined, unsubscribe: () => Promise.resolve(left++) }
  const topics = { runtime: { sharded: false, options: { clock } }, listen: () => Promise.resolve(listening) }
  const leadership = { channel: 'c', read: () => Promise.reject(new Error('refused')) }
  const observer = new Observer({
    name: 'e',
    topics: topics as unknown as Topics,
    leadership: leadership as unknown as LeaderRecord,
    signal: undefined,
    shown: () => assert.fail(),
  })
  await assert.rejects(observer.next(), /refused/)
  await clock.advance(10)
  assert.equal(left, 1)
})
