import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, connect, NotInitializedError } from 'holdfast'
import type { Redis } from 'ioredis'
import { times } from '../contract/lock/kind.js'
import { exceeding } from '../support/grants.js'
import { grantsIn } from '../support/monitored-grants.js'
import { type Arena, arena } from './support/arena.js'
import { NEWEST, type Redisson } from './support/redisson.js'

const MINUTE = 60_000
const NAMES = ['limited', '{tagged}limited'] as const

/** One side's limiter, in the words of both. */
interface Side {
  readonly id: string
  setRate(permits: number, interval: number, scope: 'OVERALL' | 'PER_CLIENT', force: boolean): Promise<unknown>
  /** Whether they were had; or why not. */
  take(permits: number): Promise<unknown>
  available(): Promise<unknown>
  release(permits: number): Promise<unknown>
  delete(): Promise<boolean>
}

const failure = (error: unknown): string => {
  if (error instanceof NotInitializedError) return 'not initialized'
  if (error instanceof RangeError) return 'above the rate'
  // Older ones quote the whole script behind what went wrong.
  const [, said] = /(not initialized|exceed defined rate)/.exec(String(error)) ?? []
  if (said !== undefined) return said === 'not initialized' ? said : 'above the rate'
  throw error
}

const javaSide = (redisson: Redisson, name: string): Side => {
  const call = <T>(method: string, ...args: unknown[]): Promise<T> =>
    redisson.request<T>({ op: 'call', kind: 'limiter', name, method, args, on: 'limited' })
  return {
    id: redisson.id,
    setRate: (permits, interval, scope, force) =>
      call(force ? 'setRate' : 'trySetRate', scope, permits, interval, 'MILLISECONDS'),
    take: (permits) => call('tryAcquire', permits).catch(failure),
    available: () => call('availablePermits').catch(failure),
    release: (permits) => call('release', permits),
    delete: () => call('delete'),
  }
}

const ourSide = (client: Client, name: string): Side => {
  const limiter = client.rateLimiter(name)
  return {
    id: client.id,
    setRate: (permits, interval, scope, force) => {
      const rate = { permits, interval, scope: scope === 'OVERALL' ? 'overall' : 'client' } as const
      return force ? limiter.setRate(rate) : limiter.trySetRate(rate)
    },
    take: (permits) => limiter.tryAcquire({ permits }).then(({ allowed }) => allowed, failure),
    available: () => limiter.available().catch(failure),
    release: (permits) => limiter.release(permits),
    delete: () => limiter.delete(),
  }
}

/**
 * What is on the server: the rate, what is left, and how many permits each grant has. Ids of clients are left out, and how many
 * random bytes there are: those before 3.22 have eight, and take any number.
 */
const stateOf = async (redis: Redis, ids: readonly string[]): Promise<unknown> => {
  const keys = (await redis.keys('*')).filter((key) => !key.startsWith('holdfast_request')).sort()
  const state: Record<string, unknown> = {}
  for (const key of keys) {
    const type = await redis.type(key)
    const shown = ids.reduce((text, id) => text.replace(id, '<client>'), key)
    if (type === 'string') state[shown] = await redis.get(key)
    else if (type === 'zset') {
      const grants = await redis.zrangeBuffer(key, '0', '-1')
      state[shown] = grants.map((grant) =>
        [grant.length - (grant[0] ?? 0), grant.readUInt32LE(grant.length - 4)].join(),
      )
    } else {
      const { keepAliveTime = '0', ...rate } = await redis.hgetall(key)
      state[shown] = { keepAliveTime, ...rate }
    }
    state[`${shown} expires`] = (await redis.pttl(key)) > 0
  }
  return state
}

type Step = (side: Side, here: Arena, name: string) => Promise<unknown>

const take =
  (permits: number): Step =>
  (side) =>
    side.take(permits)
const available: Step = (side) => side.available()

const program = (interval: number, scope: 'OVERALL' | 'PER_CLIENT'): Step[] => [
  take(1),
  available,
  (side) => side.setRate(10, interval, scope, false),
  (side) => side.setRate(5, interval, scope, false),
  take(3),
  take(11),
  take(4),
  take(4),
  available,
  take(3),
  take(1),
  (_side, { redis }, name) => redis.pexpire(name, 10 * MINUTE),
  take(1),
  (side) => side.setRate(20, interval, scope, true).then(() => undefined),
  take(20),
  take(1),
]

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

    const play = async (
      here: Arena,
      steps: readonly Step[],
      sides: readonly Side[],
      name: string,
    ): Promise<unknown[]> => {
      const seen: unknown[] = []
      const ids = sides.map(({ id }) => id)
      for (const [index, step] of steps.entries()) {
        const answer = await step(sides[index % sides.length]!, here, name)
        seen.push({ index, answer: answer ?? 'done', state: await stateOf(here.redis, ids) })
      }
      await here.redis.flushall()
      return seen
    }

    for (const name of NAMES) {
      void test(`the same steps on '${name}' → the same answers and the same state, by either or both`, async (t) => {
        const here = enter(t)
        if (here === undefined) return
        const [java, node] = [javaSide(here.java, name), ourSide(await ours(here), name)]
        const steps = program(MINUTE, 'OVERALL')
        const expected = await play(here, steps, [java], name)
        for (const cast of [[node], [java, node], [node, java]]) {
          assert.deepEqual(await play(here, steps, cast, name), expected)
        }
        const own = program(MINUTE, 'PER_CLIENT').filter((_, index) => index !== 1)
        const alone = (await play(here, own, [java], name)).slice(0, 8)
        const same = (await play(here, own, [node], name)).slice(0, 8)
        // Ours gives what is a client's own an expiry; Redisson leaves it for good.
        const shown = (seen: unknown[]): string => JSON.stringify(seen).replaceAll(/(<client> expires":)\w+/g, '$1')
        assert.equal(shown(same), shown(alone))
      })
    }

    void test('the window moves → each credits what the other was granted', async (t) => {
      const here = enter(t)
      if (here === undefined) return
      const [java, node] = [javaSide(here.java, 'moving'), ourSide(await ours(here), 'moving')]
      await java.setRate(10, 1500, 'OVERALL', false)
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

    void test('both at work on one limiter → never more than the rate in any interval; each has its part', async (t) => {
      const here = enter(t)
      if (here === undefined) return
      const [java, node] = [javaSide(here.java, 'busy'), ourSide(await ours(here), 'busy')]
      const [permits, interval] = [40, 1000]
      await node.setRate(permits, interval, 'OVERALL', false)
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
      await java.setRate(5, MINUTE, 'OVERALL', false)
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
