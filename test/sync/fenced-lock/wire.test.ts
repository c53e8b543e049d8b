import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { times } from '../../suites/contract/lock/kind.js'
import { RedissonActor } from '../../support/redisson-actor.js'
import { ofScripts, onWire, requests } from '../../support/wire.js'

await onWire('the fenced lock on the wire', (wire) => {
  void test('held → the plain lock’s hash, and the counter, without expiry, under the same tag', async () => {
    const client = await wire.open()
    for (const [name, counter] of [
      ['orders', 'redisson_lock_token:{orders}'],
      ['a:{b}:c', 'redisson_lock_token:a:{b}:c'],
    ] as const) {
      const hold = await client.fencedLock(name).acquire({ lease: 5000 })
      assert.deepEqual((await wire.redis.keys('*')).sort(), [name, counter].sort())
      const [[field, count] = []] = Object.entries(await wire.redis.hgetall(name))
      assert.ok(String(field).startsWith(`${client.id}:`))
      assert.equal(count, '1')
      const left = await wire.redis.pttl(name)
      assert.ok(left <= 5000 && left > 3000, String(left))
      assert.equal(await wire.redis.get(counter), '1')
      assert.equal(await wire.redis.pttl(counter), -1)
      assert.equal(await hold.release(), true)
      assert.deepEqual(await wire.redis.keys('*'), [counter])
      await wire.told()
      assert.ok(wire.heard.includes(`redisson_lock__channel:${name.includes('{') ? name : `{${name}}`} 0`))
      await wire.redis.del(counter)
    }
  })

  void test('one lock and unlock → one request each, and one INCR', async () => {
    const client = await wire.open()
    const lock = client.fencedLock('orders')
    await lock.using(() => undefined)
    const seen = await wire.monitored(async () => {
      for (let round = 0; round < 10; round += 1) await lock.using(() => undefined)
    })
    assert.deepEqual(
      requests(seen),
      times(20, () => 'evalsha'),
    )
    const raised = ofScripts(seen).filter((command) => command.startsWith('incr'))
    assert.deepEqual(
      raised,
      times(10, () => 'incr redisson_lock_token:{orders}'),
    )
  })

  void test('held by a plain Redisson lock → a fenced try is not had, and takes no token', async () => {
    const client = await wire.open()
    const redisson = new RedissonActor(wire.url, 'orders', 1)
    try {
      assert.equal(await redisson.try(), null)
      assert.equal(await client.fencedLock('orders').tryAcquire(), undefined)
      assert.equal(await wire.redis.exists('redisson_lock_token:{orders}'), 0)
      const waiting = client.fencedLock('orders').acquire()
      await sleep(100)
      assert.equal(await redisson.release(), 1)
      const hold = await waiting
      assert.equal(hold.token, 1n)
      const left = await redisson.try()
      assert.ok(left !== null && left > 25_000, String(left))
      assert.equal(await hold.release(), true)
    } finally {
      redisson.close()
    }
  })
})
