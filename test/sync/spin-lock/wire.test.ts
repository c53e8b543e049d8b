import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { times } from '../../suites/contract/lock/kind.js'
import { RedissonActor } from '../../support/redisson-actor.js'
import { ofScripts, onWire, requests } from '../../support/wire.js'

await onWire('the spin lock on the wire', (wire) => {
  void test('held, waited for, released, forced → the plain lock’s hash; no message, no subscription', async () => {
    const [one, two] = [await wire.open(), await wire.open()]
    const seen = await wire.monitored(async () => {
      const hold = await one.spinLock('orders').acquire({ lease: 5000 })
      assert.deepEqual(await wire.redis.keys('*'), ['orders'])
      assert.deepEqual(Object.values(await wire.redis.hgetall('orders')), ['1'])
      const left = await wire.redis.pttl('orders')
      assert.ok(left <= 5000 && left > 3000, String(left))
      const waiting = two.spinLock('orders').acquire()
      await sleep(100)
      assert.deepEqual(await wire.redis.pubsub('CHANNELS', '*'), [])
      assert.equal(await hold.release(), true)
      await waiting
      assert.equal(await one.spinLock('orders').forceRelease(), true)
    })
    await wire.told()
    assert.deepEqual(wire.heard, [])
    assert.ok(!requests(seen).some((command) => command.includes('subscribe')), requests(seen).join())
    assert.ok(!ofScripts(seen).some((command) => command.startsWith('publish')))
  })

  void test('a wait of 500 ms → asks less and less often, at least each 150 ms', async () => {
    const [one, two] = [await wire.open(), await wire.open()]
    const hold = await one.spinLock('orders').acquire()
    const seen = await wire.monitored(async () => {
      assert.equal(await two.spinLock('orders').tryAcquire({ wait: 500 }), undefined)
    })
    const asked = requests(seen).length
    assert.ok(asked >= 4 && asked <= 14, `${asked} questions`)
    const steadily = await wire.monitored(async () => {
      const lock = two.spinLock('orders', { backoff: { delay: 100 } })
      assert.equal(await lock.tryAcquire({ wait: 500 }), undefined)
    })
    assert.ok(requests(steadily).length >= 2 && requests(steadily).length <= 7, `${requests(steadily).length}`)
    assert.equal(await hold.release(), true)
  })

  void test('one lock and unlock → one request each', async () => {
    const client = await wire.open()
    const lock = client.spinLock('orders')
    await lock.using(() => undefined)
    const seen = await wire.monitored(async () => {
      for (let round = 0; round < 10; round += 1) await lock.using(() => undefined)
    })
    assert.deepEqual(
      requests(seen),
      times(20, () => 'evalsha'),
    )
  })

  void test('beside a plain Redisson lock → they exclude one another', async () => {
    const client = await wire.open()
    const redisson = new RedissonActor(wire.url, 'orders', 1)
    try {
      assert.equal(await redisson.try(), null)
      assert.equal(await client.spinLock('orders').tryAcquire({ wait: 50 }), undefined)
      const waiting = client.spinLock('orders').acquire()
      assert.equal(await redisson.release(), 1)
      const hold = await waiting
      assert.ok(((await redisson.try()) ?? 0) > 20_000)
      assert.equal(await hold.release(), true)
    } finally {
      redisson.close()
    }
  })
})
