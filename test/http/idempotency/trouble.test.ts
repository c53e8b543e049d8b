import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'
import { connect } from 'holdfast'
import { answers } from '#src/http/idempotency/stored-answer-format.js'
import { startRedis } from '../../support/redis-server.js'
import { until } from '../../support/until.js'
import { frameworks, type Handler } from './frameworks.js'
import { gate, placeOf, post, type Stage, stageOf } from './stage.js'

const PROGRAM = fileURLToPath(new URL('../../support/idempotency-process.js', import.meta.url))

const HOSTILE_FIELDS: readonly (readonly unknown[])[] = [
  ['x-a', 'b\r\nset-cookie: admin=1'],
  ['x-a\r\nset-cookie', 'admin=1'],
  ['transfer-encoding', 'chunked'],
  ['content-length', '1'],
  ['X-Upper', 'a'],
  ['', 'a'],
  ['x-a'],
  ['x-a', 7],
]

const RECORD = { state: 'value', token: '9', ended: '1700000000000', form: 'text', value: 'x' }
/** Records in which something is not as this library writes it. */
const BROKEN: readonly Readonly<Record<string, string>>[] = [
  ...['', 'x', 'running'].map((state) => ({ state })),
  ...['0', '-1', 'x'].map((token) => ({ token })),
  ...['', 'x', '1e309'].map((ended) => ({ ended })),
  ...['', 'gzip'].map((form) => ({ form })),
]

const headOf = (more: object): string =>
  JSON.stringify({ v: 1, fingerprint: 'f', status: 200, fields: [], ...more }) + '\n'

/** Values that no version of this library writes for an answer. */
const FORGED: readonly string[] = [
  ...['', 'null\n', '[]\n', '{}\n', 'not json\n', '7', '{"v":2,"fingerprint":"f"}\n', '{"v":1}\n'],
  ...[199, 600, 0, -1, 1.5, '200', null, 101].map((status) => headOf({ status })),
  ...[{}, null, 'x', [[]], [7]].map((fields) => headOf({ fields })),
  ...HOSTILE_FIELDS.map((field) => headOf({ fields: [field] })),
  headOf({ status: 204 }) + 'a body',
]

const child = async (...args: string[]): Promise<{ process: ChildProcess; url: string }> => {
  const process_ = spawn(process.execPath, [PROGRAM, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [url] = (await once(createInterface({ input: process_.stdout }), 'line')) as [string]
  return { process: process_, url }
}

void describe('idempotency on redis, in trouble', () => {
  const test = stageOf('redis')
  const testOnce = stageOf('redis', frameworks.slice(0, 1))

  const withRedis = async ({ server }: Stage, body: (redis: Redis) => Promise<void>): Promise<void> => {
    const redis = new Redis(server!.url)
    try {
      await body(redis)
    } finally {
      redis.disconnect()
    }
  }

  test('the server ends → 503 and nothing runs; with open, requests run unprotected', async ({ serve }) => {
    const server = await startRedis()
    const client = await connect({ url: server.url, commandTimeout: 500 })
    try {
      let calls = 0
      const handler: Handler = async () => ({ body: `call ${++calls}` })
      const [closed, open] = [await serve({ client }, handler), await serve({ client, whenAway: 'open' }, handler)]
      assert.equal((await closed()).status, 200)
      await server.stop()
      const answer = await closed({ key: 'k2' })
      assert.deepEqual([answer.status, answer.headers.get('retry-after'), calls], [503, '1', 1])
      for (const call of [2, 3]) assert.equal((await open({ key: 'k2' })).body.toString(), `call ${call}`)
    } finally {
      await client.close()
    }
  })

  test('the server ends while a handler runs → its requester has the answer in time', async ({ serve }) => {
    const server = await startRedis()
    const client = await connect({ url: server.url, commandTimeout: 500 })
    const { opened, open } = gate()
    let runs = false
    try {
      const ask = await serve({ client, timeout: 300 }, async () => {
        runs = true
        await opened
        return { body: 'paid' }
      })
      const asked = ask()
      await until(() => runs)
      await server.stop()
      open()
      assert.equal((await asked).body.toString(), 'paid')
    } finally {
      await client.close({ release: false })
    }
  })

  testOnce('anything else at the keys → 503, nothing is touched, and nothing runs', async (stage) => {
    let calls = 0
    const ask = await stage.serve({}, async () => ({ body: `call ${++calls}` }))
    await withRedis(stage, async (redis) => {
      for (const part of ['flight', 'flight-lock'])
        for (const [i, put] of [
          (key: string) => redis.set(key, 'a text'),
          (key: string) => redis.rpush(key, 'a'),
          (key: string) => redis.sadd(key, 'a'),
          (key: string) => redis.zadd(key, 1, 'a'),
          (key: string) => redis.hset(key, { a: 1, b: 2 }),
          ...(part === 'flight'
            ? BROKEN.map((fields) => (key: string) => redis.hset(key, { ...RECORD, ...fields }))
            : []),
        ].entries()) {
          const { flight, hash } = placeOf(stage.name, `${part}${i}`)
          const key = `{${flight}}:${part}:${hash}`
          await put(key)
          const [type, before] = [await redis.type(key), await redis.dump(key)]
          assert.equal((await ask({ key: `${part}${i}` })).status, 503, `${part}: ${type}`)
          assert.equal(await redis.dump(key), before)
        }
    })
    assert.equal(calls, 0)
  })

  test('the clock of the server is set back, or a replica is behind → what is stored is replayed', async (stage) => {
    let calls = 0
    const ask = await stage.serve({}, async () => ({ status: 201, body: `charge ${++calls}` }))
    await withRedis(stage, async (redis) => {
      for (const ms of [500, 5000, 3_600_000]) {
        const key = `back${ms}`
        const before = await ask({ key })
        const { flight, hash } = placeOf(stage.name, key)
        // As the server sees what it stored, once its clock is that far behind.
        await redis.hincrby(`{${flight}}:flight:${hash}`, 'ended', ms)
        const again = await ask({ key })
        assert.deepEqual([again.status, again.body.toString()], [201, before.body.toString()])
      }
    })
    assert.equal(calls, 3)
  })

  test('forged answers → 503: none reaches a response, and nothing runs', async (stage) => {
    let calls = 0
    const ask = await stage.serve({}, async () => ({ body: `call ${++calls}` }))
    await withRedis(stage, async (redis) => {
      for (const value of FORGED) {
        const { flight, hash } = placeOf(stage.name, 'forged')
        const fields = { state: 'value', token: '9', ended: String(Date.now() - 10), form: 'text', value }
        await redis.hset(`{${flight}}:flight:${hash}`, fields)
        const answer = await ask({ key: 'forged' })
        assert.equal(answer.status, 503, value)
        assert.ok(!answer.headers.getSetCookie().some((cookie) => cookie.startsWith('admin')))
        assert.equal(answers.decode(Buffer.from(value)), undefined)
      }
    })
    assert.equal(calls, 0)
  })

  test('kill -9 in the middle → 409 until the lease ends; then another process runs it', async ({
    framework,
    server,
  }) => {
    const folder = await mkdtemp(join(tmpdir(), 'holdfast-idempotency-'))
    const file = join(folder, 'began')
    const tokens = async (): Promise<number[]> =>
      (await readFile(file, 'utf8').catch(() => '')).split('\n').filter(Boolean).map(Number)
    const [slow, quick] = await Promise.all(['60000', '0'].map((takes) => child(server!.url, framework, takes, file)))
    assert.ok(slow && quick)
    try {
      const lost = post(slow.url).catch((error: unknown) => error)
      await until(async () => (await tokens()).length === 1)
      assert.equal((await post(quick.url)).status, 409)
      slow.process.kill('SIGKILL')
      const killed = performance.now()
      assert.ok((await lost) instanceof Error)
      let answer = await post(quick.url)
      for (; answer.status === 409; answer = await post(quick.url)) await answer.arrayBuffer()
      assert.equal(answer.status, 201)
      const took = performance.now() - killed
      assert.ok(took > 400 && took < 15_000, `${took} ms`)
      const body = (await answer.json()) as object
      const again = await post(quick.url)
      assert.equal(again.headers.get('idempotent-replayed'), 'true')
      assert.deepEqual(await again.json(), body)
      const [first = 0, second = 0, ...more] = await tokens()
      assert.deepEqual([more.length, second > first], [0, true])
    } finally {
      for (const { process: one } of [slow, quick]) {
        one.kill('SIGKILL')
        if (one.exitCode === null && one.signalCode === null) await once(one, 'exit')
      }
      await rm(folder, { recursive: true })
    }
  })
})
