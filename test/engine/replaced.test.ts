import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, type Hold, type Permit } from 'holdfast'
import { Redis } from 'ioredis'
import { watch } from '../suites/contract/lock/kind.js'
import type { Client } from '../support/engines.js'
import { startRedis } from '../support/redis-server.js'
import type { Broken } from '../support/server.js'
import { onServer } from '../support/server.js'
import { LOCKS } from '../support/surface.js'

const OPTIONS = { commandTimeout: 500, watchdog: 30_000, presence: false }
/** The longest silence that is borne, and what a loaded machine takes to connect again. */
const RECOVERY = 500 + 1250 + 2500

/** ms until a lock is acquired. */
const served = async ({ until }: Broken, client: Client, name: string): Promise<number> => {
  const begun = performance.now()
  await until(async () => {
    const hold = await client
      .lock(name)
      .acquire({ wait: 2000 })
      .catch(() => undefined)
    await hold?.release()
    return hold !== undefined
  })
  return performance.now() - begun
}

/** Another server that replicates the first one, to be connected to and asked. */
const replicaOf = async (broken: Broken): Promise<{ port: number; redis: Redis }> => {
  const server = await startRedis([
    '--repl-diskless-sync-delay',
    '0',
    ...['--replicaof', '127.0.0.1', String(broken.server.port)],
  ])
  const redis = new Redis(server.url)
  redis.on('error', () => undefined)
  broken.after(() => {
    redis.disconnect()
    return server.stop()
  })
  await broken.until(async () => (await redis.info('replication')).includes('master_link_status:up'))
  return { port: server.port, redis }
}

void describe('connections that are open and dead', { concurrency: 4 }, () => {
  onServer(
    'one reply gets lost, and each that follows is of another question → none is believed, and the connection is replaced at once',
    async (broken) => {
      const client = await broken.open({ ...OPTIONS, commandTimeout: 10_000 })
      const other = await broken.open(OPTIONS)
      const reconnected = new Promise((resolve) => client.on('reconnect', () => resolve(undefined)))
      client.on('error', () => undefined)
      const held = await client.lock('held').acquire()
      await other.lock('taken').acquire()
      broken.proxy.mute = true
      const unanswered = watch(client.lock('lost').acquire())
      await broken.until(async () => (await broken.redis.exists('lost')) === 1)
      broken.proxy.mute = false
      const begun = performance.now()
      const asked = Array.from({ length: 20 }, () =>
        Promise.allSettled([
          client.lock('taken').inspect(),
          client.lock('taken').tryAcquire(),
          client.lock('free').isLocked(),
        ]),
      )
      for (const answers of await Promise.all(asked)) {
        const [seen, had, locked] = answers
        assert.ok(seen.status === 'rejected' || seen.value.holders.length === 1, 'it is taken')
        assert.ok(had.status === 'rejected' || had.value === undefined, 'nobody else has it')
        assert.ok(locked.status === 'rejected' || !locked.value, 'it is free')
      }
      await reconnected
      assert.ok(performance.now() - begun < RECOVERY, `${performance.now() - begun} ms`)
      await unanswered.promise.then(
        (hold) => hold.release(),
        () => undefined,
      )
      await broken.until(() => held.state === 'held')
      assert.equal(await held.release(), true)
      await served(broken, client, 'free')
    },
  )

  for (const direction of ['requests', 'replies', 'everything'] as const) {
    onServer(
      `half-open, ${direction} get lost for good → the connections are replaced: a waiter, a new call and a topic go on`,
      async (broken) => {
        const client = await broken.open(OPTIONS)
        const events: string[] = []
        client.on('reconnect', () => void events.push('reconnect'))
        client.on('error', () => undefined)
        const heard: unknown[] = []
        const gaps: number[] = []
        const topic = await client.topic('t').subscribe((message) => void heard.push(message))
        topic.on('gap', () => void gaps.push(performance.now()))
        const hold = await client.lock('held').acquire()
        await broken.redis.hset('b', 'foreign:1', 1)
        await broken.redis.pexpire('b', 60_000)
        const waiting = watch(client.lock('b').acquire())
        await sleep(200)
        const begun = performance.now()
        broken.proxy.stall(direction)
        await broken.redis.del('b')
        await served(broken, client, 'c')
        const next = await waiting.promise
        assert.ok(performance.now() - begun < RECOVERY, `${performance.now() - begun} ms`)
        assert.equal(events[0], 'reconnect')
        await broken.until(() => gaps.length > 0)
        await broken.until(async () => (await broken.redis.publish('t', '"again"')) === 1)
        await broken.until(() => heard.includes('again'))
        assert.equal(await next.release(), true)
        assert.equal(await hold.release(), true)
      },
    )
  }

  for (const direction of ['requests', 'replies', 'everything'] as const) {
    onServer(
      `half-open, ${direction} get lost for good → waiters for a permit or a red lock, and releases of one, go on`,
      async (broken) => {
        const [client, other] = [await broken.open(OPTIONS), await connect({ url: broken.server.url, presence: false })]
        broken.after(() => other.close())
        client.on('error', () => undefined)
        const permitsOf = (of: Client) => of.permitSemaphore('p')
        const redOf = (of: Client) => of.redLock(of.lock('r1'), of.lock('r2'), of.lock('r3'))
        await permitsOf(other).trySetPermits(2)
        const [mine, theirs] = [await permitsOf(client).acquire(), await permitsOf(other).acquire()]
        const [red, held] = [await redOf(other).acquire(), await client.redLock(client.lock('own')).acquire()]
        const [waiting, wanting] = [watch(permitsOf(client).acquire()), watch(redOf(client).acquire())]
        await sleep(200)
        const begun = performance.now()
        broken.proxy.stall(direction)
        await Promise.all([theirs.release(), red.release()])
        const took = async <T>(what: string, promise: Promise<T>): Promise<T> => {
          const value = await promise
          assert.ok(performance.now() - begun < RECOVERY, `${what}: ${performance.now() - begun} ms`)
          return value
        }
        const [permit, got] = await Promise.all([
          took('a permit', waiting.promise),
          took('a red lock', wanting.promise),
          took('release() of a permit', mine.release()),
          took('release() of a red lock', held.release()),
        ])
        assert.deepEqual([await permit.release(), await got.release()], [true, true])
        await broken.until(async () => (await permitsOf(other).available()) === 2)
        await broken.until(async () => (await broken.redis.exists('r1', 'r2', 'r3', 'own')) === 0)
      },
    )
  }

  for (const direction of ['requests', 'replies', 'everything'] as const) {
    onServer(
      `half-open, ${direction} get lost for good → every kind of hold learns in time whether it still has the lock`,
      async (broken) => {
        const watchdog = 6000
        const [client, other] = [
          await broken.open({ ...OPTIONS, watchdog }),
          await connect({ url: broken.server.url, presence: false }),
        ]
        broken.after(() => other.close())
        client.on('error', () => undefined)
        for (const name of ['kept', 'fixed', 'taken']) await other.permitSemaphore(name).trySetPermits(1)
        const locksOf = (of: Client, name: string) => ({
          ...Object.fromEntries(Object.entries(LOCKS).map(([kind, make]) => [kind, make(of, `${name} ${kind}`)])),
          permit: of.permitSemaphore(name),
        })
        const holdsOf = async (name: string, lease: number | undefined) => {
          const holds: Record<string, Hold | Permit> = {}
          for (const [kind, lock] of Object.entries(locksOf(client, name)))
            holds[kind] = await lock.acquire(lease === undefined && kind === 'permit' ? { renew: true } : { lease })
          return holds
        }
        const [kept, fixed, taken] = [
          await holdsOf('kept', undefined),
          await holdsOf('fixed', watchdog),
          await holdsOf('taken', undefined),
        ]
        const begun = performance.now()
        broken.proxy.stall(direction)
        await broken.redis.del('taken', '{taken}:timeout')
        for (const [kind, make] of Object.entries(LOCKS)) await make(other, `taken ${kind}`).forceRelease()
        const of = (...all: Record<string, Hold | Permit>[]): (Hold | Permit)[] =>
          all.flatMap((one) => Object.values(one))
        await broken.until(() => of(kept, taken).every(({ state }) => state !== 'held'))
        const doubted = performance.now() - begun
        assert.ok(doubted < watchdog / 3 + OPTIONS.commandTimeout + 1000, `in doubt after ${doubted} ms`)
        assert.ok(of(kept, fixed).every(({ lost }) => !lost))
        await broken.until(() => of(taken).every(({ lost }) => lost))
        await broken.until(() => of(kept).every(({ state }) => state === 'held'))
        const certain = performance.now() - begun
        assert.ok(certain < watchdog / 3 + RECOVERY, `certain after ${certain} ms`)
        assert.ok(certain < watchdog, 'before the leases end')
        assert.deepEqual(
          Object.entries(taken).filter(([, { signal }]) => !signal.aborted),
          [],
        )
        await broken.until(() => of(fixed).every(({ lost }) => lost))
        const over = performance.now() - begun
        assert.ok(over < watchdog, `lost after ${over} ms`)
        assert.deepEqual(
          await Promise.all(of(kept).map((hold) => hold.release())),
          of(kept).map(() => true),
        )
      },
    )
  }

  onServer(
    'only the connection that brings messages is dead → found out and replaced; a gap is told',
    async (broken) => {
      const client = await broken.open(OPTIONS)
      client.on('error', () => undefined)
      const heard: unknown[] = []
      let gaps = 0
      // The second connection.
      const direct = broken.proxy.accepted
      const topic = await client.topic('t').subscribe((message) => void heard.push(message))
      topic.on('gap', () => (gaps += 1))
      broken.proxy.stall('everything', direct)
      await broken.until(() => gaps > 0, RECOVERY + 1500)
      await broken.until(async () => (await broken.redis.publish('t', '"again"')) >= 1)
      await broken.until(() => heard.includes('again'))
    },
  )

  onServer(
    'a server that stands still for half a second longer than commandTimeout → no connection is replaced',
    async (broken) => {
      const client = await broken.open({ ...OPTIONS, commandTimeout: 1000 })
      const topic = await client.topic('t').subscribe(() => undefined)
      let changes = 0
      topic.on('gap', () => (changes += 1))
      client.on('reconnect', () => (changes += 1))
      const before = broken.proxy.accepted
      void broken.redis.call('DEBUG', 'SLEEP', '1.5').catch(() => undefined)
      await sleep(20)
      await client
        .lock('a')
        .tryAcquire()
        .catch(() => undefined)
      await sleep(1200)
      assert.equal(await client.lock('b').using(() => 'on'), 'on')
      assert.deepEqual([changes, broken.proxy.accepted], [0, before])
    },
    ['--enable-debug-command', 'yes'],
  )
})

void describe('another server behind the same address', { concurrency: 2 }, () => {
  onServer(
    'the master is demoted and the address leads to the new one → left within 5 s, its messages too',
    async (broken) => {
      const replica = await replicaOf(broken)
      const client = await broken.open({ ...OPTIONS, replicas: { sync: false } })
      client.on('error', () => undefined)
      const heard: unknown[] = []
      await client.topic('t').subscribe((message) => void heard.push(message))
      const hold = await client.lock('held').acquire()
      await broken.until(async () => (await replica.redis.exists('held')) === 1)
      await broken.redis.hset('b', 'foreign:1', 1)
      await broken.redis.pexpire('b', 60_000)
      const waiting = watch(client.lock('b').acquire())
      await sleep(100)
      await replica.redis.call('REPLICAOF', 'NO', 'ONE')
      await broken.redis.call('REPLICAOF', '127.0.0.1', replica.port)
      broken.proxy.target = replica.port
      await replica.redis.del('b')
      const took = await served(broken, client, 'c')
      assert.ok(took < 5000, `${took} ms`)
      assert.equal(await (await waiting.promise).release(), true)
      await broken.until(async () => (await replica.redis.publish('t', '"new"')) === 1, 5000)
      await broken.until(() => heard.includes('new'))
      assert.equal(await hold.release(), true)
    },
  )

  onServer('the address is late to follow → asked for again and again, not in a loop', async (broken) => {
    const replica = await replicaOf(broken)
    const client = await broken.open({ ...OPTIONS, replicas: { sync: false } })
    client.on('error', () => undefined)
    await replica.redis.call('REPLICAOF', 'NO', 'ONE')
    await broken.redis.call('REPLICAOF', '127.0.0.1', replica.port)
    const waiting = served(broken, client, 'a')
    const before = broken.proxy.accepted
    await sleep(3000)
    const tries = broken.proxy.accepted - before
    assert.ok(tries >= 2 && tries <= 12, `${tries} connections in 3 s`)
    broken.proxy.target = replica.port
    const begun = performance.now()
    await waiting
    assert.ok(performance.now() - begun < 5000, `${performance.now() - begun} ms`)
  })
})
