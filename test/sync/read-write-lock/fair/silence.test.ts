import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connect } from 'holdfast'
import { virtualClock } from 'holdfast/testing'
import { openMemoryServer } from '#src/engine/memory/registry.js'

const NAME = 'a'
const QUEUE = `holdfast_rwlock_queue:{${NAME}}`
const DEADLINES = `holdfast_rwlock_timeout:{${NAME}}`
const DEAD = '5f0f6e0c-6a1b-813d-9e2f-1a2b3c4d5e6f:1:write'

void test('a dead writer stands before living readers, behind a read that goes on → they are in within two trials', async () => {
  const clock = virtualClock()
  const url = 'memory:dead-writer'
  const redis = openMemoryServer('dead-writer', clock)
  const [one, two] = [await connect({ url, clock }), await connect({ url, clock })]
  const reads = await one.readWriteLock(NAME, { fair: true }).read.acquire()
  redis.execute(['RPUSH', QUEUE, DEAD])
  redis.execute(['ZADD', DEADLINES, String(clock.now() + 10_000), DEAD])
  let entered: number | undefined
  const begun = clock.now()
  const reading = two.readWriteLock(NAME, { fair: true }).read.acquire()
  void reading.then(() => (entered = clock.now() - begun))
  for (let i = 0; i < 100 && entered === undefined; i++) await clock.advance(100)
  assert.ok(entered !== undefined && entered > 3000 && entered < 8000, `${entered} ms`)
  await (await reading).release()
  await reads.release()
  await Promise.all([one.close(), two.close()])
})

void test('a try of an owner that stands in the line already → answered at once', async () => {
  const clock = virtualClock()
  const url = 'memory:try-in-line'
  const [one, two] = [await connect({ url, clock }), await connect({ url, clock })]
  for (const lockOf of [
    (client: typeof one) => client.fairLock(NAME),
    (client: typeof one) => client.readWriteLock('rw', { fair: true }).write,
  ]) {
    const held = await lockOf(one).acquire()
    const owner = two.owner()
    const waiting = lockOf(two).acquire({ owner })
    const beside = lockOf(two).tryAcquire({ owner })
    await clock.advance(20)
    assert.equal(await beside, undefined)
    assert.equal(await lockOf(two).tryAcquire({ owner }), undefined)
    await held.release()
    await clock.advance(20)
    await (await waiting).release()
  }
  await Promise.all([one.close(), two.close()])
})
