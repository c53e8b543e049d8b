import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { connect } from 'holdfast'
import { startRedis } from '../../support/redis-server.js'
import { until } from '../../support/until.js'

void test('a server gets a password that the URL does not have → told, tried once a second; it goes again → served', async (t) => {
  const server = await startRedis()
  const admin = new Redis(server.url)
  const client = await connect({ url: server.url, presence: false })
  t.after(async () => {
    admin.disconnect()
    await client.close({ release: false })
    await server.stop()
  })
  const told: string[] = []
  client.on('error', ({ message }) => told.push(message))
  const connections = async (): Promise<number> =>
    Number(/total_connections_received:(\d+)/.exec(await admin.info('stats'))?.[1])

  const hold = await client.fairLock('a').acquire({ lease: 1500 })
  // What a waiter of a fair lock sends is too long for a server that does not know who it is.
  const waiting = client.fairLock('a').acquire()
  // Nothing is under way when the connection is cut: its reset would be an error of its own.
  await until(async () => (await admin.llen('redisson_lock_queue:{a}')) === 1, 1000)
  await sleep(50)
  await admin.config('SET', 'requirepass', 'later')
  await admin.auth('later')
  await admin.call('CLIENT', 'KILL', 'TYPE', 'normal')
  const before = await connections()
  await sleep(3000)
  const made = (await connections()) - before
  assert.ok(made >= 2 && made <= 7, `${made} connections in 3 s`)
  assert.ok(told.length > 0 && told.every((message) => message.includes('NOAUTH')), told.join('\n'))
  await assert.rejects(client.lock('b').acquire({ wait: 0 }), { code: 'OFFLINE' })

  await admin.config('SET', 'requirepass', '')
  await until(async () => (await client.health()).state === 'up', 5000)
  await (await waiting).release()
  assert.equal(hold.state, 'lost')
})
