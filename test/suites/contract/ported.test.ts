import assert from 'node:assert/strict'
import { describe } from 'node:test'
import type { Kept, Lock, OwnedLock } from 'holdfast'
import type { Client, Scenario, World } from '../../support/engines.js'
import { engines, scenarios } from '../../support/engines.js'
import { isBadArgument, rejection, watch } from './lock/kind.js'

const OBJECTS: readonly (readonly [kind: string, make: (client: Client, name: string) => Promise<Kept>])[] = [
  [
    'semaphore',
    async (client, name) => {
      await client.semaphore(name).trySetPermits(1)
      return client.semaphore(name)
    },
  ],
  [
    'permitSemaphore',
    async (client, name) => {
      await client.permitSemaphore(name).trySetPermits(1)
      return client.permitSemaphore(name)
    },
  ],
  [
    'countDownLatch',
    async (client, name) => {
      await client.countDownLatch(name).trySetCount(1)
      return client.countDownLatch(name)
    },
  ],
  [
    'rateLimiter',
    async (client, name) => {
      await client.rateLimiter(name).trySetRate({ permits: 1, interval: 1000 })
      return client.rateLimiter(name)
    },
  ],
]

/** Each kind that has an owner's view, as `for()` gives it. */
const LOCKS: readonly (readonly [kind: string, make: (client: Client, name: string) => Lock])[] = [
  ['lock', (client, name) => client.lock(name)],
  ['fairLock', (client, name) => client.fairLock(name)],
  ['fencedLock', (client, name) => client.fencedLock(name)],
  ['readWriteLock', (client, name) => client.readWriteLock(name).write],
  ['spinLock', (client, name) => client.spinLock(name)],
  ['multiLock', (client, name) => client.multiLock(client.lock(name), client.lock(`${name}:2`))],
]

const interrupted = async (w: World, lock: OwnedLock): Promise<void> => {
  const reason = new Error('interrupted')
  const interrupt = new AbortController()
  const waits = watch(lock.lock(undefined, { signal: interrupt.signal }))
  const tries = watch(lock.tryLock(60_000, undefined, { signal: interrupt.signal }))
  await w.pass(200)
  assert.deepEqual([waits.settled, tries.settled], [false, false])
  interrupt.abort(reason)
  assert.equal(await w.run(rejection(waits.promise)), reason)
  assert.equal(await w.run(rejection(tries.promise)), reason)
  assert.equal(await rejection(lock.lock(undefined, { signal: interrupt.signal })), reason, 'before anything is sent')
  assert.ok(isBadArgument(await rejection(lock.lock(1000, 5 as never)), 'options', 5))
}

/** What code that ports from Redisson calls. */
const ported = (scenario: Scenario): void => {
  for (const [kind, make] of OBJECTS)
    scenario(`${kind}: exists and remaining tell whether it is there, and until when`, async (w) => {
      const object = await make(await w.connect(), w.id)
      assert.deepEqual([await object.exists(), await object.remaining()], [true, Infinity])
      assert.equal(await object.expire(60_000), true)
      const left = await object.remaining()
      assert.ok(left !== undefined && left > 50_000 && left <= 60_000, String(left))
      await object.clearExpire()
      assert.equal(await object.remaining(), Infinity)
      await object.delete()
      assert.deepEqual([await object.exists(), await object.remaining()], [false, undefined])
    })

  for (const [kind, make] of LOCKS)
    scenario(`${kind}: a signal interrupts the wait of an owner, and nothing stays behind`, async (w) => {
      const client = await w.connect()
      const hold = await make(client, w.id).acquire()
      await interrupted(w, make(client, w.id).for(client.owner()))
      await hold.release()
      await w.eventually(async () =>
        ((await w.raw('KEYS', `*${w.id}*`)) as string[]).every((key) => key.includes('token')),
      )
      await w.raw('DEL', `redisson_lock_token:{${w.id}}`)
    })

  scenario('a fenced lock gives its owner the token that the hold got', async (w) => {
    const client = await w.connect()
    const [me, other] = [client.owner(), client.owner()]
    const mine = client.fencedLock(w.id).for(me)
    const theirs = client.fencedLock(w.id).for(other)
    assert.equal(await mine.token(), undefined)
    const first = await mine.lockAndGetToken()
    assert.equal(await mine.token(), first)
    assert.equal(await theirs.tryLockAndGetToken(), undefined)
    assert.equal(await theirs.tryLock(), false)
    const again = await mine.tryLockAndGetToken(0, 60_000)
    assert.equal(again, first + 1n, 'a further level has a token of its own')
    await mine.unlock()
    await mine.unlock()
    const second = await w.run(theirs.lockAndGetToken(60_000))
    assert.equal(second, first + 2n)
    await theirs.unlock()
    assert.throws(() => client.fencedLock(w.id).for({} as never), TypeError)
    await w.raw('DEL', `redisson_lock_token:{${w.id}}`)
  })

  scenario('what does not exist is undefined: a token before the first hold, nil in a list', async (w) => {
    const client = await w.connect()
    assert.equal(await client.fencedLock(w.id).for(client.owner()).token(), undefined)
    assert.deepEqual(await client.script("return {1, false, 'a'}").run({ returns: 'list' }), [1, undefined, 'a'])
  })

  scenario('several permits are acquired at once, or none: an empty array', async (w) => {
    const client = await w.connect()
    const p = client.permitSemaphore(w.id)
    await p.trySetPermits(3)
    const two = await p.tryAcquireMany(2, { lease: 60_000 })
    assert.equal(new Set(two.map(({ id }) => id)).size, 2)
    assert.deepEqual(await p.tryAcquireMany(2), [])
    assert.deepEqual(await p.tryAcquireMany(0), [])
    assert.equal(await p.available(), 1, 'a try that failed takes nothing')
    const waits = watch(p.tryAcquireMany(2, { wait: 60_000 }))
    await w.pass(100)
    await two[0]?.release()
    assert.equal((await w.run(waits.promise)).length, 2)
    assert.ok(isBadArgument(await rejection(p.tryAcquireMany(-1)), 'count', -1))
    await p.delete()
  })

  scenario('a pattern knows the channels that somebody listens to', async (w) => {
    const [one, two] = [await w.connect(), await w.connect()]
    const pattern = two.patternTopic(`${w.id}:*`)
    assert.deepEqual(await pattern.activeTopics(), [])
    const subscriptions = [
      await one.topic(`${w.id}:b`).subscribe(() => undefined),
      await two.topic(`${w.id}:a`).subscribe(() => undefined),
      await one.topic(`${w.id}:a`).subscribe(() => undefined),
      await one.topic(`${w.id}other`).subscribe(() => undefined),
      await pattern.subscribe(() => undefined),
    ]
    assert.deepEqual(await pattern.activeTopics(), [`${w.id}:a`, `${w.id}:b`])
    for (const subscription of subscriptions) await subscription.unsubscribe()
  })

  scenario('a script takes the node of a key that it does not name', async (w) => {
    const client = await w.connect()
    await w.raw('SET', w.id, 'there')
    assert.equal(await client.script(`return redis.call('GET', '${w.id}')`).run({ route: w.id }), 'there')
    const sha = await client.scripts.load(`return redis.call('GET', '${w.id}')`)
    assert.equal(await client.scripts.run(sha, { route: w.id }), 'there')
    assert.ok(isBadArgument(await rejection(client.script('return 1').run({ route: 5 as never })), 'route', 5))
    await w.raw('DEL', w.id)
  })
}

for (const engine of engines) {
  describe(`the calls of a Java program, on ${engine.name}`, () => {
    ported(scenarios(engine, undefined, 0, 'topics and scripts'))
  })
}
