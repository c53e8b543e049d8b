import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, EngineError } from 'holdfast'
import { AwayDetector } from '#src/http/away-detector.js'
import { judge } from '#src/http/rate-limit.js'
import { ownRedis } from '../support/engines.js'
import { until } from '../support/until.js'
import type { RedisServer } from '../support/redis-server.js'

/** For how long the server stands still, ms; a minute by hand: HOLDFAST_SILENCE=60000. */
const SILENCE = Number(process.env['HOLDFAST_SILENCE'] ?? 4000)
const TIMEOUT = 500

/** How many scripts were run. */
const scriptsOf = async (server: RedisServer): Promise<number> => {
  const watcher = await connect({ url: server.url, presence: false })
  try {
    const stats = watcher.script("return redis.call('INFO', 'commandstats')")
    const after = String(await stats.run())
    const calls = [...after.matchAll(/cmdstat_(?:evalsha|eval):calls=(\d+)/g)].map(([, count]) => Number(count))
    return calls.reduce((sum, count) => sum + count, 0)
  } finally {
    await watcher.close()
  }
}

void test('1,000 requests a second while the server stands still → each is answered in time and nothing piles up; no flood when it goes on', async (t) => {
  const server = await ownRedis(t)
  if (server === undefined) return
  const client = await connect({ url: server.url, presence: false })
  client.on('error', () => undefined)
  const judged = judge(
    { client, permits: 1_000_000, interval: 60_000, whenAway: 'closed', timeout: TIMEOUT },
    (who: string) => who,
  )
  let asked = 0
  let answered = 0
  let atOnce = 0
  let slowest = 0
  const ask = async (): Promise<boolean> => {
    const begun = performance.now()
    const { refusal } = await judged(`10.0.0.${asked++ % 250}`)
    const took = performance.now() - begun
    answered++
    if (took < TIMEOUT / 2) atOnce++
    slowest = Math.max(slowest, took)
    return refusal === undefined
  }
  try {
    await until(ask, 10_000)
    const before = await scriptsOf(server)
    process.kill(server.pid, 'SIGSTOP')
    const begun = performance.now()
    const heap = process.memoryUsage().heapUsed
    let most = heap
    for (let passed = 0; passed < SILENCE; passed = performance.now() - begun) {
      while (asked < passed) void ask()
      most = Math.max(most, process.memoryUsage().heapUsed)
      await sleep(5)
    }
    process.kill(server.pid, 'SIGCONT')
    const back = performance.now()
    await until(ask, 5000)
    const took = performance.now() - back
    await until(() => answered === asked, 5000)
    // Later copies would come within the time limit of a command.
    await sleep(500)
    const scripts = (await scriptsOf(server)) - before
    assert.ok(took < 4000, `served again after ${took} ms`)
    // The client's own limit for a command is three seconds.
    assert.ok(slowest < TIMEOUT + 2000, `the slowest answer took ${slowest} ms`)
    assert.ok(atOnce > asked / 2, `${atOnce} of ${asked} were answered at once`)
    assert.ok(most - heap < 100e6, `${(most - heap) / 1e6} MB more`)
    // 256 until the first is given up, and one of those after it from time to time.
    assert.ok(scripts < 256 + SILENCE / 100 + 100, `${scripts} scripts for ${asked} requests`)
  } finally {
    process.kill(server.pid, 'SIGCONT')
    await client.close()
    await server.stop()
  }
})

void test('more requests at once than may be with the server → all of them are counted, none is let through unasked', async () => {
  await using client = await connect('memory:')
  const judged = judge({ client, permits: 700, interval: 60_000, timeout: 30_000 }, () => '192.0.2.1')
  const verdicts = await Promise.all(Array.from({ length: 1000 }, () => judged({})))
  assert.equal(verdicts.filter(({ refusal }) => refusal === undefined).length, 700)
  assert.ok(verdicts.every(({ headers }) => headers['RateLimit'] !== undefined))
})

void test('the server is not there → one request in a while asks, the others are answered at once', async () => {
  let asked = 0
  const tryAcquire = (): Promise<never> => {
    asked++
    return Promise.reject(new EngineError('OFFLINE', 'not connected'))
  }
  const client = { rateLimiter: () => ({ tryAcquire }) } as never
  const judged = judge({ client, permits: 1, interval: 1000, whenAway: 'closed' }, () => '192.0.2.1')
  for (let n = 0; n < 1000; n++) assert.equal((await judged({})).refusal?.status, 503)
  assert.ok(asked < 20, `${asked} asked`)
})

void test('the server answers again → all questions are asked again, not one at a time', async () => {
  const guard = new AwayDetector(1000)
  assert.equal(await guard.ask(() => Promise.reject(new EngineError('OFFLINE', 'not connected'))), undefined)
  const deadline = performance.now() + 10_000
  while ((await guard.ask(() => Promise.resolve(1))) === undefined) {
    assert.ok(performance.now() < deadline)
    await sleep(5)
  }
  const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => guard.ask(() => Promise.resolve(n))))
  assert.deepEqual(answers, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
})

void test(
  'the server never answers → without a `timeout` a request waits for a second',
  { timeout: 30_000 },
  async () => {
    const client = { rateLimiter: () => ({ tryAcquire: () => new Promise<never>(() => undefined) }) } as never
    const judged = judge({ client, permits: 1, interval: 1000, whenAway: 'closed' }, () => '192.0.2.1')
    const begun = performance.now()
    assert.equal((await judged({})).refusal?.status, 503)
    assert.ok(performance.now() - begun > 900)
  },
)
