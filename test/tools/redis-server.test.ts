import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Redis } from 'ioredis'
import { onServer } from '../support/server.js'
import { startRedis } from '../support/redis-server.js'

onServer('a port that another server has → no server, rather than that one', async ({ server, redis }) => {
  await assert.rejects(startRedis(['--port', String(server.port)]), /redis-server ended with 1/)
  assert.equal(await redis.ping(), 'PONG')
})

void test('ten servers that start at once → each answers as the process that it says it is', async (t) => {
  const started = await Promise.allSettled(Array.from({ length: 10 }, () => startRedis()))
  const servers = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  t.after(() => Promise.all(servers.map((server) => server.stop())))
  assert.equal(servers.length, 10)
  for (const { url, pid } of servers) {
    const redis = new Redis(url)
    assert.match(await redis.info('server'), new RegExp(`^process_id:${pid}\r`, 'm'))
    redis.disconnect()
  }
})
