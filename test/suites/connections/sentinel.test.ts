import assert from 'node:assert/strict'
import process from 'node:process'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { inspect } from 'node:util'
import type { Hold, Lock } from 'holdfast'
import { connect, EngineError, LockLostError, ReplicationError } from 'holdfast'
import { rejection } from '../contract/lock/kind.js'
import type { Client, Options } from '../../support/engines.js'
import { redisEngine, started } from '../../support/engines.js'
import { freePort } from '../../support/redis-server.js'
import type { Passwords, Watched } from '../../support/redis-sentinel.js'
import { startWatched } from '../../support/redis-sentinel.js'
import { until } from '../../support/until.js'

interface Scene {
  readonly watched: Watched
  open(options?: Partial<Options>): Promise<Client>
}

const onWatched = (
  name: string,
  replicas: number,
  body: (scene: Scene) => Promise<void>,
  passwords?: Passwords,
): void => {
  void test(name, { timeout: 180_000 }, async (t) => {
    let watched: Watched | undefined
    const start = async (): Promise<void> => {
      watched = await startWatched(replicas, passwords)
    }
    const skip = await started({ ...redisEngine, start })
    if (watched === undefined) {
      t.skip(skip ?? 'no server')
      return
    }
    const place = watched
    const clients: Client[] = []
    try {
      await body({
        watched: place,
        async open(options = {}) {
          const client = await connect({ url: place.url, ...options })
          // What is told of reconnections is not this test's.
          client.on('error', () => undefined)
          clients.push(client)
          return client
        },
      })
    } finally {
      await Promise.all(clients.map((client) => client.close()))
      await place.stop()
    }
  })
}

/** Holds of one lock, by whoever has it: no two at once that both say that they can be trusted. */
class Witness {
  readonly #inside = new Set<Hold>()
  readonly served: string[] = []
  readonly lost: string[] = []

  async hold(lock: Lock, who: string, ms: number): Promise<void> {
    const hold = await lock.acquire()
    for (const other of this.#inside) assert.equal(other.remaining(), 0, `${who} came in beside another`)
    this.#inside.add(hold)
    this.served.push(who)
    await sleep(ms)
    this.#inside.delete(hold)
    if (!(await hold.release())) this.lost.push(who)
  }
}

/** The states that a hold goes through, as it says itself. */
const statesOf = (hold: Hold): { readonly seen: string[]; end(): void } => {
  const seen: string[] = []
  const timer = setInterval(() => {
    const state = hold.lost ? 'lost' : hold.state
    assert.equal(state === 'held' || state === 'uncertain', hold.remaining() > 0)
    if (seen.at(-1) !== state) seen.push(state)
  }, 10)
  timer.unref()
  return { seen, end: () => clearInterval(timer) }
}

/** While a master goes. */
const EXCUSED = [EngineError, LockLostError, ReplicationError]

void describe('by sentinels', { concurrency: 2 }, () => {
  onWatched(
    'SENTINEL FAILOVER while a lock is held and waited for → both go on, on the new master',
    2,
    async ({ watched, open }) => {
      const [one, other] = [await open({ watchdog: 6000 }), await open({ watchdog: 6000 })]
      const hold = await one.lock('a').acquire()
      const states = statesOf(hold)
      const waiting = other.lock('a').acquire()
      waiting.catch(() => undefined)
      await sleep(200)
      await watched.failOver()
      await sleep(3000)
      states.end()
      assert.ok(!states.seen.includes('lost'), states.seen.join())
      assert.equal(hold.state, 'held')
      const master = watched.ask(await watched.master())
      assert.equal(await master.exists('a'), 1)
      const begun = performance.now()
      assert.equal(await hold.release(), true)
      const next = await waiting
      const took = performance.now() - begun
      assert.ok(took < 700, `${took} ms: the poll, not the message, woke it`)
      assert.equal(await next.release(), true)
      await until(async () => (await master.exists('a')) === 0)
    },
  )

  onWatched(
    'SENTINEL FAILOVER, the master of before not told yet → left at once, with its messages; whoever comes later is excluded',
    1,
    async ({ watched, open }) => {
      const client = await open()
      const heard: unknown[] = []
      await client.topic('t').subscribe((message) => void heard.push(message))
      await watched.failOver()
      const late = await open()
      const master = watched.ask(await watched.master())
      await until(
        async () =>
          (await client
            .lock('a')
            .isLocked()
            .catch(() => undefined)) === false,
        3000,
      )
      const hold = await client.lock('a').acquire()
      assert.equal(await master.exists('a'), 1, 'it is had of the master of before')
      assert.equal(await late.lock('a').tryAcquire(), undefined)
      await until(async () => (await master.publish('t', '"new"')) === 1, 3000)
      await until(() => heard.length === 1)
      assert.equal(await hold.release(), true)
    },
  )

  onWatched(
    'the master killed while a lock is held and waited for → trust is honest meanwhile, and both go on',
    2,
    async ({ watched, open }) => {
      const [one, other] = [await open({ watchdog: 30_000 }), await open({ watchdog: 30_000 })]
      const hold = await one.lock('a').acquire()
      const states = statesOf(hold)
      const waiting = other.lock('a').acquire()
      waiting.catch(() => undefined)
      const old = await watched.master()
      const hasty = await open({ commandTimeout: 300 })
      const reconnected = new Promise((resolve) => one.on('reconnect', () => resolve(undefined)))
      await old.stop()
      const refused = await rejection(hasty.lock('b').acquire())
      assert.ok(refused instanceof EngineError && ['OFFLINE', 'NO_REPLY'].includes(refused.code), String(refused))
      assert.ok(!refused.message.includes('@'), refused.message)
      await watched.movedFrom(old)
      await reconnected
      await until(() => hold.state === 'held')
      states.end()
      assert.ok(!states.seen.includes('lost'), states.seen.join())
      assert.ok((await other.lock('a').inspect()).holders.length === 1)
      assert.equal(await hold.release(), true)
      assert.equal(await (await waiting).release(), true)
      const third = await open()
      assert.equal(await third.lock('a').using(() => 'done'), 'done')
    },
  )

  onWatched(
    'T27 T31: callers of a plain and of a fair lock, and a failover in the middle → one at a time, all served',
    1,
    async ({ watched, open }) => {
      // A release that the old master did not pass on in time keeps everybody out for the rest of its lease.
      // An answer may stand behind two WAITs, and must not come after the lease.
      const options = { watchdog: 2000, replicas: { timeout: 300 } }
      const clients = [await open(options), await open(options), await open(options)]
      const witnesses = { lock: new Witness(), fairLock: new Witness() }
      const calls: Promise<void>[] = []
      let over = false
      for (const kind of ['lock', 'fairLock'] as const) {
        for (const [i, client] of clients.entries()) {
          calls.push(
            (async () => {
              while (!over) {
                // A call that begins while nothing answers rejects in time; the next may have more luck.
                // So does one whose answer a slow machine reads too late, or that no replica had in time.
                await witnesses[kind].hold(client[kind](kind), `${kind} ${i}`, 20).catch((error: unknown) => {
                  assert.ok(
                    EXCUSED.some((kind) => error instanceof kind),
                    inspect(error),
                  )
                })
              }
            })(),
          )
        }
      }
      const all = Promise.all(calls)
      all.catch(() => undefined)
      const { lock, fairLock } = witnesses
      try {
        await sleep(500)
        await watched.failOver()
        const before = [lock.served.length, fairLock.served.length] as const
        await until(() => lock.served.length > before[0] + 60 && fairLock.served.length > before[1] + 60)
      } finally {
        over = true
      }
      await all
      for (const kind of [lock, fairLock]) {
        const late = new Set(kind.served.slice(-60))
        assert.equal(late.size, 3, `${[...late].join()} only`)
      }
    },
  )

  onWatched(
    'T28: the master of a topic is killed → a gap is told, heard at the new one',
    2,
    async ({ watched, open }) => {
      const [one, other] = [await open(), await open({ commandTimeout: 500 })]
      const heard: unknown[] = []
      const gaps = new Set<string>()
      const topic = await one.topic('t').subscribe((message) => void heard.push(message))
      const pattern = await one.patternTopic('t*').subscribe((message) => void heard.push(message))
      topic.on('gap', () => void gaps.add('topic'))
      pattern.on('gap', () => void gaps.add('pattern'))
      assert.equal(await other.topic('t').publish('before'), 2)
      await until(() => heard.length === 2)
      const old = await watched.master()
      await old.stop()
      await watched.movedFrom(old)
      await until(() => gaps.size === 2)
      await until(
        async () =>
          (await other
            .topic('t')
            .publish('after')
            .catch(() => 0)) === 2,
      )
      await until(() => heard.filter((message) => message === 'after').length >= 2)
      assert.deepEqual([one.topic('t').listeners(), heard.slice(0, 2)], [1, ['before', 'before']])
    },
  )

  onWatched(
    'the master stands still, its connections stay open → it is left, and the new one serves',
    2,
    async ({ watched, open }) => {
      const client = await open({ commandTimeout: 1000, watchdog: 30_000 })
      const hold = await client.lock('a').acquire()
      const other = await open({ commandTimeout: 1000, watchdog: 30_000 })
      const waiting = other.lock('a').acquire()
      waiting.catch(() => undefined)
      await sleep(200)
      const old = await watched.master()
      process.kill(old.pid, 'SIGSTOP')
      try {
        await watched.movedFrom(old)
        const master = watched.ask(await watched.master())
        await until(() => hold.state === 'held')
        const begun = performance.now()
        assert.equal(await hold.release(), true)
        assert.equal(await (await waiting).release(), true)
        assert.ok(performance.now() - begun < 5000)
        assert.equal(await master.exists('a'), 0)
      } finally {
        process.kill(old.pid, 'SIGCONT')
      }
    },
  )

  onWatched(
    'passwords of servers and sentinels, one sentinel standing still → connected, and nothing shows them',
    1,
    async ({ watched }) => {
      const shown: string[] = []
      const logger = Object.fromEntries(
        ['debug', 'info', 'warn', 'error'].map((level) => [level, (...words: unknown[]) => shown.push(inspect(words))]),
      ) as unknown as NonNullable<Options['logger']>
      const withPasswords = (server: string, sentinel: string): string =>
        `${watched.url.replace('//', `//:${server}@`)}?sentinelPassword=${sentinel}`
      process.kill(watched.sentinels[0]?.pid ?? 0, 'SIGSTOP')
      try {
        const begun = performance.now()
        const client = await connect({ url: withPasswords('s3rver%2F', 'w4tcher%2F'), connectTimeout: 6000, logger })
        assert.ok(performance.now() - begun < 6000)
        client.on('error', (error) => shown.push(inspect(error)))
        const hold = await client.lock('a').acquire()
        assert.equal(await watched.ask(watched.servers[0]!).exists('a'), 1)
        assert.equal(await hold.release(), true)
        shown.push(inspect(client, { depth: 20, showHidden: true }))
        await client.close()
      } finally {
        process.kill(watched.sentinels[0]?.pid ?? 0, 'SIGCONT')
      }
      for (const [server, sentinel] of [
        ['wr0ng', 'w4tcher%2F'],
        ['s3rver%2F', 'wr0ng'],
      ] as const) {
        const error = await rejection(connect({ url: withPasswords(server, sentinel), connectTimeout: 3000 }))
        assert.ok(error instanceof EngineError, String(error))
        shown.push(inspect(error, { depth: 20, showHidden: true }))
        const at =
          server === 'wr0ng' ? /cannot connect to redis\+sentinel:\/\/127.*\/main: WRONGPASS/ : /WRONGPASS|NOAUTH/
        assert.match(error.message, at)
      }
      for (const text of shown) assert.doesNotMatch(text, /s3rver|w4tcher|wr0ng/)
    },
    { server: 's3rver/', sentinel: 'w4tcher/' },
  )

  onWatched(
    'a master that no sentinel knows → EngineError that says so, with all addresses',
    1,
    async ({ watched }) => {
      const url = `${watched.url}s`
      const error = await rejection(connect({ url, connectTimeout: 3000 }))
      assert.ok(error instanceof EngineError && error.code === 'OFFLINE', String(error))
      assert.ok(error.message.startsWith(`cannot connect to ${url}: `), error.message)
      assert.match(error.message, /sentinel 127\.0\.0\.1:\d+/)
    },
  )

  test('no sentinel answers → EngineError at once, with all addresses', async () => {
    const ports = [await freePort(), await freePort()]
    const url = `redis+sentinel://:s3cret@127.0.0.1:${ports[0]},127.0.0.1:${ports[1]}/main/2?sentinelPassword=s3cret`
    const begun = performance.now()
    const error = await rejection(connect({ url, connectTimeout: 5000 }))
    assert.ok(performance.now() - begun < 4000)
    assert.ok(error instanceof EngineError && error.code === 'OFFLINE', String(error))
    for (const port of ports) assert.ok(error.message.includes(`127.0.0.1:${port}`), error.message)
    assert.match(error.message, /failed to connect to sentinel/)
    assert.doesNotMatch(inspect(error, { depth: 20, showHidden: true }), /s3cret/)
  })
})
