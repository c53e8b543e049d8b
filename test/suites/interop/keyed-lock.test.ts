import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, connect } from 'holdfast'
import { fieldOf } from '#src/sync/keyed-lock/field-of-key.js'
import { type Arena, arena } from './support/arena.js'
import { NEWEST, type Redisson } from './support/redisson.js'

void describe(`keys of one group, Redisson ${NEWEST} and ours`, () => {
  const enter = arena(NEWEST)

  const scenario = (title: string, body: (here: Arena, client: Client) => Promise<void>): void => {
    void test(title, { timeout: 120_000 }, async (t) => {
      const here = enter(t)
      if (here === undefined) return
      const client = await connect({ url: here.url, presence: false })
      try {
        await body(here, client)
        for (const end = performance.now() + 3000; (await here.redis.dbsize()) > 0 && performance.now() < end;)
          await sleep(20)
        assert.deepEqual(await here.redis.keys('*'), [])
      } finally {
        await client.close()
        await here.redis.flushall()
      }
    })
  }

  const theirs = (java: Redisson, group: string, keys: string) => java.lock(`keyed:${keys}`, group)

  scenario('values of every length and script → the same fields', async ({ java, redis }) => {
    const values = [
      '',
      'a',
      'student:001',
      'é ü 漢字 🙂',
      'x'.repeat(31),
      'y'.repeat(32),
      'z'.repeat(33),
      'w'.repeat(100),
    ]
    for (const [index, value] of values.entries()) {
      const lock = theirs(java, `hash:${index}`, value)
      await lock.lock('hasher', 20_000)
      const fields = await redis.hkeys(`hash:${index}`)
      assert.ok(fields.includes(fieldOf(value)), `${value}: ${fields.join()}`)
      await lock.unlock('hasher')
    }
  })

  scenario(
    'sets that overlap exclude, sets that do not share the group; each leaves the other’s',
    async (here, client) => {
      const { java, redis } = here
      const [ab, bc] = [theirs(java, 'g', 'a,b'), theirs(java, 'g', 'b,c')]
      assert.equal(await ab.tryLock('t1'), true)
      assert.equal(await client.keyedLock('g', ['b', 'c']).tryAcquire(), undefined)
      assert.equal(await client.keyedLock('g', ['b', 'c']).isLocked(), true)
      const apart = await client.keyedLock('g', ['c', 'd']).tryAcquire({ lease: 60_000 })
      assert.ok(apart !== undefined)
      assert.equal(await bc.tryLock('t2'), false)
      assert.equal(await bc.isLocked(), true)
      const [holder] = (await client.keyedLock('g', ['a']).inspect()).holders
      assert.deepEqual([holder?.client, holder?.count, holder?.keys], [java.id, 1, ['a']])
      await ab.unlock('t1')
      assert.equal((await redis.hkeys('g')).length, 6, 'ours stay')
      assert.equal(await ab.tryLock('t1'), true)
      assert.equal(await apart.release(), true)
      assert.equal((await redis.hkeys('g')).length, 6, 'theirs stay')
      assert.equal(await theirs(java, 'g', 'c').tryLock('t2'), true)
      await theirs(java, 'g', 'c').unlock('t2')
      await ab.unlock('t1')
    },
  )

  scenario('both sides by the codec of JSON → the same keys, and each excludes the other', async (here) => {
    const java = await here.java.another({ url: here.url, codec: 'json' })
    const client = await connect({ url: here.url, codec: 'jackson', presence: false })
    try {
      const [ours, both] = [client.keyedLock('j', ['a', 'ä "x"']), theirs(java, 'j', 'a,b')]
      assert.equal(await both.tryLock('t1'), true)
      assert.equal(await ours.tryAcquire(), undefined)
      await both.unlock('t1')
      const hold = await ours.acquire({ lease: 20_000 })
      assert.equal(await both.tryLock('t1'), false)
      assert.equal(await theirs(java, 'j', 'ä "x"').tryLock('t1'), false)
      await hold.release()
      assert.equal(await both.tryLock('t1'), true)
      await both.unlock('t1')
    } finally {
      await client.close()
      await java.shutdown()
    }
  })

  scenario('an overdue hold of either → the other’s when its end is over', async (here, client) => {
    const keeps = await client.keyedLock('o', ['z']).acquire({ lease: 60_000 })
    await theirs(here.java, 'o', 'a').lock('t1', 700)
    const hold = await client.keyedLock('o', ['a', 'b']).acquire({ lease: 900 })
    assert.equal(await theirs(here.java, 'o', 'b,c').tryLock('t2', 5000, 20_000), true)
    assert.equal(hold.state, 'lost')
    await theirs(here.java, 'o', 'b,c').unlock('t2')
    assert.equal(await keeps.release(), true)
    await here.redis.del('o', 'holdfast_keyed_turn:{o}')
  })
})
