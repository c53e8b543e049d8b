import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { connect } from 'holdfast'
import type { Client } from '../engines.js'
import { redisEngine, started } from '../engines.js'
import type { RedisCluster } from '../support/redis-cluster.js'
import { startCluster } from '../support/redis-cluster.js'

/** Names whose keys go to several nodes, between them. */
const NAMES = ['a', 'b', 'c', 'of {several} parts', 'p:q']

void describe('synchronizers on a cluster of three nodes, under mapped names', () => {
  let cluster: RedisCluster
  let reason: string | undefined

  before(async () => {
    const start = async (): Promise<void> => {
      cluster = await startCluster()
    }
    reason = await started({ ...redisEngine, start })
  })

  after(async () => {
    if (reason === undefined) await cluster.stop()
  })

  const keys = async (): Promise<string[]> => {
    const all = await Promise.all(cluster.nodes.map(({ redis }) => redis.keys('*')))
    return all.flat().filter((key) => !key.startsWith('test::holdfast:client:'))
  }

  const on = (name: string, body: (one: Client, other: Client) => Promise<void>): void => {
    void test(name, { timeout: 60_000 }, async (t) => {
      if (reason !== undefined) {
        t.skip(reason)
        return
      }
      const open = (): Promise<Client> => connect({ url: cluster.url, mapName: (name) => `test::${name}` })
      const both = [await open(), await open()] as const
      try {
        await body(...both)
      } finally {
        await Promise.all(both.map((client) => client.close()))
      }
      assert.deepEqual(await keys(), [], 'a key is left')
    })
  }

  on('P01: permits taken, waited for, extended, given back by their ids → all in one slot', async (one, other) => {
    for (const name of NAMES) {
      const [p, q] = [one.permitSemaphore(name), other.permitSemaphore(name)]
      assert.equal(await p.trySetPermits(1), true)
      const { id } = await p.acquire({ lease: 30_000 })
      const waiting = q.acquire({ renew: true })
      assert.equal(await p.extend(id, 20_000), true)
      await q.release(id)
      const permit = await waiting
      assert.deepEqual([await p.permits(), await p.acquired()], [1, 1])
      assert.equal(await p.expire(60_000), true)
      assert.equal(await permit.release(), true)
      assert.equal((await keys()).includes(`test::${name}`), true)
      assert.equal(await p.delete(), true)
    }
  })

  on('semaphores and latches: taken, waited for, given back, counted down → all in one slot', async (one, other) => {
    for (const name of NAMES) {
      const s = one.semaphore(name)
      assert.equal(await s.trySetPermits(2), true)
      await s.acquire({ permits: 2 })
      const waiting = other.semaphore(name).acquire({ permits: 2 })
      await s.release(2)
      await waiting
      assert.equal(await s.drain(), 0)
      assert.equal(await s.delete(), true)
    }
    // The channel of a latch whose name has a tag is of another slot: Redisson's rule, and its latches fail there too.
    for (const name of NAMES.filter((name) => !name.includes('{'))) {
      const latch = one.countDownLatch(name)
      assert.equal(await latch.trySetCount(1), true)
      const waiting = other.countDownLatch(name).wait()
      assert.equal(await latch.countDown(), 0)
      assert.equal(await waiting, true)
    }
  })
})
