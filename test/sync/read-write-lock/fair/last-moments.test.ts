import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connect } from 'holdfast'
import { virtualClock } from 'holdfast/testing'
import { start } from '#src/client.js'
import { settle } from '#src/config/settings.js'
import { decode } from '#src/engine/memory/driver.js'
import { openMemoryServer } from '#src/engine/memory/registry.js'
import { toBytes } from '#src/engine/memory/reply.js'
import { MemoryServer } from '#src/engine/memory/server.js'
import { readLevels } from '#src/keys.js'
import { readWriteLockReadSetLevel } from '#src/lua/scripts.gen.js'
import { SlowDriver } from '../../../support/slow-driver.js'

const NAME = 'a'
const LEASE = 1000
/** Of a client that does nothing by itself. */
const READER = '00000000-0000-8100-8000-000000000001:1'

void test('a read in its last millisecond, a writer in the line → nobody is let in, and the read may be made longer', async () => {
  const clock = virtualClock()
  const url = 'memory:last-millisecond'
  const redis = openMemoryServer('last-millisecond', clock)
  const run = (...argv: (string | number)[]): unknown => decode(redis.execute(argv.map(toBytes)), false)
  const client = await connect({ url, clock })
  const levels = readLevels(NAME, READER)
  const begun = clock.now()
  run('HSET', NAME, 'mode', 'read', READER, 1)
  run('SET', `${levels}:1`, 1, 'PX', LEASE)
  run('PEXPIRE', NAME, LEASE)
  let writes: number | undefined
  const writing = client.readWriteLock(NAME, { fair: true }).write.acquire()
  void writing.then(() => (writes = clock.now() - begun))
  while (clock.now() < begun + LEASE) await clock.advance(1)
  assert.equal(run('PTTL', `${levels}:1`), 0)
  assert.equal(run('PTTL', NAME), 0)
  assert.equal(writes, undefined)
  assert.equal(run('EVAL', readWriteLockReadSetLevel.text, 2, NAME, levels, READER, 1, LEASE), LEASE)
  while (writes === undefined && clock.now() < begun + 5 * LEASE) await clock.advance(1)
  assert.ok(writes !== undefined && writes > 2 * LEASE, `${writes} ms`)
  await (await writing).release()
  await client.close()
})

void test('a grant is heard long after the lock was taken by force → its holder is told as soon as the server has answered', async () => {
  const clock = virtualClock()
  const redis = new MemoryServer(clock)
  const open = async () => {
    const driver = new SlowDriver(redis, clock)
    const opening = start(settle({ url: 'memory:', clock, commandTimeout: 1000 }, {}), driver)
    await clock.advance(20)
    return { client: await opening, driver, lock: (await opening).readWriteLock(NAME, { fair: true }) }
  }
  const [one, two] = [await open(), await open()]
  const reading = one.lock.read.acquire()
  await clock.advance(20)
  const reads = await reading
  let told: number | undefined
  let had: number | undefined
  const writing = two.lock.write.acquire()
  void writing.then(({ signal }) => {
    had = clock.now()
    signal.addEventListener('abort', () => (told = clock.now()))
  })
  await clock.advance(50)
  let deliver = (): void => undefined
  const until = (): Promise<void> => new Promise((resolve) => (deliver = resolve))
  two.driver.stop = { op: 'message', phase: 'reply', name: 'grant', until }
  void reads.release()
  await clock.advance(50)
  void one.lock.write.forceRelease()
  await clock.advance(800)
  assert.equal(had, undefined)
  deliver()
  await clock.advance(20)
  assert.ok(had !== undefined, 'believed: it is provably young enough')
  assert.ok(told !== undefined && told - had <= 5, `told after ${(told ?? Infinity) - had} ms`)
  assert.equal((await writing).state, 'lost')
  await Promise.all([one.client.close(), two.client.close(), clock.advance(100)])
})
