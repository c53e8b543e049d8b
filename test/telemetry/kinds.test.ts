import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { after, before, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { type Client, type DiagnosticMessage, connect } from 'holdfast'

/** Each row of the table "What each kind reports" in docs/telemetry.md. */

const EVENTS = ['acquire', 'wait', 'grant', 'end', 'release', 'renew', 'uncertain', 'lost'] as const

let client: Client
before(async () => {
  client = await connect('memory:')
})
after(() => client.close())

/** What the calls of the body report: the event, its kind, and which of the fields it has. */
const reported = async (body: () => Promise<unknown>): Promise<string[]> => {
  const told: string[] = []
  const listeners = EVENTS.map((event) => {
    const listener = (message: unknown): void => {
      const { kind, hold, permits, elapsed, outcome } = message as DiagnosticMessage
      const words = [event, kind, hold && 'hold', event === 'release' && elapsed === undefined && 'no length']
      told.push([...words, permits, outcome].filter(Boolean).join(' '))
    }
    subscribe(`holdfast:${event}`, listener)
    return () => unsubscribe(`holdfast:${event}`, listener)
  })
  try {
    await body()
  } finally {
    for (const stop of listeners) stop()
  }
  return told
}

const one = (kind: string): string[] => [`acquire ${kind}`, `grant ${kind} hold`, `release ${kind} hold released`]

for (const [kind, lockOf] of Object.entries({
  lock: () => client.lock('a'),
  nonReentrantLock: () => client.nonReentrantLock('a'),
  fairLock: () => client.fairLock('b'),
  fencedLock: () => client.fencedLock('c'),
  spinLock: () => client.spinLock('d'),
  'readWriteLock.read': () => client.readWriteLock('e').read,
  'readWriteLock.write': () => client.readWriteLock('e').write,
  keyedLock: () => client.keyedLock('f', ['x', 'y']),
  multiLock: () => client.multiLock(client.lock('g'), client.lock('h')),
  redLock: () => client.redLock(client.lock('i'), client.lock('j'), client.lock('k')),
}))
  test(`${kind} → one hold, whichever call acquires`, async () => {
    const lock = lockOf()
    assert.deepEqual(await reported(async () => (await lock.acquire()).release()), one(kind))
    assert.deepEqual(await reported(async () => (await lock.tryAcquire())?.release()), one(kind))
    assert.deepEqual(await reported(() => lock.using(() => undefined)), one(kind))
  })

test('a ticket → the hold ends as detached, and adopt is a call', async () => {
  const told = await reported(async () => {
    const hold = await client.lock('ticket').acquire()
    await (await client.adopt(await hold.detach())).release()
  })
  const [acquire, grant, release] = one('lock')
  assert.deepEqual(told, [acquire, grant, 'release lock hold detached', acquire, grant, release])
})

test('permitSemaphore → each permit is a hold', async () => {
  const semaphore = client.permitSemaphore('permits')
  assert.deepEqual(await reported(() => semaphore.trySetPermits(3)), [])
  const told = await reported(async () => {
    const [first, second] = await semaphore.acquireMany(2)
    assert.deepEqual(await semaphore.tryAcquireMany(2), [])
    await semaphore.release((first as { id: string }).id)
    await second?.release()
    await (await semaphore.tryAcquire())?.release()
  })
  const [call, ended] = ['acquire permitSemaphore', 'release permitSemaphore hold 1 released']
  const two = [call, 'grant permitSemaphore hold 2', call, 'end permitSemaphore refused', ended, ended]
  assert.deepEqual(told, [...two, call, 'grant permitSemaphore hold 1', ended])
})

test('semaphore → no hold; a release has a length only after a using', async () => {
  const semaphore = client.semaphore('counted')
  assert.deepEqual(await reported(() => semaphore.trySetPermits(3)), [])
  const call = ['acquire semaphore', 'grant semaphore 2']
  const [counted, measured] = ['release semaphore no length 2 released', 'release semaphore 2 released']
  const permits = 2
  assert.deepEqual(await reported(() => semaphore.acquire({ permits })), call)
  assert.deepEqual(await reported(() => semaphore.tryAcquire({ permits })), [call[0], 'end semaphore refused'])
  assert.deepEqual(await reported(() => semaphore.release(permits)), [counted])
  assert.deepEqual(await reported(() => semaphore.using({ permits }, () => undefined)), [...call, measured])
  assert.deepEqual(await reported(() => semaphore.releaseIfExists(permits)), [counted])
  assert.deepEqual(await reported(() => semaphore.addPermits(1).then(() => semaphore.drain())), [])
})

test('rateLimiter → grants that do not end, and refusals', async () => {
  const limiter = client.rateLimiter('rate')
  assert.deepEqual(await reported(() => limiter.trySetRate({ permits: 2, interval: 60_000 })), [])
  const call = ['acquire rateLimiter', 'grant rateLimiter 1']
  assert.deepEqual(await reported(() => limiter.acquire()), call)
  assert.deepEqual(await reported(() => limiter.tryAcquire()), call)
  assert.deepEqual(await reported(() => limiter.tryAcquire()), [call[0], 'end rateLimiter refused'])
  const waited = ['acquire rateLimiter', 'wait rateLimiter', 'end rateLimiter timeout']
  assert.deepEqual(await reported(() => limiter.tryAcquire({ wait: 20 })), waited)
  assert.deepEqual(await reported(() => limiter.release()), [])
})

test('countDownLatch → a wait is a call, and nothing is held', async () => {
  const latch = client.countDownLatch('latch')
  const call = ['acquire countDownLatch', 'grant countDownLatch']
  assert.deepEqual(await reported(() => latch.wait()), call)
  assert.deepEqual(await reported(() => latch.trySetCount(1)), [])
  const waited = ['acquire countDownLatch', 'wait countDownLatch', 'end countDownLatch timeout']
  assert.deepEqual(await reported(() => latch.wait({ wait: 20 })), waited)
  assert.deepEqual(await reported(() => latch.countDown()), [])
})

test('election → the hold is the term', async () => {
  const told = await reported(() => client.election('chief').lead(() => undefined))
  assert.deepEqual(told, one('election'))
})

test('topics and scripts → nothing', async () => {
  const told = await reported(async () => {
    const topic = client.topic<string>('news')
    const heard: string[] = []
    const subscription = await topic.subscribe((message) => void heard.push(message))
    await topic.publish('one')
    while (heard.length === 0) await setTimeout(1)
    await subscription.unsubscribe()
    await client.script('return 1').run()
  })
  assert.deepEqual(told, [])
})
