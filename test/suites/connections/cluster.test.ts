import assert from 'node:assert/strict'
import process from 'node:process'
import { after, afterEach, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, EngineError, ReplicationError } from 'holdfast'
import { Redis } from 'ioredis'
import { rejection } from '../contract/lock/kind.js'
import type { Client, Options } from '../../support/engines.js'
import { redisEngine, started } from '../../support/engines.js'
import type { ClusterNode, RedisCluster } from '../../support/redis-cluster.js'
import { startCluster } from '../../support/redis-cluster.js'
import { tellWhatLingers } from '../../support/lingering.js'
import { until } from '../../support/until.js'
import { lenders } from './lenders.js'

/** All that a client hands out and that has keys on the server: had, used, and gone. */
const OBJECTS: Readonly<Record<string, (client: Client, name: string) => Promise<unknown>>> = {
  ...Object.fromEntries(
    (['lock', 'nonReentrantLock', 'fairLock', 'nonReentrantFairLock', 'fencedLock', 'spinLock'] as const).map(
      (kind) => [kind, (client: Client, name: string) => client[kind](name).using(() => undefined)],
    ),
  ),
  keyedLock: (client, name) => client.keyedLock(name, ['a', 'b']).using(() => undefined),
  readLock: (client, name) => client.readWriteLock(name).read.using(() => undefined),
  writeLock: (client, name) => client.readWriteLock(name).write.using(() => undefined),
  fairReadLock: (client, name) => client.readWriteLock(name, { fair: true }).read.using(() => undefined),
  fairWriteLock: (client, name) => client.readWriteLock(name, { fair: true }).write.using(() => undefined),
  async semaphore(client, name) {
    const semaphore = client.semaphore(name)
    await semaphore.trySetPermits(2)
    await semaphore.using(() => undefined)
    await semaphore.delete()
  },
  async permitSemaphore(client, name) {
    const semaphore = client.permitSemaphore(name)
    await semaphore.trySetPermits(2)
    await (await semaphore.acquire({ lease: 5000 })).release()
    await semaphore.delete()
  },
  async countDownLatch(client, name) {
    const latch = client.countDownLatch(name)
    await latch.trySetCount(1)
    await latch.countDown()
    await latch.wait()
    await latch.delete()
  },
  async rateLimiter(client, name) {
    const limiter = client.rateLimiter(name)
    await limiter.trySetRate({ permits: 5, interval: 1000 })
    await limiter.tryAcquire()
    await limiter.delete()
  },
}

/** Every way in which braces stand in a name, those too that make no tag. */
const NAMES = [
  'plain',
  '{a}b',
  'a{b}c',
  '{a}{b}',
  'x{y}z}',
  '{{a}',
  'a{}b',
  '{}',
  '{',
  '}',
  '}{',
  'a{b',
  'a}b{c}',
  '{ü}ö',
]

/** What is no letter of ASCII is shown as its bytes. */
const unescaped = (word: string): string =>
  Buffer.from(
    word.replace(/\\x([0-9a-f]{2})/g, (_all, hex: string) => String.fromCharCode(parseInt(hex, 16))),
    'latin1',
  ).toString()

/** Where Redisson's rule makes companions of another slot, it is said before anything is sent. */
const works = (what: string, work: Promise<unknown>): Promise<boolean> =>
  work.then(
    () => true,
    (error: unknown) => {
      assert.ok(
        error instanceof RangeError && error.message.includes('hashes to another slot'),
        `${what}: ${String(error)}`,
      )
      return false
    },
  )

void describe('a cluster of three masters with a replica each', () => {
  let cluster: RedisCluster
  let reason: string | undefined
  const ends: (() => unknown)[] = []

  before(async () => {
    reason = await started({
      ...redisEngine,
      start: async () => {
        cluster = await startCluster({ replicas: true })
      },
    })
  })

  after(async () => {
    if (reason === undefined) await cluster.stop()
    tellWhatLingers()
  })

  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end()
  })

  const on = (name: string, body: () => Promise<void>): void => {
    test(name, { timeout: 120_000 }, async (t) => {
      if (reason === undefined) await body()
      else t.skip(reason)
    })
  }

  const open = async (place: Partial<Options>, options: Partial<Options> = {}): Promise<Client> => {
    const client = await connect({ ...place, ...options })
    client.on('error', () => undefined)
    ends.push(() => client.close())
    return client
  }

  /** Another node than the one that has the key. */
  const otherThan = async (key: string): Promise<ClusterNode> => {
    const owner = await cluster.ownerOf(key)
    return cluster.nodes.find((node) => node !== owner) ?? assert.fail()
  }

  const replicaOf = (node: ClusterNode): ClusterNode => cluster.replicas[cluster.nodes.indexOf(node)] ?? assert.fail()

  const frozen = async (node: ClusterNode, during: () => Promise<void>): Promise<void> => {
    process.kill(node.server.pid, 'SIGSTOP')
    try {
      await during()
    } finally {
      process.kill(node.server.pid, 'SIGCONT')
    }
  }

  on(
    'names with braces, every kind → all keys and sharded channels of an object in its slot, or an error that says so',
    async () => {
      const client = await open({ url: cluster.url }, { replicas: { sync: false } })
      const ask = cluster.nodes[0]?.redis ?? assert.fail()
      const monitors = await Promise.all(cluster.nodes.map(({ redis }) => redis.monitor()))
      ends.push(() => {
        for (const monitor of monitors) monitor.disconnect()
      })
      let seen: string[][] = []
      for (const monitor of monitors) {
        monitor.on('monitor', (_time: string, words: string[]) => seen.push(words.map(unescaped)))
      }
      let [used, refused] = [0, 0]
      for (const [kind, use] of Object.entries(OBJECTS)) {
        for (const name of NAMES) {
          seen = []
          if (await works(`${kind} '${name}'`, use(client, name))) used += 1
          else refused += 1
          await Promise.all(cluster.nodes.map(({ redis }) => redis.echo('caught up')))
          await until(() => seen.filter(([, word]) => word === 'caught up').length === cluster.nodes.length)
          const keys = seen.flatMap(([command = '', , count = '0', ...rest]) =>
            /^evalsha$|^eval$/i.test(command) ? rest.slice(0, Number(count)) : [],
          )
          const channels = seen.flatMap(([command = '', channel = '']) =>
            /^spublish$/i.test(command) ? [channel] : [],
          )
          const slot = await ask.call('CLUSTER', 'KEYSLOT', name)
          for (const key of new Set([...keys, ...channels]))
            assert.equal(await ask.call('CLUSTER', 'KEYSLOT', key), slot, `${kind} '${name}' has ${key}`)
        }
      }
      // Six names have braces that make no tag; a latch's channel has braces of its own.
      const kinds = Object.keys(OBJECTS).length
      assert.deepEqual([used, refused], [(kinds - 1) * (NAMES.length - 6) + 1, (kinds - 1) * 6 + NAMES.length - 1])
    },
  )

  for (const { name: way, lend } of lenders) {
    const lent = async (options?: Partial<Options>): Promise<Client> => {
      const { place, end } = await lend.cluster(cluster)
      ends.push(end)
      return open(place, options)
    }

    on(`${way}: taken, waited for, woken, given back, on every node`, async () => {
      const [one, other] = [await lent(), await lent()]
      let waited = 0
      const names = ['a', 'b', 'c', 'x{tag}']
      for (const name of names) {
        const hold = await one.lock(name).acquire()
        assert.equal(await other.lock(name).tryAcquire(), undefined)
        const waiting = other.lock(name).acquire()
        await sleep(60)
        const begun = performance.now()
        assert.equal(await hold.release(), true)
        const next = await waiting
        waited += performance.now() - begun
        assert.equal(await next.release(), true)
      }
      assert.ok(
        waited < names.length * 400,
        `${waited / names.length} ms on average: the poll, not the message, woke it`,
      )
    })

    on(`${way}: a slot that has moved meanwhile → the replica of the node that has it now is waited for`, async () => {
      const client = await lent({ replicas: { timeout: 300 } })
      const name = `moved ${way}`
      const before = await client.lock(name).acquire()
      const to = await otherThan(name)
      await cluster.migrate(name, to)
      assert.equal(await before.release(), true)
      await cluster.migrate(name, await otherThan(name))
      const owner = await cluster.ownerOf(name)
      await frozen(replicaOf(owner), async () => {
        const error = await rejection(client.lock(name).acquire())
        assert.ok(error instanceof ReplicationError, String(error))
      })
      await until(() =>
        client
          .lock(name)
          .using(() => true)
          .catch(() => false),
      )
    })

    on(`${way}: a slot that is moving → the replica of the node that gets it is waited for`, async () => {
      const client = await lent({ replicas: { timeout: 300 } })
      const [name, other] = [`{moving ${way}}1`, `{moving ${way}}2`] as const
      await client.lock(name).using(() => undefined)
      const to = await otherThan(name)
      await cluster.migrate(name, to, async () => {
        const hold = await client.lock(name).acquire()
        await to.redis.call('ASKING')
        assert.equal(await to.redis.exists(name), 1)
        await frozen(replicaOf(to), async () => {
          const error = await rejection(client.lock(other).acquire())
          assert.ok(error instanceof ReplicationError, String(error))
        })
        assert.equal(await hold.release(), true)
      })
    })

    on(`${way}: a slot that is moving → all that is given back meanwhile is given back`, async () => {
      const client = await lent()
      const tag = `{back ${way}}`
      const [one, several] = await Promise.all(
        [
          // These have one key, and so they go on.
          [client.lock(`${tag}lock`), client.spinLock(`${tag}spin`), client.keyedLock(`${tag}keys`, ['a', 'b'])],
          // Of these some key is never there: no node does it before all is moved.
          [
            client.fairLock(`${tag}fair`),
            client.fencedLock(`${tag}fenced`),
            client.readWriteLock(`${tag}read`).read,
            client.readWriteLock(`${tag}write`).write,
            client.readWriteLock(`${tag}fair read`, { fair: true }).read,
            client.readWriteLock(`${tag}fair write`, { fair: true }).write,
          ],
        ].map((locks) => Promise.all(locks.map((lock) => lock.acquire()))),
      )
      const [semaphore, permits] = [client.semaphore(`${tag}semaphore`), client.permitSemaphore(`${tag}permits`)]
      await semaphore.trySetPermits(1)
      await semaphore.acquire()
      await permits.trySetPermits(1)
      const permit = await permits.acquire({ lease: 60_000 })
      let late: Promise<readonly unknown[]> | undefined
      await cluster.migrate(tag, await otherThan(tag), async () => {
        for (const hold of one ?? []) assert.equal(await hold.release(), true, hold.name)
        late = Promise.all([...(several ?? []).map((hold) => hold.release()), permit.release(), semaphore.release()])
        late.catch(() => undefined)
        await sleep(1000)
      })
      const answers = (await late)?.slice(0, -1) ?? []
      assert.ok(answers.length === 7 && answers.every((answer) => answer === true), String(answers))
      assert.deepEqual([await semaphore.available(), await permits.available()], [1, 1])
      await Promise.all([semaphore.delete(), permits.delete()])
    })

    on(`${way}: calls that begin while a slot is moving → they wait until it is moved`, async () => {
      const client = await lent({ replicas: { sync: false } })
      const tag = `{begin ${way}}`
      const locks = [
        client.fencedLock(`${tag}fenced`),
        client.fairLock(`${tag}fair`),
        client.readWriteLock(`${tag}read`).read,
        client.readWriteLock(`${tag}write`).write,
      ]
      // Some of their keys are there, and some are not: neither node runs what has both.
      const before = await Promise.all(locks.map((lock) => lock.acquire()))
      await Promise.all(before.map((hold) => hold.release()))
      await client.fencedLock(`${tag}fenced`).using(() => undefined)
      const calls: Promise<unknown>[] = []
      await cluster.migrate(tag, await otherThan(tag), async () => {
        for (const lock of locks) calls.push(lock.using(() => true))
        for (const call of calls) call.catch(() => undefined)
        // Longer than ioredis goes on asking by itself.
        await sleep(2500)
      })
      assert.deepEqual(await Promise.all(calls), [true, true, true, true])
    })

    on(
      `${way}: flights, slots and permits that begin while a slot is moving → they wait until it is moved`,
      async () => {
        const client = await lent({ replicas: { sync: false } })
        const tag = `{fly ${way}}`
        const [flight, slots] = [client.flight(`${tag}flight`), client.slots(`${tag}slots`)]
        const [semaphore, permits] = [client.semaphore(`${tag}semaphore`), client.permitSemaphore(`${tag}permits`)]
        await Promise.all([semaphore.trySetPermits(1), permits.trySetPermits(1)])
        // Of one computation the record is there, and the lock is not.
        await flight.run('known', () => true)
        const calls: Promise<unknown>[] = []
        await cluster.migrate(tag, await otherThan(tag), async () => {
          const refused = await rejection(flight.run('now', { wait: 0 }, () => assert.fail()))
          assert.ok(refused instanceof EngineError, String(refused))
          calls.push(
            flight.run('known', () => true).then(({ value }) => value),
            flight.run('new', { wait: 60_000 }, () => true).then(({ value }) => value),
            slots.run('slot', { retry: 1 }, () => true).then(({ outcome }) => outcome === 'ran'),
            semaphore.using(() => true),
            permits.acquire({ lease: 60_000 }).then((permit) => permit.release()),
            client
              .rateLimiter(`${tag}limiter`)
              .tryAcquire({ rate: { permits: 5, interval: 1000 }, wait: 60_000 })
              .then(({ allowed }) => allowed),
            client.election(`${tag}election`).lead(() => true),
          )
          for (const call of calls) call.catch(() => undefined)
          // Longer than ioredis goes on asking by itself.
          await sleep(2500)
        })
        assert.deepEqual(await Promise.all(calls), [true, true, true, true, true, true, true])
        await Promise.all([semaphore.delete(), permits.delete(), client.rateLimiter(`${tag}limiter`).delete()])
      },
    )

    on(
      `${way}: the connections for messages are cut → heard of when they stand again, nothing is missed later`,
      async () => {
        const client = await lent()
        const heard: unknown[] = []
        let gaps = 0
        const topics = ['t1', 't2', 't3'].map((name) => client.topic(name, { sharded: true }))
        topics.push(client.topic('plain'))
        for (const topic of topics) {
          const subscription = await topic.subscribe((message) => void heard.push(message))
          subscription.on('gap', () => {
            gaps += 1
            // The subscription stands by now. A further gap may come while the client closes.
            topic.publish('after').catch(() => undefined)
          })
        }
        for (const node of [...cluster.nodes, ...cluster.replicas])
          await node.redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub')
        await until(() => gaps >= topics.length)
        await until(() => heard.length >= topics.length)
      },
    )
  }

  on('a spy of the test’s own on the node of a slot → hears what is told there by SPUBLISH', async () => {
    const client = await open({ url: cluster.url })
    const owner = await cluster.ownerOf('spied')
    const spy = new Redis(owner.server.url)
    ends.push(() => spy.disconnect())
    const heard: string[] = []
    spy.on('smessage', (_channel: string, message: string) => heard.push(message))
    await spy.ssubscribe('redisson_lock__channel:{spied}')
    await client.lock('spied').using(() => undefined)
    await until(() => heard.length === 1)
  })
})
