import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { Redis } from 'ioredis'
import { connect, EngineError } from 'holdfast'
import { judge } from '#src/http/rate-limit.js'
import { troubleReport } from '#src/http/report-trouble.js'
import { HitCounter } from '#src/http/stores/hit-counter.js'
import type { Client } from '../../support/engines.js'
import { startRedis } from '../../support/redis-server.js'
import { until } from '../../support/until.js'
import { frameworks, type Handler } from './frameworks.js'
import { placeOf, stageOf } from './stage.js'

const codesOf = (errors: readonly unknown[]): unknown[] => errors.map((error) => (error as { code?: unknown }).code)

/** The warnings of the process that contain `word`, while `body` runs. */
const warnings = async (word: string, body: (heard: readonly string[]) => Promise<void>): Promise<void> => {
  const heard: string[] = []
  const hear = ({ message }: Error): void => {
    if (message.includes(word)) heard.push(message)
  }
  process.on('warning', hear)
  try {
    await body(heard)
  } finally {
    process.off('warning', hear)
  }
}

/** A client whose user may use no key that the test uses. */
const withoutRights = async (url: string): Promise<Client> => {
  const redis = new Redis(url)
  await redis.call('ACL', 'SETUSER', 'weak', 'reset', 'on', '>pw', '~elsewhere:*', '&*', '+@all')
  redis.disconnect()
  return connect({ url: url.replace('redis://', 'redis://weak:pw@'), presence: false })
}

const rate = { permits: 5, interval: 60_000 }

void describe('errors say why the server refuses', () => {
  const test = stageOf('redis')
  const testOnce = stageOf('redis', frameworks.slice(0, 1))

  for (const whenAway of ['closed', 'open'] as const)
    testOnce(
      `the replica does not confirm, ${whenAway} → an outage, and no error of the request`,
      async ({ serve }) => {
        const server = await startRedis()
        const replica = await startRedis(['--replicaof', '127.0.0.1', String(server.port)])
        const redis = new Redis(server.url)
        await until(async () => (await redis.info('replication')).includes('state=online'))
        const client = await connect({ url: server.url, presence: false, replicas: { timeout: 100 } })
        try {
          process.kill(replica.pid, 'SIGSTOP')
          let calls = 0
          const errors: unknown[] = []
          const handler: Handler = async () => ({ body: `call ${++calls}` })
          const ask = await serve({ client, whenAway, onError: (error) => void errors.push(error) }, handler)
          const { status } = await ask()
          assert.deepEqual([status, calls], whenAway === 'open' ? [200, 1] : [503, 0])
          assert.deepEqual(codesOf(errors), ['NOREPLICAS'])
        } finally {
          process.kill(replica.pid, 'SIGCONT')
          await client.close()
          redis.disconnect()
          await replica.stop()
          await server.stop()
        }
      },
    )

  for (const whenAway of ['closed', 'open'] as const)
    test(`a user without rights, ${whenAway} → 503 and nothing runs; onError hears it once`, async (stage) => {
      await using client = await withoutRights(stage.server!.url)
      let calls = 0
      const errors: unknown[] = []
      const handler: Handler = async () => ({ body: `call ${++calls}` })
      const ask = await stage.serve({ client, whenAway, onError: (error) => void errors.push(error) }, handler)
      for (const key of ['a', 'b', 'a']) {
        const { status, headers } = await ask({ key })
        assert.deepEqual([status, headers.get('retry-after')], [503, '1'])
      }
      assert.deepEqual([calls, codesOf(errors)], [0, ['NOPERM']])
    })

  testOnce('without onError → one warning of the process, which says what becomes of requests', async (stage) => {
    await using client = await withoutRights(stage.server!.url)
    const ask = await stage.serve({ client, whenAway: 'open' }, async () => ({ body: 'ran' }))
    await warnings(stage.name, async (heard) => {
      for (const key of ['a', 'b']) assert.equal((await ask({ key })).status, 503)
      await until(() => heard.length > 0)
      assert.equal(heard.length, 1)
      const start = `idempotency '${stage.name}': the server refuses, so requests with a key are refused with 503: NOPERM`
      assert.ok(heard[0]!.startsWith(start), heard[0])
    })
  })

  testOnce('something else at a key, open → 503, and the error names the key', async (stage) => {
    const errors: unknown[] = []
    const handler: Handler = async () => assert.fail('it runs')
    const ask = await stage.serve({ whenAway: 'open', onError: (error) => void errors.push(error) }, handler)
    const redis = new Redis(stage.server!.url)
    const { flight, hash } = placeOf(stage.name, 'k')
    const key = `{${flight}}:flight-lock:${hash}`
    await redis.rpush(key, 'a')
    assert.equal((await ask({ key: 'k' })).status, 503)
    assert.deepEqual(codesOf(errors), ['WRONG_KIND'])
    assert.match((errors[0] as Error).message, /flight-lock:.*\(list\)/)
    redis.disconnect()
  })

  testOnce('a server that is away, open → requests run, and onError hears it once', async ({ serve }) => {
    const server = await startRedis()
    await using client = await connect({ url: server.url, commandTimeout: 500 })
    client.on('error', () => undefined)
    const errors: unknown[] = []
    let calls = 0
    const handler: Handler = async () => ({ body: `call ${++calls}` })
    const ask = await serve({ client, whenAway: 'open', onError: (error) => void errors.push(error) }, handler)
    await server.stop()
    for (let call = 1; call <= 3; call++) assert.equal((await ask()).body.toString(), `call ${call}`)
    assert.ok(['OFFLINE', 'NO_REPLY'].includes(String(codesOf(errors)[0])), String(errors[0]))
    assert.equal(new Set(codesOf(errors)).size, errors.length, 'once for each kind')
  })

  testOnce('an onError that throws → a warning, and the request has its answer', async (stage) => {
    await using client = await withoutRights(stage.server!.url)
    const onError = (): never => {
      throw new Error('my own fault')
    }
    const ask = await stage.serve({ client, onError }, async () => ({ body: 'ran' }))
    await warnings('my own fault', async (heard) => {
      assert.equal((await ask()).status, 503)
      await until(() => heard.length === 1)
    })
  })

  testOnce('a rate limit, and a store that lets through → the same', async (stage) => {
    await using client = await withoutRights(stage.server!.url)
    const errors: unknown[] = []
    const onError = (error: unknown): void => void errors.push(error)
    const judged = judge({ client, ...rate, onError }, () => '192.0.2.1')
    for (let n = 0; n < 3; n++) assert.equal((await judged({})).refusal, undefined)
    assert.deepEqual(codesOf(errors), ['NOPERM'])
    const open = new HitCounter({ client, whenAway: 'open', onError })
    for (let n = 0; n < 3; n++) assert.equal((await open.count('a', 5, 60_000)).counted, false)
    assert.deepEqual(codesOf(errors), ['NOPERM', 'NOPERM'])
    await warnings(`rate limit '${stage.name}`, async (heard) => {
      const quiet = judge({ client, ...rate, name: `${stage.name}-a` }, () => '192.0.2.1')
      const store = new HitCounter({ client, whenAway: 'open', name: `${stage.name}-b` })
      const rejects = new HitCounter({ client, name: `${stage.name}-c` })
      for (let n = 0; n < 2; n++) {
        await quiet({})
        await store.count('a', 5, 60_000)
        await assert.rejects(rejects.count('a', 5, 60_000))
      }
      await until(() => heard.length === 2)
      for (const text of heard) assert.match(text, /the server refuses, so requests are let through uncounted: NOPERM/)
    })
  })

  testOnce('trouble of another kind → told, too; its texts cannot break a line', async () => {
    const heard: unknown[] = []
    const report = troubleReport({ who: 't', effect: () => 'e', onError: (error) => void heard.push(error) })
    for (const code of ['OOM', 'NOPERM', 'OOM', 'NOPERM'] as const) report(new EngineError(code, code))
    assert.deepEqual(codesOf(heard), ['OOM', 'NOPERM'])
    await warnings('of-a-line', async (told) => {
      troubleReport({ who: 't', effect: () => 'e', onError: undefined })(new EngineError('OOM', 'end\nof-a-line'))
      await until(() => told.length === 1)
      assert.equal(told[0], String.raw`t: the server refuses, so e: end\nof-a-line`)
    })
  })
})
