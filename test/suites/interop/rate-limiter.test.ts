import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, connect } from 'holdfast'
import { rateLimiterAvailable } from '#src/lua/scripts.gen.js'
import { times } from '../contract/lock/kind.js'
import { exceeding } from '../../support/grants.js'
import { grantsIn } from '../../support/monitored-grants.js'
import { type Arena, arena } from './support/arena.js'
import { NEWEST, type Redisson } from './support/redisson.js'

const MINUTE = 60_000

/** One side's limiter, in the words of both. */
interface Side {
  setRate(permits: number, interval: number): Promise<unknown>
  /** Whether they were had. */
  take(permits: number): Promise<unknown>
  available(): Promise<unknown>
  release(permits: number): Promise<unknown>
  rate(): Promise<unknown>
  delete(): Promise<boolean>
}

const javaSide = (redisson: Redisson, name: string): Side => {
  const call = <T>(method: string, ...args: unknown[]): Promise<T> =>
    redisson.request<T>({ op: 'call', kind: 'limiter', name, method, args, on: 'limited' })
  return {
    setRate: (permits, interval) => call('trySetRate', 'OVERALL', permits, interval, 'MILLISECONDS'),
    take: (permits) => call('tryAcquire', permits),
    available: () => call('availablePermits'),
    release: (permits) => call('release', permits),
    rate: () => call('getConfig'),
    delete: () => call('delete'),
  }
}

const ourSide = (client: Client, name: string): Side => {
  const limiter = client.rateLimiter(name)
  return {
    setRate: (permits, interval) => limiter.trySetRate({ permits, interval }),
    take: async (permits) => (await limiter.tryAcquire({ permits })).allowed,
    available: () => limiter.available(),
    release: (permits) => limiter.release(permits),
    rate: () => limiter.rate(),
    delete: () => limiter.delete(),
  }
}

for (const version of [NEWEST, '3.17.7']) {
  void describe(`rate limiter beside Redisson ${version}`, () => {
    const enter = arena(version)
    const clients: Client[] = []
    const ours = async (here: Arena): Promise<Client> => {
      const redisson = version === NEWEST ? '4' : '3.17'
      const client = await connect({ url: here.url, presence: false, redisson })
      clients.push(client)
      return client
    }
    after(() => Promise.all(clients.map((client) => client.close())))

    void test('the window moves → each credits what the other was granted', async (t) => {
      const here = enter(t)
      if (here === undefined) return
      const [java, node] = [javaSide(here.java, 'moving'), ourSide(await ours(here), 'moving')]
      await java.setRate(10, 1500)
      for (const [first, second] of [
        [java, node],
        [node, java],
      ] as const) {
        assert.deepEqual([await first.take(4), await second.take(6)], [true, true])
        await sleep(1600)
        assert.equal(await second.available(), 10)
        assert.equal(await first.take(10), true)
        assert.equal(await second.take(1), false)
        await sleep(1600)
      }
      assert.equal(await java.delete(), true)
      assert.deepEqual(await here.redis.keys('{moving}*'), [])
    })

    void test('while ours counts thousands of grants → it is refused, and reads all else as ever', async (t) => {
      const here = enter(t)
      if (here === undefined) return
      const [java, node] = [javaSide(here.java, 'counted'), ourSide(await ours(here), 'counted')]
      await java.setRate(5000, MINUTE)
      const member = (number: number): Buffer => {
        const grant = Buffer.alloc(21)
        grant[0] = 16
        grant.writeUInt32LE(number, 1)
        grant[17] = 1
        return grant
      }
      const grants = times(4000, (n) => [Date.now(), member(n)])
      await here.redis.call('ZADD', '{counted}:permits', ...grants.flat())
      const keys = ['counted', ...['value', 'value:x', 'permits', 'permits:x'].map((part) => `{counted}:${part}`)]
      const [left, behind] = (await here.redis.eval(rateLimiterAvailable.text, 5, ...keys, 5000)) as [number, number]
      assert.deepEqual([left, behind, await here.redis.hexists('counted', '{counted}:permits')], [0, 1, 1])
      assert.deepEqual([await java.take(1), await java.available()], [false, 0])
      await java.rate()
      assert.equal(await java.setRate(1, MINUTE), false)
      assert.deepEqual([await node.available(), await java.available()], [1000, 1000])
      assert.deepEqual([await java.take(1), await node.available()], [true, 999])
      assert.equal(await here.redis.hexists('counted', '{counted}:permits'), 0)
      await here.redis.flushall()
    })

    void test('both at work on one limiter → never more than the rate in any interval; each has its part', async (t) => {
      const here = enter(t)
      if (here === undefined) return
      const [java, node] = [javaSide(here.java, 'busy'), ourSide(await ours(here), 'busy')]
      const [permits, interval] = [40, 1000]
      await node.setRate(permits, interval)
      const monitor = await here.redis.monitor()
      const seen: { words: string[]; source: string }[] = []
      monitor.on('monitor', (_time: string, words: string[], source: string) => seen.push({ words, source }))
      const until = performance.now() + 5000
      const had = [0, 0]
      const task = async (side: Side, index: 0 | 1, some: number): Promise<void> => {
        while (performance.now() < until) {
          if ((await side.take(some)) === true) had[index]! += some
          else await sleep(5)
        }
      }
      await Promise.all(times(4, (n) => [task(java, 0, 1 + (n % 2)), task(node, 1, 1 + (n % 2))]).flat())
      await here.redis.ping()
      await sleep(100)
      monitor.disconnect()
      const grants = grantsIn(seen)
      assert.equal(
        grants.reduce((sum, grant) => sum + grant.permits, 0),
        had[0]! + had[1]!,
      )
      // Redisson's times are those of its calls, a little before they are done.
      assert.equal(exceeding(grants, permits, interval - 100), undefined)
      assert.ok(had[0]! + had[1]! >= 3 * permits, `${had.join()}: not saturated`)
      assert.ok(had[0]! > 0 && had[1]! > 0, had.join())
      t.diagnostic(`Redisson had ${had[0]}, we had ${had[1]}`)
      await here.redis.flushall()
    })

    if (version !== NEWEST) return
    void test('permits that either gives back → the other has them; ours who waits within a second', async (t) => {
      const here = enter(t)
      if (here === undefined) return
      const client = await ours(here)
      const [java, node] = [javaSide(here.java, 'back'), ourSide(client, 'back')]
      await java.setRate(5, MINUTE)
      assert.deepEqual([await node.take(3), await java.take(2)], [true, true])
      await node.release(2)
      assert.deepEqual([await java.available(), await node.available()], [2, 2])
      assert.equal(await java.take(2), true)
      const began = performance.now()
      const waiting = client.rateLimiter('back').acquire({ permits: 3 })
      await sleep(100)
      await java.release(3)
      await waiting
      assert.ok(performance.now() - began < 5000)
      assert.deepEqual([await java.available(), await node.available()], [0, 0])
      await here.redis.flushall()
    })
  })
}
