import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connect } from 'holdfast'
import { virtualClock } from 'holdfast/testing'
import { openMemoryServer } from '#src/engine/memory/registry.js'
import { fairLockEnqueue } from '#src/lua/scripts.gen.js'

const NAME = 'a'

void test('callers of one turn → in the line by one script each 250, in their order; who gave up in that turn never joins', async () => {
  const clock = virtualClock()
  const url = 'memory:joining'
  const server = openMemoryServer('joining', clock)
  const [one, two] = [await connect({ url, clock }), await connect({ url, clock })]
  const lock = one.fairLock(NAME)
  const first = await two.fairLock(NAME).acquire()
  // From here on grants are heard, and a free lock is not asked for first.
  const heard = lock.acquire()
  await clock.advance(5)
  await first.release()
  const held = await heard
  await clock.advance(5)
  let joined = 0
  const evalSha = server.scripts.evalSha.bind(server.scripts)
  server.scripts.evalSha = (sha, ...rest) => {
    if (Buffer.from(sha).toString() === fairLockEnqueue.sha) joined++
    return evalSha(sha, ...rest)
  }
  const order: number[] = []
  const calls = new AbortController()
  const waiting = Array.from({ length: 300 }, async (_, place) => {
    const hold = await lock.acquire()
    order.push(place)
    await hold.release()
  })
  const left = lock.acquire({ signal: calls.signal })
  calls.abort(new Error('not any more'))
  await assert.rejects(left, /not any more/)
  await clock.advance(5)
  assert.equal(joined, 2)
  await held.release()
  for (let i = 0; i < 50; i++) await clock.advance(20)
  await Promise.all(waiting)
  assert.deepEqual(
    order,
    Array.from({ length: 300 }, (_, place) => place),
  )
  await Promise.all([one.close(), two.close()])
  assert.deepEqual(server.execute(['KEYS', '*']), [])
})
