import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { EngineError } from 'holdfast'
import { connect, NotInitializedError } from 'holdfast'
import { ownRedis } from '../../support/engines.js'
import { startRedis } from '../../support/redis-server.js'

const rate = { permits: 2, interval: 60_000 }

void test('a try with a rate, where none is set → set in passing; where one is set it stays', async () => {
  await using client = await connect('memory:')
  const limiter = client.rateLimiter('a')
  await assert.rejects(limiter.tryAcquire(), NotInitializedError)
  const first = await Promise.all([limiter.tryAcquire({ rate }), limiter.tryAcquire({ rate })])
  assert.deepEqual(
    first.map(({ allowed }) => allowed),
    [true, true],
  )
  assert.equal((await limiter.tryAcquire({ rate: { permits: 9, interval: 10 } })).allowed, false)
  assert.deepEqual(await limiter.rate(), { ...rate, scope: 'overall' })
  await assert.rejects(limiter.tryAcquire({ rate: { permits: 0, interval: 1 } }), RangeError)
  await assert.rejects(limiter.tryAcquire({ late: 'never' as never }), TypeError)
})

void test('late answers count → an abort or a lost answer sends nothing more; otherwise the permit comes back', async (t) => {
  const server = await ownRedis(t)
  if (server === undefined) return
  const client = await connect({ url: server.url, presence: false, commandTimeout: 300 })
  client.on('error', () => undefined)
  try {
    // The server knows the scripts.
    await client.rateLimiter('warm').tryAcquire({ rate })
    for (const [name, late, left] of [
      ['counts', 'counts', 0],
      ['undone', undefined, 2],
    ] as const) {
      const limiter = client.rateLimiter(name)
      await limiter.setRate({ permits: 2, interval: 600_000 })
      process.kill(server.pid, 'SIGSTOP')
      const given = new AbortController()
      const aborted = limiter.tryAcquire({ late, signal: given.signal })
      const silent = limiter.tryAcquire({ late })
      given.abort(new Error('enough'))
      await assert.rejects(aborted, /enough/)
      await assert.rejects(silent, (error: EngineError) => error.code === 'NO_REPLY')
      process.kill(server.pid, 'SIGCONT')
      // An undo that was not answered is tried again within half a second.
      await sleep(1500)
      assert.equal(await limiter.available(), left, name)
    }
  } finally {
    process.kill(server.pid, 'SIGCONT')
    await client.close()
    await server.stop()
  }
})

void test('given up before it is sent → it is never sent', async (t) => {
  const server = await ownRedis(t)
  if (server === undefined) return
  const client = await connect({ url: server.url, presence: false })
  client.on('error', () => undefined)
  const limiter = client.rateLimiter('a')
  await limiter.setRate({ permits: 2, interval: 600_000 })
  const { port } = server
  await server.stop()
  await sleep(50)
  const given = new AbortController()
  const aborted = limiter.tryAcquire({ late: 'counts', rate, signal: given.signal, wait: 5000 })
  setTimeout(() => given.abort(new Error('enough')), 50)
  await assert.rejects(aborted, /enough/)
  const again = await startRedis(['--port', String(port)])
  try {
    while (
      (await client
        .rateLimiter('b')
        .tryAcquire({ rate })
        .catch(() => undefined)) === undefined
    )
      await sleep(20)
    assert.equal(await limiter.rate(), undefined)
  } finally {
    await client.close()
    await again.stop()
  }
})
