import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, EngineError } from 'holdfast'
import { rejection, times } from '../contract/lock/kind.js'
import type { Client, Options } from '../../support/engines.js'
import { redisEngine, started } from '../../support/engines.js'
import type { Watched } from '../../support/redis-sentinel.js'
import { startWatched } from '../../support/redis-sentinel.js'
import { until } from '../../support/until.js'
import { lenders } from './lenders.js'

void describe('by sentinels, in every way', { concurrency: 1 }, () => {
  let watched: Watched
  let reason: string | undefined
  const ends: (() => unknown)[] = []

  before(async () => {
    reason = await started({
      ...redisEngine,
      start: async () => {
        watched = await startWatched(1)
      },
    })
  })

  after(async () => {
    if (reason === undefined) await watched.stop()
  })

  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end()
  })

  for (const { name: way, lend } of lenders) {
    const on = (name: string, body: () => Promise<void>): void => {
      test(`${way}: ${name}`, { timeout: 120_000 }, async (t) => {
        if (reason === undefined) await body()
        else t.skip(reason)
      })
    }

    const open = async (options: Partial<Options> = {}): Promise<Client> => {
      const { place, end } = await lend.sentinel(watched)
      ends.push(end)
      const client = await connect({ ...place, ...options })
      client.on('error', () => undefined)
      ends.push(() => client.close())
      return client
    }

    on('what is sent in one turn and in those after it → is done in that order', async () => {
      const client = await open()
      const script = client.script("return redis.call('RPUSH', KEYS[1], ARGV[1])")
      await script.run({ keys: ['order'], args: [-1] })
      const calls: Promise<unknown>[] = []
      for (let round = 0; round < 20; round += 1) {
        for (const index of [0, 1, 2]) calls.push(script.run({ keys: ['order'], args: [3 * round + index] }))
        await Promise.resolve()
      }
      await Promise.all(calls)
      const list = await client.script("return redis.call('LRANGE', KEYS[1], 1, -1)").run({ keys: ['order'] })
      assert.deepEqual(
        list,
        times(60, (i) => String(i)),
      )
      await client.script("return redis.call('DEL', KEYS[1])").run({ keys: ['order'] })
    })

    on('a script that does not end → stopped over a connection of its own', async () => {
      const client = await open({ commandTimeout: 20_000 })
      const master = watched.ask(await watched.master())
      await master.config('SET', 'busy-reply-threshold', '50')
      const endless = rejection(client.script('while true do end').run())
      await sleep(200)
      const begun = performance.now()
      await client.scripts.kill()
      assert.match(String(await endless), /killed/i)
      assert.ok(performance.now() - begun < 5000, `${performance.now() - begun} ms`)
    })

    on('the connection for messages is cut → heard of when it stands again, and nothing is missed later', async () => {
      const client = await open()
      const heard: unknown[] = []
      const topic = client.topic('t')
      let gaps = 0
      const subscription = await topic.subscribe((message) => void heard.push(message))
      subscription.on('gap', () => {
        gaps += 1
        topic.publish('after').catch(() => undefined)
      })
      await watched.ask(await watched.master()).call('CLIENT', 'KILL', 'TYPE', 'pubsub')
      await until(() => gaps > 0)
      await until(() => heard.length > 0)
      assert.equal(heard[0], 'after')
    })

    on('SENTINEL FAILOVER → a hold is kept, a waiter is woken, messages come from the new master', async () => {
      // Until the master of before follows, nobody has what it would forget.
      const master = watched.ask(await watched.master())
      await until(async () => (await master.info('replication')).includes('state=online'))
      // For as long as that nobody renews it there.
      const [one, other] = [await open({ watchdog: 30_000 }), await open({ watchdog: 30_000 })]
      const heard: unknown[] = []
      await one.topic('t').subscribe((message) => void heard.push(message))
      const hold = await one.lock('kept').acquire()
      const waiting = other.lock('kept').acquire()
      waiting.catch(() => undefined)
      await sleep(100)
      await watched.failOver()
      // Until the sentinels tell it, the master of before goes on as one, for those who have not heard.
      await until(async () => (await master.info('replication')).includes('role:slave'), 60_000)
      await until(() => hold.state === 'held')
      await until(async () => {
        await other
          .topic('t')
          .publish('new')
          .catch((error: unknown) => assert.ok(error instanceof EngineError, String(error)))
        return heard.length > 0
      })
      assert.equal(await hold.release(), true)
      assert.equal(await (await waiting).release(), true)
    })
  }
})
