import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { times } from '../../suites/contract/lock/kind.js'
import { onWire, requests } from '../../support/wire.js'
import { fieldOf } from '#src/sync/keyed-lock/field-of-key.js'

await onWire('the keyed lock on the wire', (wire) => {
  void test('the fields of keys → as the real Redisson 4.7 names them', () => {
    assert.equal(fieldOf('a'), 'qwvAS12pR0CgRitaypEjUw')
    assert.equal(fieldOf('student:001'), 'DqvoYruF5eyLDrILcprmBw')
  })

  void test('held → one hash of the group’s name, its message on Redisson’s channel', async () => {
    const client = await wire.open()
    for (const group of ['class', 'a:{b}:c']) {
      const hold = await client.keyedLock(group, ['a', 'b']).acquire({ lease: 5000 })
      assert.deepEqual(await wire.redis.keys('*'), [group])
      const hash = await wire.redis.hgetall(group)
      const owner = hash[fieldOf('a')] ?? ''
      assert.ok(owner.startsWith(`${client.id}:`))
      const fields = ['a', 'b']
        .map(fieldOf)
        .flatMap((h) => [h, `${h}:${owner}:expire_time`, `${h}:${owner}:lock_count`])
      assert.deepEqual(Object.keys(hash).sort(), fields.sort())
      assert.equal(hash[`${fieldOf('b')}:${owner}:lock_count`], '1')
      assert.ok((await wire.redis.pttl(group)) > 3000)
      assert.equal(await hold.release(), true)
      assert.deepEqual(await wire.redis.keys('*'), [])
      await wire.told()
      assert.ok(wire.heard.includes(`redisson_lock__channel:${group.includes('{') ? group : `{${group}}`} 0`))
    }
  })

  void test('one lock and unlock of many keys → one request each', async () => {
    const lock = (await wire.open()).keyedLock(
      'class',
      times(50, (i) => `k${i}`),
    )
    await lock.using(() => undefined)
    const seen = await wire.monitored(async () => {
      for (let round = 0; round < 5; round += 1) await lock.using(() => undefined)
    })
    assert.deepEqual(
      requests(seen),
      times(10, () => 'evalsha'),
    )
  })

  void test('several sets held → one renewal for all of them', async () => {
    const client = await wire.open({ watchdog: 1500 })
    const holds = await Promise.all(
      times(20, (i) => client.keyedLock(`class${i % 3}`, [`k${i}`, 'x'.repeat(i)]).acquire()),
    )
    const seen = await wire.monitored(() => sleep(1100))
    const renewals = requests(seen).length
    assert.ok(renewals >= 1 && renewals <= 8, `${renewals} requests`)
    for (const hold of holds) assert.equal(await hold.release(), true)
  })
})
