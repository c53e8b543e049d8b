import assert from 'node:assert/strict'
import process from 'node:process'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Lock } from 'holdfast'
import { connect, ReplicationError } from 'holdfast'
import { Redis } from 'ioredis'
import { rejection, times } from '../contract/lock/kind.js'
import type { Client, Options } from '../../support/engines.js'
import { redisEngine, started } from '../../support/engines.js'
import type { RedisServer } from '../../support/redis-server.js'
import { startRedis } from '../../support/redis-server.js'
import { until } from '../../support/until.js'

interface Scene {
  readonly master: RedisServer
  readonly replicas: readonly RedisServer[]
  readonly redis: Redis
  open(options?: Partial<Options>): Promise<Client>
  /** Stops the process; it goes on when the test is over, or before. */
  freeze(replica: number): void
  thaw(replica: number): void
  /** The commands that the server saw meanwhile, without those of scripts. */
  seen(during: () => Promise<void>): Promise<string[]>
}

const withReplicas = (name: string, count: number, body: (scene: Scene) => Promise<void>): void => {
  void test(name, { timeout: 120_000 }, async (t) => {
    const servers: RedisServer[] = []
    const start = async (): Promise<void> => {
      const master = await startRedis(['--repl-diskless-sync-delay', '0'])
      servers.push(master)
      for (let i = 0; i < count; i += 1)
        servers.push(await startRedis(['--replicaof', '127.0.0.1', String(master.port)]))
    }
    const skip = await started({ ...redisEngine, start })
    const [master, ...replicas] = servers
    if (skip !== undefined || master === undefined) {
      t.skip(skip ?? 'no server')
      return
    }
    const redis = new Redis(master.url)
    const clients: Client[] = []
    const frozen: number[] = []
    const scene: Scene = {
      master,
      replicas,
      redis,
      async open(options = {}) {
        const client = await connect({ url: master.url, ...options })
        clients.push(client)
        return client
      },
      freeze(replica) {
        const { pid } = replicas[replica] ?? assert.fail()
        frozen.push(pid)
        process.kill(pid, 'SIGSTOP')
      },
      thaw(replica) {
        process.kill((replicas[replica] ?? assert.fail()).pid, 'SIGCONT')
      },
      async seen(during) {
        const monitor = await redis.monitor()
        const words: string[] = []
        monitor.on('monitor', (_time: string, [name = '']: string[], source: string) => {
          if (source !== 'lua') words.push(name.toLowerCase())
        })
        await during()
        await sleep(50)
        monitor.disconnect()
        return words
      },
    }
    try {
      await until(async () => {
        await redis.set('written', 1)
        return (await redis.wait(count, 1000)) === count && (await redis.del('written')) === 1
      })
      await body(scene)
    } finally {
      for (const pid of frozen) process.kill(pid, 'SIGCONT')
      await Promise.all(clients.map((client) => client.close()))
      redis.disconnect()
      await Promise.all(servers.map((server) => server.stop()))
    }
  })
}

/** By the name of its key. */
const KINDS: Readonly<Record<string, (client: Client) => Lock>> = {
  lock: (client) => client.lock('lock'),
  nonReentrantLock: (client) => client.nonReentrantLock('nonReentrantLock'),
  fairLock: (client) => client.fairLock('fairLock'),
  nonReentrantFairLock: (client) => client.nonReentrantFairLock('nonReentrantFairLock'),
  fencedLock: (client) => client.fencedLock('fencedLock'),
  spinLock: (client) => client.spinLock('spinLock'),
  keyedLock: (client) => client.keyedLock('keyedLock', ['a', 'b']),
  readLock: (client) => client.readWriteLock('readLock').read,
  writeLock: (client) => client.readWriteLock('writeLock').write,
  fairReadLock: (client) => client.readWriteLock('fairReadLock', { fair: true }).read,
  fairWriteLock: (client) => client.readWriteLock('fairWriteLock', { fair: true }).write,
}

/** What else takes something, and how often that waits for the replica. */
const OTHERS: Readonly<Record<string, readonly [waits: number, take: (client: Client) => Promise<unknown>]>> = {
  semaphore: [1, async (client) => client.semaphore('s').acquire()],
  permitSemaphore: [1, (client) => client.permitSemaphore('p').acquire({ lease: 60_000 })],
  multiLock: [2, (client) => client.multiLock(client.lock('m1'), client.lock('m2')).using(() => undefined)],
  redLock: [2, (client) => client.redLock(client.lock('r1'), client.lock('r2')).using(() => undefined)],
  election: [1, (client) => client.election('e').lead(() => undefined)],
  // Their lock, and the claim.
  slots: [2, (client) => client.slots('n').run(`slot ${performance.now()}`, () => undefined)],
  flight: [2, (client) => client.flight('f').run(`key ${performance.now()}`, { ttl: 1000 }, () => 1)],
}

/** Those of them whose fair locks go by other rules. */
const VERSIONS = ['4', '3.17', '3.8'] as const

void describe('replicas', { concurrency: 2 }, () => {
  withReplicas('no replica → nothing is waited for', 0, async ({ open, seen }) => {
    const client = await open()
    const words = await seen(() => client.lock('a').using(() => undefined))
    assert.ok(!words.includes('wait'), words.join())
  })

  withReplicas(
    'one replica → each acquisition has a WAIT right behind it, and then the replica has it',
    1,
    async ({ open, seen, replicas }) => {
      const replica = new Redis(replicas[0]?.url ?? '')
      const waitsOf = (words: readonly string[], what: string): number => {
        const at = words.indexOf('wait')
        assert.match(words[at - 1] ?? '', /^eval/, `${what}: ${words.join(' ')}`)
        return words.filter((word) => word === 'wait').length
      }
      try {
        for (const redisson of VERSIONS) {
          const client = await open({ redisson })
          for (const [kind, lockOf] of Object.entries(KINDS)) {
            const lock = lockOf(client)
            // The scripts are known from then on.
            await lock.using(() => undefined)
            let there = 0
            const words = await seen(async () => {
              const hold = await lock.acquire()
              there = await replica.exists(kind)
              await hold.release()
            })
            assert.equal(there, 1, kind)
            assert.equal(waitsOf(words, `${kind} ${redisson}`), 1, `${kind} ${redisson}: ${words.join(' ')}`)
          }
        }
        const client = await open()
        await client.semaphore('s').trySetPermits(3)
        await client.permitSemaphore('p').trySetPermits(3)
        for (const [kind, [waits, take]] of Object.entries(OTHERS)) {
          await take(client)
          const words = await seen(async () => {
            await take(client)
          })
          assert.equal(waitsOf(words, kind), waits, `${kind}: ${words.join(' ')}`)
        }
      } finally {
        replica.disconnect()
      }
    },
  )

  withReplicas('sync: false → no WAIT', 1, async ({ open, seen }) => {
    const client = await open({ replicas: { sync: false } })
    assert.ok(!(await seen(() => client.lock('a').using(() => undefined))).includes('wait'))
  })

  withReplicas('a user who may not WAIT → ReplicationError; with sync: false, a hold', 1, async ({ master, redis }) => {
    await redis.call('ACL', 'SETUSER', 'no-wait', 'on', '>secret', '~*', '&*', '+@all', '-wait')
    const url = `redis://no-wait:secret@127.0.0.1:${master.port}`
    await using waiting = await connect(url)
    const isRefused = (error: unknown): boolean =>
      error instanceof ReplicationError && String(error.cause).includes('NOPERM')
    await assert.rejects(waiting.lock('a').acquire(), isRefused)
    await using content = await connect({ url, replicas: { sync: false } })
    assert.equal((await content.lock('a').acquire({ wait: 3000 })).state, 'held')
  })

  withReplicas(
    'the only replica stands still → ReplicationError in time, for every kind, and nothing is held',
    1,
    async ({ open, redis, freeze }) => {
      const client = await open({ replicas: { timeout: 300 } })
      const other = await open({ replicas: { timeout: 300 } })
      await client.semaphore('s').trySetPermits(3)
      await client.permitSemaphore('p').trySetPermits(3)
      const held = await client.fairLock('held').acquire()
      const classic = await open({ replicas: { timeout: 300 }, redisson: '3.17' })
      freeze(0)
      const waiting = rejection(other.fairLock('held').acquire())
      await sleep(100)
      for (const [kind, lockOf] of Object.entries(KINDS)) {
        const begun = performance.now()
        const error = await rejection(lockOf(client).acquire())
        assert.ok(error instanceof ReplicationError, `${kind}: ${String(error)}`)
        assert.equal(error.target, kind)
        assert.ok(performance.now() - begun >= 290, `${kind}: ${performance.now() - begun} ms`)
        await until(async () => (await redis.exists(kind)) === 0)
        assert.ok((await rejection(lockOf(client).tryAcquire())) instanceof ReplicationError)
      }
      for (const attempt of ['acquire', 'tryAcquire'] as const) {
        assert.ok((await rejection(classic.fairLock('classic')[attempt]())) instanceof ReplicationError)
        await until(async () => (await redis.exists('classic')) === 0)
      }
      const { read, write } = client.readWriteLock('rw')
      for (const side of [read, write]) assert.ok((await rejection(side.acquire())) instanceof ReplicationError)
      await until(async () => (await redis.exists('rw')) === 0)
      assert.ok((await rejection(client.semaphore('s').acquire())) instanceof ReplicationError)
      await until(async () => (await redis.get('s')) === '3')
      assert.ok((await rejection(client.permitSemaphore('p').acquire({ lease: 60_000 }))) instanceof ReplicationError)
      await until(async () => (await client.permitSemaphore('p').available()) === 3)
      // Who is granted it by another's release is not served either.
      assert.equal(await held.release(), true)
      assert.ok((await waiting) instanceof ReplicationError)
      await until(async () => (await redis.keys('*held*')).length === 0)
    },
  )

  withReplicas(
    'the only replica stands still, and another holds it → a try says so at once, who waits waits on and is served later',
    1,
    async ({ open, redis, freeze, thaw }) => {
      const replicas = { timeout: 1500 }
      const client = await open({ replicas })
      await client.semaphore('s').trySetPermits(1)
      await client.permitSemaphore('p').trySetPermits(1)
      // A second reader would take something.
      const kinds = Object.entries(KINDS).filter(([kind]) => !/read/i.test(kind))
      const holds = await Promise.all(kinds.map(([, lockOf]) => lockOf(client).acquire()))
      await client.semaphore('s').acquire()
      const permit = await client.permitSemaphore('p').acquire({ lease: 60_000 })
      freeze(0)
      const attempts = [
        ...kinds.map(
          ([kind, lockOf]) => [kind, (other: Client, wait: number) => lockOf(other).tryAcquire({ wait })] as const,
        ),
        ['s', (other: Client, wait: number) => other.semaphore('s').tryAcquire({ wait })] as const,
        ['p', (other: Client, wait: number) => other.permitSemaphore('p').tryAcquire({ wait })] as const,
      ]
      for (const [kind, attempt] of attempts) {
        // A WAIT keeps all that is behind it on its connection waiting.
        const other = await open({ replicas })
        const begun = performance.now()
        assert.ok(!(await attempt(other, 0)), kind)
        const took = performance.now() - begun
        assert.ok(took < 1200, `${kind}: ${took} ms: nothing was taken that a replica could have`)
      }
      const others = await Promise.all(attempts.map(() => open({ replicas })))
      const waiting = attempts.map(([, attempt], i) => attempt(others[i] ?? assert.fail(), 60_000))
      for (const had of waiting) had.catch(() => undefined)
      await sleep(3500)
      thaw(0)
      await until(async () => (await redis.wait(1, 1000)) === 1)
      await Promise.all([...holds.map((hold) => hold.release()), client.semaphore('s').release(), permit.release()])
      for (const had of waiting) assert.ok(await had)
    },
  )

  withReplicas(
    'one of two stands still → had all the same, after the time-out; both → ReplicationError',
    2,
    async ({ open, redis, freeze }) => {
      const client = await open({ replicas: { timeout: 300 } })
      freeze(1)
      const begun = performance.now()
      const hold = await client.lock('a').acquire()
      assert.ok(performance.now() - begun >= 290, `${performance.now() - begun} ms`)
      assert.equal(await hold.release(), true)
      freeze(0)
      assert.ok((await rejection(client.lock('a').acquire())) instanceof ReplicationError)
      await until(async () => (await redis.exists('a')) === 0)
    },
  )

  withReplicas(
    'the only replica gone for good → no-one to wait for; a new one → waited for',
    1,
    async ({ open, master, replicas, redis, seen }) => {
      const client = await open({ replicas: { timeout: 1500 } })
      await replicas[0]?.stop()
      await client.lock('a').using(() => undefined)
      assert.ok(!(await seen(() => client.lock('a').using(() => undefined))).includes('wait'))
      const late = await startRedis(['--replicaof', '127.0.0.1', String(master.port)])
      try {
        await until(async () => (await redis.set('written', 1)) === 'OK' && (await redis.wait(1, 1000)) === 1)
        await redis.del('written')
        await redis.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
        await sleep(500)
        assert.ok((await seen(() => client.lock('a').using(() => undefined))).includes('wait'))
      } finally {
        await late.stop()
      }
    },
  )

  withReplicas(
    '100 at once while the replica stands still → they share a few WAITs, and a hold is renewed meanwhile',
    1,
    async ({ open, freeze, seen }) => {
      const client = await open({ replicas: { timeout: 1000 }, watchdog: 3000 })
      const hold = await client.lock('kept').acquire()
      freeze(0)
      const words = await seen(async () => {
        const errors = await Promise.all(times(100, (i) => rejection(client.lock(`n${i}`).acquire())))
        assert.ok(errors.every((error) => error instanceof ReplicationError))
        await sleep(2500)
      })
      const waits = words.filter((word) => word === 'wait').length
      assert.ok(waits <= 6, `${waits} of them`)
      assert.equal(hold.state, 'held')
    },
  )

  withReplicas('what it costs: with one replica beside without', 1, async ({ open }) => {
    const rate = async (sync: boolean, callers: number): Promise<number> => {
      const client = await open({ replicas: { sync } })
      const rounds = Math.ceil(600 / callers)
      const begun = performance.now()
      await Promise.all(
        times(callers, async (i) => {
          for (let round = 0; round < rounds; round += 1) await client.lock(`${sync} ${i}`).using(() => undefined)
        }),
      )
      return (callers * rounds * 1000) / (performance.now() - begun)
    }
    for (const callers of [1, 64]) {
      await rate(false, callers)
      // In turns, the best of each: whatever else the machine does only slows them down.
      let [without, with_] = [0, 0]
      for (let turn = 0; turn < 3; turn += 1) {
        without = Math.max(without, await rate(false, callers))
        with_ = Math.max(with_, await rate(true, callers))
      }
      console.log(
        `${callers} callers: ${without.toFixed(0)} pairs/s without, ${with_.toFixed(0)} with a replica to wait for`,
      )
      assert.ok(with_ > without / 200, 'as slow as that it has a cause of its own')
    }
  })
})
