import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { MultiLock } from 'holdfast'
import { AcquireTimeoutError, connect, EngineError, LockLostError, MembersError } from 'holdfast'
import { rejection, watch } from '../../suites/contract/lock/kind.js'
import { type Client, redisEngine, started } from '../../support/engines.js'
import { type Proxy, startProxy } from '../../support/proxy.js'
import { type RedisServer, startRedis } from '../../support/redis-server.js'

/** Two servers; the second stands behind a proxy. */
void describe('a multi-lock of two servers, one of them in trouble', () => {
  let servers: RedisServer[] = []
  let proxy: Proxy
  let reason: string | undefined
  let names = 0

  before(async () => {
    const start = async (): Promise<void> => {
      servers = [await startRedis(), await startRedis()]
      proxy = await startProxy((servers[1] as RedisServer).port)
    }
    reason = await started({ ...redisEngine, start })
  })
  after(async () => {
    await (proxy as Proxy | undefined)?.close()
    for (const server of servers) await server.stop()
  })

  interface Visit {
    readonly near: Client
    readonly far: Client
    readonly lock: MultiLock
    readonly name: string
  }

  const scenario = (title: string, body: (visit: Visit) => Promise<void>): void => {
    void test(title, { timeout: 60_000 }, async (t) => {
      if (reason !== undefined) {
        t.skip(reason)
        return
      }
      const near = await connect({ url: (servers[0] as RedisServer).url })
      const far = await connect({ url: proxy.url, commandTimeout: 5000 })
      far.on('error', () => undefined)
      const name = `m${(names += 1)}`
      try {
        await body({ near, far, name, lock: near.multiLock(near.lock(name), far.lock(name)) })
      } finally {
        proxy.held = 'nothing'
        await Promise.all([near.close(), far.close()])
      }
      const check = await connect(servers[0]?.url)
      assert.equal(await check.lock(name).isLocked(), false, 'something is left')
      await check.close()
    })
  }

  scenario('silent while it is taken → the limit holds, and nothing of it is kept', async ({ near, lock, name }) => {
    proxy.held = 'everything'
    const begun = performance.now()
    assert.equal(await lock.tryAcquire({ wait: 600 }), undefined)
    const took = performance.now() - begun
    assert.ok(took >= 595 && took < 3000, `took ${took} ms`)
    const error = await rejection(lock.acquire({ wait: 300 }))
    assert.ok(error instanceof AcquireTimeoutError, String(error))
    assert.equal(await near.lock(name).isLocked(), false)
    proxy.held = 'nothing'
    const hold = await lock.acquire({ wait: 20_000 })
    assert.equal(await hold.release(), true)
  })

  scenario('a blip while it waits → goes on waiting, and has it', async ({ near, far, lock, name }) => {
    const other = await near.lock(name).acquire()
    const warm = await far.lock(name).acquire()
    const waiting = watch(lock.acquire())
    await sleep(100)
    // It waits for the first, then finds the second taken, and waits for that: from then on both have answered.
    assert.equal(await other.release(), true)
    await sleep(300)
    proxy.cut()
    await sleep(300)
    assert.equal(waiting.settled, false)
    assert.equal(await warm.release(), true)
    const hold = await waiting.promise
    assert.equal(hold.state, 'held')
    // Taken by another, with a cut at each retry.
    assert.equal(await hold.release(), true)
  })

  scenario('never reached → waits it out, and the time-out says why', async ({ lock }) => {
    proxy.held = 'everything'
    proxy.cut()
    await sleep(50)
    const error = await rejection(lock.acquire({ wait: 2500 }))
    assert.ok(error instanceof AcquireTimeoutError, String(error))
    // Which of the two it is: by its place, unless the limit came before its own answer did; and by its address.
    const { cause } = error
    if (cause instanceof MembersError) {
      assert.deepEqual(
        cause.errors.map(({ index }) => index),
        [1],
      )
    } else assert.ok(cause instanceof EngineError && ['NO_REPLY', 'OFFLINE'].includes(cause.code), String(cause))
    assert.ok(String(cause).includes(proxy.url.replace(/\/$/, '')), String(cause))
  })

  scenario('so slow that the lease of the others is over → never a hold that is lost', async ({ lock }) => {
    proxy.delay = 900
    try {
      const outcome = await lock.acquire({ lease: 600 }).then(
        (hold) => hold,
        (error: unknown) => error,
      )
      assert.ok(outcome instanceof LockLostError, String(outcome))
    } finally {
      proxy.delay = 0
    }
  })
})
