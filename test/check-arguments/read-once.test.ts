import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { metrics, trace } from '@opentelemetry/api'
import { log } from 'holdfast/logger'
import { instrument as forOtel, metricProducer } from 'holdfast/otel'
import { instrument as forPrometheus } from 'holdfast/prometheus'
import { Registry } from 'prom-client'
import { rateLimit } from '#src/http/hono.js'
import { honoIdempotency } from '#src/http/idempotency/index.js'
import { connect } from '#src/index.js'
import { runCoordinator } from '#src/schedule/node-cron.js'
import { schedule } from '#src/schedule/index.js'
import { readSettings } from '#src/config/settings.js'

const nothing = (): void => undefined
const SILENT = { debug: nothing, info: nothing, warn: nothing, error: nothing }

/** Each option is what it should be when it is read first, and something else from then on. */
const fickle = <O extends object>(options: O): { readonly options: O; readonly reads: Map<string, number> } => {
  const reads = new Map<string, number>()
  const get = (of: O, key: string): unknown => {
    const count = (reads.get(key) ?? 0) + 1
    reads.set(key, count)
    if (count === 1) return of[key as keyof O]
    return { not: 'what was checked' }
  }
  return { options: new Proxy(options, { get: (of, key) => get(of, String(key)) }), reads }
}

const fileWith = async (text: string): Promise<{ readonly file: string; end(): Promise<void> }> => {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-once-'))
  const file = join(folder, 'redisson.yaml')
  await writeFile(file, text)
  return { file, end: () => rm(folder, { recursive: true }) }
}

void describe('an option that gives another value when it is read again', () => {
  test('each call that takes options → each is read once', async () => {
    const asked = fickle({ url: 'memory:', watchdog: 10_000, commandTimeout: 2000, maxWaiters: 100, label: 'a' })
    const client = await connect(asked.options)
    const signal = new AbortController().signal
    const rate = { permits: 5, interval: 1000, scope: 'overall' as const, keepAlive: 5000 }
    const semaphore = client.semaphore('s')
    await semaphore.trySetPermits(3)
    const permits = client.permitSemaphore('p')
    await permits.trySetPermits(3)
    const calls: Readonly<Record<string, readonly [options: object, call: (options: never) => unknown]>> = {
      'lock.acquire': [
        { wait: 1000, lease: 500, renew: false, signal },
        async (it) => (await client.lock('a').acquire(it)).release(),
      ],
      'lock.tryAcquire': [{ lease: 500, signal }, async (it) => (await client.lock('b').tryAcquire(it))?.release()],
      'lock.using': [{ wait: 1000, lease: 500, renew: true }, (it) => client.lock('c').using(it, () => 1)],
      'multiLock.acquire': [
        { wait: 1000, lease: 500 },
        async (it) => (await client.multiLock(client.lock('d'), client.lock('e')).acquire(it)).release(),
      ],
      readWriteLock: [{ fair: true }, (it) => client.readWriteLock('f', it)],
      spinLock: [{ backoff: fickle({ initial: 1, max: 5 }).options }, (it) => client.spinLock('g', it)],
      'semaphore.tryAcquire': [{ permits: 1, wait: 10, signal }, (it) => semaphore.tryAcquire(it)],
      'semaphore.acquire': [{ permits: 1, wait: 10, waitForSetup: true }, (it) => semaphore.acquire(it)],
      'permitSemaphore.acquire': [{ lease: 500, wait: 10, renew: true }, (it) => permits.acquire(it)],
      'rateLimiter.trySetRate': [rate, (it) => client.rateLimiter('r').trySetRate(it)],
      'rateLimiter.setRate': [{ ...rate, keepState: true }, (it) => client.rateLimiter('r').setRate(it)],
      'rateLimiter.tryAcquire': [
        { permits: 1, wait: 10, rate: fickle(rate).options, late: 'counts' },
        (it) => client.rateLimiter('r2').tryAcquire(it),
      ],
      'rateLimiter.acquire': [
        { permits: 1, wait: 10, waitForSetup: false },
        (it) => client.rateLimiter('r').acquire(it),
      ],
      'latch.wait': [{ wait: 10, signal }, (it) => client.countDownLatch('l').wait(it)],
      'topic.subscribe': [{ signal }, (it) => client.topic('t').subscribe(() => undefined, it)],
      topic: [{ codec: 'string', sharded: false }, (it) => client.topic('t', it)],
      slots: [{ retention: 10_000 }, (it) => client.slots('n', it)],
      'slots.run': [{ retry: 1, lease: 500 }, (it) => client.slots('n').run('a', it, () => 1)],
      'flight.run': [
        { ttl: 1000, stale: 10, reuse: 'fresh', failure: 'share', wait: 1000 },
        (it) => client.flight('x').run('k', it, () => 1),
      ],
      'ownedLock.lock': [{ signal }, (it) => client.lock('o').for(client.owner()).lock(500, it)],
      'election.lead': [
        { value: 1, signal, lease: 3000, renewDeadline: 2000 },
        (it) => client.election('e').lead(it, () => 1),
      ],
      'election.observe': [{ signal }, (it) => client.election('e').observe(it)[Symbol.asyncDispose]()],
      script: [{ codec: 'json', readOnly: false }, (it) => client.script('return 1', it)],
      'script.run': [
        { keys: ['k'], args: [1], returns: 'integer', route: 'k' },
        (it) => client.script('return 1').run(it),
      ],
      'scripts.run': [
        { keys: ['k'], args: [1], returns: 'integer', route: 'k', codec: 'json', readOnly: false },
        async (it) => client.scripts.run(await client.scripts.load('return 1'), it),
      ],
      'locks.request': [
        { mode: 'shared', signal, ifAvailable: undefined, steal: false },
        (it) => client.locks.request('w', it, () => 1),
      ],
      flight: [{ codec: 'json' }, (it) => client.flight('y', it)],
      'topic.messages': [{ signal, buffer: 5 }, (it) => client.topic('t').messages(it)[Symbol.asyncDispose]()],
      patternTopic: [{ codec: 'string' }, (it) => client.patternTopic('t*', it)],
      schedule: [
        {
          cron: '0 0 1 1 *',
          timezone: 'UTC',
          catchUp: 'none',
          grace: 1000,
          retry: 1,
          lease: 500,
          retention: 10_000,
          signal,
        },
        async (it) => (await schedule(client, 'sch', it, () => 1)).stop(),
      ],
      runCoordinator: [{ wait: 1000, retry: 1, retention: 10_000 }, (it) => runCoordinator(client, it)],
      'http rateLimit': [
        { client, permits: 5, interval: 1000, name: 'web', key: () => 'a', whenAway: 'open', timeout: 500 },
        (it) => rateLimit(it),
      ],
      'http idempotency': [
        {
          ...{ client, scope: () => 'a', name: 'web', required: true, methods: ['POST'], fingerprint: () => 'a' },
          ...{ ttl: 1000, lease: 1000, maxRun: 1000, maxBytes: 1000, whenAway: 'open', timeout: 500 },
        },
        (it) => honoIdempotency(it),
      ],
      'logger log': [{ level: 'warn', calls: true }, (it) => log(client, SILENT, it)()],
      'otel instrument': [
        {
          ...{ tracerProvider: trace, meterProvider: metrics, name: () => 'a', maxNames: 10 },
          ...{ kinds: ['lock'], metrics: true, traces: true },
        },
        (it) => forOtel(it)(),
      ],
      'otel metricProducer': [
        {
          ...{ name: () => 'a', maxNames: 10, kinds: ['lock'] },
          buckets: fickle({ wait: [1, 2], hold: [1, 2] }).options,
        },
        (it) => metricProducer(it).stop(),
      ],
      'prometheus instrument': [
        {
          ...{ register: new Registry(), name: () => 'a', maxNames: 10, kinds: ['lock'] },
          buckets: fickle({ wait: [1, 2], hold: [1, 2] }).options,
        },
        (it) => forPrometheus(it)(),
      ],
      close: [{ release: true, drain: 10 }, (it) => client.close(it)],
    }
    const often = [...asked.reads].filter(([, count]) => count > 1)
    for (const [name, [options, call]] of Object.entries(calls)) {
      const once = fickle(options)
      await (call(once.options as never) as Promise<unknown>)
      for (const [key, count] of once.reads) if (count > 1) often.push([`${name}: ${key}`, count])
    }
    assert.deepEqual(often, [])
  })

  test('what connect is given inside its options → each is read once, and used as it was then', async () => {
    const pem = '-----BEGIN CERTIFICATE-----'
    const tls = fickle({
      ca: new Proxy([pem], { get: (of, key) => (key === '0' ? ca() : (Reflect.get(of, key) as unknown)) }),
      cert: pem,
      key: pem,
      passphrase: 'p',
      servername: 's',
      rejectUnauthorized: true,
    })
    let read = 0
    const ca = (): unknown => (++read === 1 ? pem : 'not a certificate')
    const replicas = fickle({ sync: true, timeout: 500 })
    const retry = fickle({ timeout: 500, signal: new AbortController().signal })
    const options = { url: 'rediss://127.0.0.1', tls: tls.options, replicas: replicas.options, retry: retry.options }
    const settings = await readSettings(options, {})
    assert.deepEqual(
      { ...settings.tls },
      { ca: [pem], cert: pem, key: pem, passphrase: 'p', servername: 's', rejectUnauthorized: true },
    )
    assert.deepEqual(settings.replicas, { sync: true, timeout: 500 })
    assert.equal(settings.retry?.timeout, 500)
    const often = [tls, replicas, retry].flatMap(({ reads }) => [...reads].filter(([, count]) => count > 1))
    assert.deepEqual(often, [])
  })

  test('the mappers of a file → each is read once, and the function that was checked is used', async () => {
    const mappers = fickle({ 'com.acme.Mapper': (name: string) => `mapped:${name}` })
    const { file, end } = await fileWith(
      'singleServerConfig:\n  address: "redis://127.0.0.1:6379"\n  nameMapper: !<com.acme.Mapper> {}\n',
    )
    try {
      const settings = await readSettings({ file, nameMappers: mappers.options }, {})
      assert.equal(settings.mapName('a'), 'mapped:a')
      assert.deepEqual([...mappers.reads.values()], [1])
    } finally {
      await end()
    }
  })
})
