import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Client, connect } from 'holdfast'
import { LOCKS } from '../support/surface.js'

type Call = (client: Client, options: never) => unknown

const work = (): void => undefined

const lockCalls = (kind: string): Readonly<Record<string, Call>> => {
  const of = LOCKS[kind] as (typeof LOCKS)[string]
  return {
    [`${kind}.acquire`]: (client, options) => of(client, 'x').acquire(options),
    [`${kind}.tryAcquire`]: (client, options) => of(client, 'x').tryAcquire(options),
    [`${kind}.using`]: (client, options) => of(client, 'x').using(options, work),
  }
}

/** Every call that takes options. */
const CALLS: Readonly<Record<string, Call>> = {
  ...(Object.assign({}, ...Object.keys(LOCKS).map(lockCalls)) as Record<string, Call>),
  'semaphore.acquire': (client, options) => client.semaphore('x').acquire(options),
  'semaphore.tryAcquire': (client, options) => client.semaphore('x').tryAcquire(options),
  'semaphore.using': (client, options) => client.semaphore('x').using(options, work),
  'permitSemaphore.acquire': (client, options) => client.permitSemaphore('x').acquire(options),
  'permitSemaphore.acquireMany': (client, options) => client.permitSemaphore('x').acquireMany(2, options),
  'permitSemaphore.tryAcquire': (client, options) => client.permitSemaphore('x').tryAcquire(options),
  'countDownLatch.wait': (client, options) => client.countDownLatch('x').wait(options),
  'rateLimiter.acquire': (client, options) => client.rateLimiter('x').acquire(options),
  'rateLimiter.tryAcquire': (client, options) => client.rateLimiter('x').tryAcquire(options),
  'rateLimiter.trySetRate': (client, options: object) =>
    client.rateLimiter('x').trySetRate({ permits: 1, interval: 1, ...options }),
  'rateLimiter.setRate': (client, options: object) =>
    client.rateLimiter('x').setRate({ permits: 1, interval: 1, ...options }),
  'rateLimiter.updateRate': (client, options: object) =>
    client.rateLimiter('x').updateRate({ permits: 1, interval: 1, ...options }),
  'client.topic': (client, options) => client.topic('x', options),
  'client.patternTopic': (client, options) => client.patternTopic('x', options),
  'topic.subscribe': (client, options) => client.topic('x').subscribe(work, options),
  'topic.messages': (client, options) => client.topic('x').messages(options),
  'client.script': (client, options) => client.script('return 1', options),
  'script.run': (client, options) => client.script('return 1').run(options),
  'scripts.run': (client, options) => client.scripts.run('0'.repeat(40), options),
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
    assert.match(String(error), /^TypeError: .*using\(options, work\)/)
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
  for (const kind of ['lock', 'fairLock', 'fencedLock', 'readWriteLock.read', 'multiLock', 'redLock', 'keyedLock']) {
    const lock = (LOCKS[kind] as (typeof LOCKS)[string])(client, `renew:${kind}`)
    const hold = await lock.acquire({ lease: 600, renew: true })
    assert.ok(hold.remaining() <= 600, kind)
    await new Promise((resolve) => setTimeout(resolve, 900))
    assert.ok(!hold.lost && hold.remaining() > 0 && hold.remaining() <= 600, `${kind}: ${hold.state}`)
    assert.ok(((await lock.remaining()) ?? 0) <= 600, kind)
    await assert.rejects(hold.extend(1000), RangeError)
    assert.equal(await hold.release(), true)
  }
  const permits = client.permitSemaphore('renew:permits')
  await permits.trySetPermits(1)
  const permit = await permits.acquire({ lease: 600, renew: true })
  await new Promise((resolve) => setTimeout(resolve, 900))
  assert.ok(!permit.lost && permit.remaining() <= 600)
  await permit.release()
  await client.close()
})

void test('renew: false without a lease → a TypeError', async () => {
  const client = await connect('memory:')
  assert.match(String(await refusal(() => client.lock('x').acquire({ renew: false }))), /^TypeError: renew/)
  await client.close()
})

/** Every call that takes a signal. */
const SIGNALLED: Readonly<Record<string, Call>> = {
  ...Object.fromEntries(
    Object.entries(CALLS).filter(([name]) =>
      /\.(?:acquire|acquireMany|tryAcquire|using|wait|subscribe|messages)$/.test(name),
    ),
  ),
  'permitSemaphore.tryAcquireMany': (client, options) => client.permitSemaphore('x').tryAcquireMany(2, options),
  'patternTopic.subscribe': (client, options) => client.patternTopic('x').subscribe(work, options),
  'patternTopic.messages': (client, options) => client.patternTopic('x').messages(options),
  ...Object.fromEntries(
    Object.entries(LOCKS).flatMap(([kind, of]): [string, Call][] => [
      [`${kind}.for().lock`, (client, options) => of(client, 'x').for(client.owner()).lock(-1, options)],
      [`${kind}.for().tryLock`, (client, options) => of(client, 'x').for(client.owner()).tryLock(1, -1, options)],
    ]),
  ),
  'connect, retry': (_client, options) => connect({ url: 'memory:', retry: options }),
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
