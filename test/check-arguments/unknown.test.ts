import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import Fastify from 'fastify'
import { type Client, connect } from 'holdfast'
import { dashboard } from 'holdfast/dashboard'
import { rateLimit as forExpress } from 'holdfast/express'
import { holdfast as fastifyPlugin, rateLimit as forFastify } from 'holdfast/fastify'
import { rateLimit as forHono } from 'holdfast/hono'
import { expressIdempotency, fastifyIdempotency, honoIdempotency } from 'holdfast/idempotency'
import { log } from 'holdfast/logger'
import { HoldfastModule, holdfastIndicator, Leader, Locked, RunOnce } from 'holdfast/nest'
import { shutdownOn } from 'holdfast/node'
import { runCoordinator } from 'holdfast/node-cron'
import { instrument as forOtel, metricProducer } from 'holdfast/otel'
import { instrument as forPrometheus } from 'holdfast/prometheus'
import { schedule } from 'holdfast/schedule'
import { expressRateLimitStore, fastifyRateLimitStore, honoRateLimiterStore, throttlerStorage } from 'holdfast/stores'
import ts from 'typescript'
import { LOCKS } from '../support/surface.js'

type Call = (client: Client, options: never) => unknown

const work = (): void => undefined

const lockCalls = (kind: string): Readonly<Record<string, Call>> => {
  const of = LOCKS[kind] as (typeof LOCKS)[string]
  return {
    [`${kind}.acquire`]: (client, options) => of(client, 'x').acquire(options),
    [`${kind}.tryAcquire`]: (client, options) => of(client, 'x').tryAcquire(options),
    [`${kind}.using`]: (client, options) => of(client, 'x').using(options, work),
    [`${kind}.forceRelease`]: (client, options) => of(client, 'x').forceRelease(options),
    [`${kind}.forceExtend`]: (client, options) =>
      of(client, 'x').forceExtend({ owner: 'x', lease: 1000, ...(options as object) }),
    [`${kind}.for.lock`]: (client, options) => of(client, 'x').for(client.owner()).lock(-1, options),
    [`${kind}.for.tryLock`]: (client, options) => of(client, 'x').for(client.owner()).tryLock(1, -1, options),
  }
}

const limit = (client: Client, options: object): object => ({
  ...{ client, permits: 1, interval: 1, key: () => 'x' },
  ...options,
})

/** Every call that takes options. */
const CALLS: Readonly<Record<string, Call>> = {
  ...(Object.assign({}, ...Object.keys(LOCKS).map(lockCalls)) as Record<string, Call>),
  'fencedLock.for.lockAndGetToken': (client, options) =>
    client.fencedLock('x').for(client.owner()).lockAndGetToken(-1, options),
  'fencedLock.for.tryLockAndGetToken': (client, options) =>
    client.fencedLock('x').for(client.owner()).tryLockAndGetToken(1, -1, options),
  'semaphore.acquire': (client, options) => client.semaphore('x').acquire(options),
  'semaphore.tryAcquire': (client, options) => client.semaphore('x').tryAcquire(options),
  'semaphore.using': (client, options) => client.semaphore('x').using(options, work),
  'permitSemaphore.acquire': (client, options) => client.permitSemaphore('x').acquire(options),
  'permitSemaphore.acquireMany': (client, options) => client.permitSemaphore('x').acquireMany(2, options),
  'permitSemaphore.tryAcquire': (client, options) => client.permitSemaphore('x').tryAcquire(options),
  'permitSemaphore.tryAcquireMany': (client, options) => client.permitSemaphore('x').tryAcquireMany(2, options),
  'countDownLatch.wait': (client, options) => client.countDownLatch('x').wait(options),
  'rateLimiter.acquire': (client, options) => client.rateLimiter('x').acquire(options),
  'rateLimiter.tryAcquire': (client, options) => client.rateLimiter('x').tryAcquire(options),
  'rateLimiter.trySetRate': (client, options: object) =>
    client.rateLimiter('x').trySetRate({ permits: 1, interval: 1, ...options }),
  'rateLimiter.setRate': (client, options: object) =>
    client.rateLimiter('x').setRate({ permits: 1, interval: 1, ...options }),
  'rateLimiter.updateRate': (client, options: object) =>
    client.rateLimiter('x').updateRate({ permits: 1, interval: 1, ...options }),
  'locks.request': (client, options: object) => client.locks.request('x', options, work),
  'client.topic': (client, options) => client.topic('x', options),
  'client.patternTopic': (client, options) => client.patternTopic('x', options),
  'topic.subscribe': (client, options) => client.topic('x').subscribe(work, options),
  'topic.messages': (client, options) => client.topic('x').messages(options),
  'patternTopic.subscribe': (client, options) => client.patternTopic('x').subscribe(work, options),
  'patternTopic.messages': (client, options) => client.patternTopic('x').messages(options),
  'election.lead': (client, options) => client.election('x').lead(options, work),
  'election.observe': (client, options) => client.election('x').observe(options),
  'client.slots': (client, options) => client.slots('x', options),
  'slots.run': (client, options) => client.slots('x').run('1', options, work),
  'client.flight': (client, options) => client.flight('x', options),
  'flight.run': (client, options) => client.flight('x').run('a', options, work),
  'client.list': (client, options) => client.list(options),
  'client.watch': (client, options) => client.watch('x', options),
  'what client.watch watches': (client, options) => client.watch(options),
  'client.script': (client, options) => client.script('return 1', options),
  'script.run': (client, options) => client.script('return 1').run(options),
  'scripts.run': (client, options) => client.scripts.run('0'.repeat(40), options),
  'functions.load': (client, options) => client.functions.load('#!lua name=x', options),
  'functions.call': (client, options) => client.functions.call('x', options),
  'functions.list': (client, options) => client.functions.list(options),
  'functions.restore': (client, options) => client.functions.restore(new Uint8Array(1), options),
  'client.spinLock': (client, options) => client.spinLock('x', options),
  'the back-off of client.spinLock': (client, options) => client.spinLock('x', { backoff: options }),
  'client.readWriteLock': (client, options) => client.readWriteLock('x', options),
  'client.close': (client, options) => client.close(options),
  ...Object.fromEntries(
    (
      [
        ...['lock', 'nonReentrantLock', 'fairLock', 'nonReentrantFairLock', 'fencedLock'],
        ...['semaphore', 'permitSemaphore', 'countDownLatch', 'rateLimiter'],
      ] as const
    ).map((maker): [string, Call] => [
      `client.${maker}`,
      (client, options) =>
        (client as unknown as Record<string, (name: string, options: unknown) => unknown>)[maker]?.('x', options),
    ]),
  ),
  connect: (_client, options: object) => connect({ url: 'memory:', ...options }),
  'connect, retry': (_client, options) => connect({ url: 'memory:', retry: options }),
  'connect, watchdog': (_client, options) => connect({ url: 'memory:', watchdog: options }),
  'holdfast/express, rateLimit': (client, options) => forExpress(limit(client, options) as never),
  'holdfast/fastify, rateLimit': (client, options) => forFastify(limit(client, options) as never),
  ...Object.fromEntries(
    ['default', 'holdfast'].map((made): [string, Call] => [
      `holdfast/fastify, ${made}`,
      (client, options: object) => fastifyPlugin(Fastify(), { client, ...options }),
    ]),
  ),
  'holdfast/hono, rateLimit': (client, options) => forHono(limit(client, options) as never),
  ...Object.fromEntries(
    Object.entries({ expressIdempotency, fastifyIdempotency, honoIdempotency }).map(([made, make]): [string, Call] => [
      `holdfast/idempotency, ${made}`,
      (client, options: object) => (make as (options: object) => unknown)({ client, scope: () => 'all', ...options }),
    ]),
  ),
  ...Object.fromEntries(
    Object.entries({ expressRateLimitStore, fastifyRateLimitStore, honoRateLimiterStore, throttlerStorage }).map(
      ([made, make]): [string, Call] => [
        `holdfast/stores, ${made}`,
        (client, options: object) => (make as (options: object) => unknown)({ client, ...options }),
      ],
    ),
  ),
  'holdfast/dashboard, dashboard': (client, options: object) =>
    dashboard({ client, authorize: () => 'read', ...options }),
  'holdfast/dashboard, a schedule': (client, options: object) =>
    dashboard({ client, authorize: () => 'read', schedules: [{ name: 'x', cron: '0 2 * * *', ...options }] }),
  'holdfast/nest, HoldfastModule': (_client, options) => HoldfastModule.forRoot(options),
  'holdfast/nest, holdfastIndicator': (client, options) => holdfastIndicator(client, options),
  'holdfast/nest, Leader': (_client, options) => Leader('x', options),
  'holdfast/nest, Locked': (_client, options) => Locked('x', options),
  'holdfast/nest, RunOnce': (_client, options) => RunOnce('x', options),
  'holdfast/node, shutdownOn': (client, options) => shutdownOn(client, ['SIGTERM'], options),
  'holdfast/node-cron, runCoordinator': (client, options: object) => runCoordinator(client, options),
  'holdfast/logger, log': (client, options) => log(client, console, options),
  'holdfast/otel, instrument': (_client, options) => forOtel(options),
  'holdfast/otel, metricProducer': (_client, options) => metricProducer(options),
  'holdfast/otel, the buckets': (_client, options) => metricProducer({ buckets: options }),
  'holdfast/prometheus, instrument': (_client, options) => forPrometheus(options),
  'holdfast/prometheus, the buckets': (_client, options) => forPrometheus({ buckets: options }),
  'holdfast/schedule, schedule': (client, options: object) =>
    schedule(client, 'x', { cron: '0 2 * * *', ...options }, work),
}

const refusal = async (call: () => unknown): Promise<unknown> => {
  try {
    await call()
  } catch (error) {
    return error
  }
  return 'it was ignored'
}

for (const [name, call] of Object.entries(CALLS)) {
  void test(`${name}: an option that there is not → a TypeError that names it`, async () => {
    const client = await connect('memory:')
    const error = await refusal(() => call(client, { nonsense: 5000 } as never))
    assert.ok(error instanceof TypeError, String(error))
    assert.match(error.message, /'nonsense'/)
    await client.close()
  })
}

const API = new URL('../../../src/api/', import.meta.url)

/** Where the calls of an interface stand among those above. */
const PLACES: Readonly<Record<string, string>> = {
  ...{
    Client: 'client.',
    Listing: 'client.',
    Watching: 'client.',
    Lock: 'lock.',
    OwnedLock: 'lock.for.',
    OwnedFencedLock: 'fencedLock.for.',
  },
  ...{ Semaphore: 'semaphore.', PermitSemaphore: 'permitSemaphore.', CountDownLatch: 'countDownLatch.' },
  ...{ RateLimiter: 'rateLimiter.', Script: 'script.', Scripts: 'scripts.', Functions: 'functions.' },
  ...{ Topic: 'topic.', PatternTopic: 'patternTopic.' },
  ...{ WebLocks: 'locks.' },
  ...{ Election: 'election.', Slots: 'slots.', Flight: 'flight.' },
}

/** What a parameter can be that has no options in it. A type that is neither this nor among those calls fails the test below. */
const PLAIN =
  /^(?:(?:'\w+'|string|number|unknown|Date|Uint8Array|V|M|E|Owner|Lock\[\]|readonly string\[\]|string\[\])(?: \| |$))+$|=>|^(?:ClientListener|MessageListener)</

/** As `Lock.acquire`. */
const withOptions = (): string[] =>
  readdirSync(API).flatMap((file) => {
    if (!file.endsWith('.ts')) return []
    const source = ts.createSourceFile(file, readFileSync(new URL(file, API), 'utf8'), ts.ScriptTarget.ES2022)
    return source.statements.filter(ts.isInterfaceDeclaration).flatMap(({ name, members }) =>
      members
        .filter(ts.isMethodSignature)
        .filter(({ parameters }) => parameters.some(({ type }) => !PLAIN.test(type?.getText(source) ?? '')))
        .map((member) => `${name.text}.${member.name.getText(source)}`),
    )
  })

void test('every method that takes options is among those calls', () => {
  const methods = new Set(withOptions())
  assert.ok(methods.size > 30, `${methods.size} methods`)
  const left = [...methods].filter((method) => {
    const [of = '', name = ''] = method.split('.')
    return !Object.hasOwn(CALLS, `${PLACES[of] ?? '?'}${name}`)
  })
  assert.deepEqual(left, [])
})

void test('every other entry point whose functions take options is among those calls', async () => {
  const root = new URL('../../../', import.meta.url)
  const { exports } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as { exports: object }
  const functions: string[] = []
  for (const entry of Object.keys(exports)) {
    // The simulator of `testing` is for tests, not for what must not be misread in production; the renewal thread is a program.
    if (['.', './testing', './renewal-thread', './package.json'].includes(entry)) continue
    const name = entry.replace('.', 'holdfast')
    for (const [made, what] of Object.entries((await import(name)) as object))
      if (typeof what === 'function') functions.push(`${name}, ${made}`)
  }
  assert.deepEqual(
    functions.filter((name) => !Object.hasOwn(CALLS, name)),
    [
      ...['holdfast/express, networkOf', 'holdfast/fastify, networkOf', 'holdfast/hono, networkOf'],
      ...['holdfast/dashboard, onAsked', 'holdfast/dashboard, toNode'],
      ...['holdfast/idempotency, idempotencyRun', 'holdfast/migrate, check'],
      ...['InjectHoldfast', 'currentHold', 'currentRun', 'getHoldfastToken'].map((name) => `holdfast/nest, ${name}`),
    ],
  )
})

const MEANT: readonly (readonly [call: string, written: object, meant: string])[] = [
  ['lock.acquire', { ttl: 5000 }, 'lease'],
  ['lock.acquire', { timeout: 5000 }, 'wait'],
  ['lock.acquire', { weit: 5000 }, 'wait'],
  ['lock.acquire', { Lease: 5000 }, 'lease'],
  ['lock.acquire', { sginal: 5000 }, 'signal'],
  ['semaphore.acquire', { permit: 2 }, 'permits'],
  ['client.close', { drian: 5000 }, 'drain'],
  ['connect', { watchDog: 5000 }, 'watchdog'],
]

for (const [name, written, meant] of MEANT) {
  void test(`${name}(${JSON.stringify(written)}) → did you mean '${meant}'?`, async () => {
    const client = await connect('memory:')
    const error = await refusal(() => CALLS[name]?.(client, written as never))
    assert.match(String(error), new RegExp(`^TypeError: .*did you mean '${meant}'`))
    await client.close()
  })
}

for (const [kind, of] of Object.entries({
  ...LOCKS,
  semaphore: (client: Client, name: string) => client.semaphore(name),
})) {
  void test(`${kind}: using(work, options) → a TypeError, and nothing is taken`, async () => {
    const client = await connect('memory:')
    const lock = of(client, 'x') as unknown as { using(...args: unknown[]): Promise<unknown> }
    const error = await refusal(() => lock.using(work, { wait: 1 }))
    assert.match(String(error), /^TypeError: the options come before the work: \(options, work\)$/)
    await client.close()
  })
}

void test('a signal instead of options → a TypeError', async () => {
  const client = await connect('memory:')
  const error = await refusal(() => client.lock('x').acquire(new AbortController().signal as never))
  assert.match(String(error), /^TypeError: .*\{ signal \}/)
  await client.close()
})

void test('a lease with renew: true → renewed with that lease, whatever the watchdog’s is', async () => {
  const client = await connect({ url: 'memory:', watchdog: 60_000 })
  const renewed = Object.entries(LOCKS).map(async ([kind, lockOf]) => {
    const lock = lockOf(client, `renew:${kind}`)
    const hold = await lock.acquire({ lease: 3000, renew: true })
    assert.ok(hold.remaining() <= 3000, kind)
    await sleep(4000)
    assert.ok(!hold.lost && hold.remaining() > 0 && hold.remaining() <= 3000, `${kind}: ${hold.state}`)
    assert.ok(((await lock.remaining()) ?? 0) <= 3000, kind)
    await assert.rejects(hold.extend(4000), RangeError)
    assert.equal(await hold.release(), true)
  })
  const permits = client.permitSemaphore('renew:permits')
  await permits.trySetPermits(1)
  const permit = await permits.acquire({ lease: 3000, renew: true })
  await sleep(4000)
  assert.ok(!permit.lost && permit.remaining() <= 3000)
  await permit.release()
  await Promise.all(renewed)
  await client.close()
})

void test('renew: false without a lease → a TypeError', async () => {
  const client = await connect('memory:')
  assert.match(String(await refusal(() => client.lock('x').acquire({ renew: false }))), /^TypeError: renew/)
  await client.close()
})

const SIGNAL =
  /\.(?:acquire|acquireMany|tryAcquire|tryAcquireMany|using|wait|subscribe|messages|lead|observe)$|(?:slots|flight)\.run$|^locks\.request$|\.for\.|, retry$|, schedule$/

/** Every call that takes a signal. */
const SIGNALLED: Readonly<Record<string, Call>> = {
  ...Object.fromEntries(Object.entries(CALLS).filter(([name]) => SIGNAL.test(name))),
}

/** What is no signal, and what is said of it. */
const NO_SIGNALS: readonly (readonly [signal: unknown, said: RegExp])[] = [
  [{}, /signal must be an AbortSignal, not \[object Object\]/],
  [{ aborted: false }, /signal must be an AbortSignal/],
  [{ aborted: false, addEventListener: work, removeEventListener: work }, /signal .*: it has no throwIfAborted\(\)/],
  [{ aborted: false, addEventListener: 1, throwIfAborted: work }, /signal .*: it has no addEventListener\(\)/],
  [{ aborted: false, addEventListener: work, throwIfAborted: work }, /signal .*: it has no removeEventListener\(\)/],
  [new AbortController(), /signal must be an AbortSignal, not \[object AbortController\]/],
  [null, /signal must be an AbortSignal, not null/],
  ['now', /signal must be an AbortSignal, not "now"/],
]

for (const [name, call] of Object.entries(SIGNALLED)) {
  void test(`${name}: a signal that is none → a TypeError that names the option`, async () => {
    const client = await connect('memory:')
    await client.semaphore('x').trySetPermits(1)
    for (const [signal, said] of NO_SIGNALS) {
      const error = await refusal(() => call(client, { signal } as never))
      assert.ok(error instanceof TypeError, `${name}: ${String(error)}`)
      assert.match(error.message, said)
    }
    await client.close()
  })
}
