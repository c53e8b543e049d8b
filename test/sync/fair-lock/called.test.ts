import assert from 'node:assert/strict'
import { test } from 'node:test'
import { virtualClock } from 'holdfast/testing'
import { start } from '#src/client.js'
import { settle } from '#src/config/settings.js'
import { MemoryServer } from '#src/engine/memory/server.js'
import { SlowDriver } from '../../support/slow-driver.js'

/** A hash as Redisson leaves it; it would call the next one's own channel. */
const NAME = 'a'
const OTHER = '0f0f0f0f-0f0f-4f0f-8f0f-0f0f0f0f0f0f:1'

void test('who is called while its poll is answered already → asks again at once, and not a poll later', async () => {
  const clock = virtualClock(1)
  const server = new MemoryServer(clock)
  const driver = new SlowDriver(server, clock)
  const options = settle({ url: 'memory:', clock, presence: false }, {})
  const opened = start(options, driver)
  await clock.advance(20)
  const client = await opened
  server.execute(['HSET', NAME, OTHER, '1'])
  server.execute(['PEXPIRE', NAME, '30000'])
  const acquired = client.fairLock(NAME).acquire()
  const had = acquired.then(() => clock.monotonic())
  await clock.advance(20)
  const [channel] = (server.execute(['PUBSUB', 'CHANNELS', 'redisson_lock__channel:*']) as unknown as Buffer[]).map(
    String,
  )
  assert.ok(channel !== undefined)
  const freed = new Promise<number>((resolve) => {
    const until = async (): Promise<void> => {
      server.execute(['DEL', NAME])
      server.execute(['PUBLISH', channel, '0'])
      resolve(clock.monotonic())
      await new Promise<void>((told) => void clock.setTimer(told, 5))
    }
    driver.stop = { op: 'fair-lock/poll', phase: 'reply', name: NAME, until }
  })
  for (let ms = 0; ms < 1500; ms += 1) await clock.advance(1)
  const took = (await had) - (await freed)
  assert.ok(took < 20, `${took} ms`)
  const closed = client.close()
  await clock.advance(100)
  await closed
})
