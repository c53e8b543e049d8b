import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { connect } from 'holdfast'
import type { Client } from '../../support/engines.js'
import { redisEngine, started } from '../../support/engines.js'
import type { RedisCluster } from '../../support/redis-cluster.js'
import { startCluster } from '../../support/redis-cluster.js'

/** Names whose keys go to several nodes, between them. */
const NAMES = ['a', 'b', 'c', 'of {several} parts', 'p:q']

/** What may be asked of each. */
const CALLS: Readonly<Record<string, (client: Client, name: string) => (() => Promise<unknown>)[]>> = {
  semaphore(client, name) {
    const s = client.semaphore(name)
    return [
      ...[() => s.trySetPermits(1), () => s.addPermits(1), () => s.available(), () => s.drain(), () => s.release()],
      ...[() => s.releaseIfExists(), () => s.acquire(), () => s.acquire({ permits: 0 }), () => s.tryAcquire()],
      ...[() => s.using(() => 1), () => s.expire(1000), () => s.clearExpire(), () => s.delete()],
    ]
  },
  permitSemaphore(client, name) {
    const p = client.permitSemaphore(name)
    const id = '0'.repeat(32)
    return [
      ...[() => p.trySetPermits(1), () => p.setPermits(1), () => p.addPermits(1), () => p.available()],
      ...[() => p.acquired(), () => p.permits(), () => p.acquire(), () => p.acquireMany(2), () => p.tryAcquire()],
      ...[() => p.release(id), () => p.tryRelease([id]), () => p.extend(id, 1000), () => p.leaseTime(id)],
      ...[() => p.expire(1000), () => p.clearExpire(), () => p.delete()],
    ]
  },
  countDownLatch(client, name) {
    const l = client.countDownLatch(name)
    return [
      ...[() => l.trySetCount(1), () => l.countDown(), () => l.count(), () => l.wait(), () => l.wait({ wait: 0 })],
      ...[() => l.expire(1000), () => l.clearExpire(), () => l.delete()],
    ]
  },
  rateLimiter(client, name) {
    const r = client.rateLimiter(name)
    const rate = { permits: 1, interval: 1000 }
    return [
      ...[() => r.trySetRate(rate), () => r.setRate(rate), () => r.updateRate(rate), () => r.rate()],
      ...[() => r.tryAcquire(), () => r.tryAcquire({ wait: 100 }), () => r.acquire(), () => r.available()],
      ...[() => r.release(), () => r.expire(1000), () => r.clearExpire(), () => r.delete()],
    ]
  },
}

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

  /** A brace in their names makes no tag, or an empty one, or only the companions of the name have it. */
  const ASTRAY = ['a{b', '{}a', 'a}b', '}{']

  for (const [kind, calls] of Object.entries(CALLS)) {
    on(
      `${kind}: braces that put its keys into several slots → each call rejects and says so, nothing is sent`,
      async (one) => {
        for (const name of ASTRAY) {
          for (const call of calls(one, name)) {
            const said = { name: 'RangeError', message: /hashes to another slot because of the braces/ }
            await assert.rejects(call, said, `${String(call)} of '${name}'`)
          }
        }
      },
    )
  }
})
