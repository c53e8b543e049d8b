import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, EngineError } from 'holdfast'
import { rejection, watch } from '../../contract/lock/kind.js'
import type { Client } from '../../../support/engines.js'
import { redisEngine, started } from '../../../support/engines.js'
import type { Trouble } from '../../../support/troubles.js'
import { Site, troubles } from '../../../support/troubles.js'
import { until } from '../../../support/until.js'
import type { Kind } from './rows.js'
import { kinds } from './rows.js'

interface Visit {
  readonly site: Site
  readonly client: Client
}

type Scenario = (name: string, body: (visit: Visit) => Promise<void>) => void

/** Inside a `describe`: one server of its own, its tests one after the other. */
const onSite = (trouble: Trouble): Scenario => {
  let site: Site | undefined
  let reason: string | undefined
  before(async () => {
    const start = async (): Promise<void> => {
      site = await Site.open(trouble)
    }
    reason = await started({ ...redisEngine, start })
  })
  after(() => site?.close())
  return (name, body) => {
    void test(name, { timeout: 60_000 }, async (t) => {
      if (site === undefined) {
        t.skip(reason ?? 'no server')
        return
      }
      const client = await connect({ url: site.url, presence: false })
      client.on('error', () => undefined)
      try {
        await body({ site, client })
        await client.close()
        for (const key of await site.keys()) {
          assert.ok(!key.startsWith('holdfast') || (await site.redis.pttl(key)) > 0, `${key} never goes`)
        }
      } finally {
        await site.end()
        await client.close()
        for (const key of await site.keys()) await site.redis.del(key)
      }
    })
  }
}

const isTrouble = ({ code, text }: Trouble, error: unknown): void => {
  assert.ok(error instanceof EngineError, String(error))
  // On the way into LOADING the connection is cut.
  if (code === 'LOADING' && ['OFFLINE', 'NO_REPLY'].includes(error.code)) return
  assert.equal(error.code, code, error.message)
  assert.match(error.message, text)
}

const calls = (kind: Kind, trouble: Trouble, scenario: Scenario): void => {
  for (const row of kind.rows) {
    const through =
      trouble.acquire === 'lets through' || (trouble.upkeep === 'lets through' && row.needsNoMemory === true)
    const outcome = through ? 'done' : 'rejects with the server’s text, nothing changed; done when it is over'
    scenario(`${kind.name}.${row.name} → ${outcome}`, async ({ site, client }) => {
      await kind.prepare(site.redis, 'a')
      await site.begin()
      if (!through) {
        isTrouble(site.trouble, await rejection(row.call(client, 'a')))
        await site.end()
        assert.equal(await kind.count(site.redis, 'a'), kind.prepared)
      }
      await until(async () => site.redis.status === 'ready')
      assert.deepEqual(await retried(() => row.call(client, 'a')), row.answer)
      await site.end()
      assert.equal(await kind.count(site.redis, 'a'), kind.prepared + row.by)
    })
  }
}

/** The way out of the trouble may lead through a cut connection. */
const retried = async (call: () => Promise<unknown>): Promise<unknown> => {
  for (;;) {
    try {
      return await call()
    } catch (error) {
      if (!(error instanceof EngineError && error.code === 'OFFLINE')) throw error
      // What is refused at once leaves the loop no time to connect in.
      await sleep(20)
    }
  }
}

const waiters = (kind: Kind, trouble: Trouble, scenario: Scenario): void => {
  if (!trouble.passes) return
  scenario(`${kind.name}: who waits already → waits it out`, async ({ site, client }) => {
    await kind.put(site.redis, 'a', kind.closed)
    const waiting = watch(kind.wait(client, 'a', {}))
    await until(() => isHeard(site, kind))
    await site.begin()
    await new Promise((resolve) => setTimeout(resolve, 1500))
    assert.equal(waiting.settled, false)
    await site.end()
    await until(() => site.redis.status === 'ready')
    await kind.put(site.redis, 'a', kind.open)
    const began = performance.now()
    await waiting.promise
    assert.ok(performance.now() - began < 6000)
  })
}

const isHeard = async ({ redis }: Site, kind: Kind): Promise<boolean> => {
  const [plain, sharded] = await Promise.all(
    ['CHANNELS', 'SHARDCHANNELS'].map((which) => redis.call('PUBSUB', which, kind.channel('a')) as Promise<unknown[]>),
  )
  return plain?.length === 1 || sharded?.length === 1
}

void describe('G-24: trouble at the server of synchronizers', { concurrency: troubles.length }, () => {
  for (const trouble of troubles) {
    void describe(trouble.name, { concurrency: 1 }, () => {
      const scenario = onSite(trouble)
      for (const kind of kinds) {
        calls(kind, trouble, scenario)
        waiters(kind, trouble, scenario)
      }
    })
  }
})
