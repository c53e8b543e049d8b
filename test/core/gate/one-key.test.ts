import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { AcquireTimeoutError, type Client, connect, DeadlockError, type Hold, type Lock } from 'holdfast'
import { virtualClock } from 'holdfast/testing'

/** Every kind of lock on one key. Those of one name in `again` are the same lock to their owner. */
const KINDS: Record<string, { make: (client: Client) => Lock; again: string; reads?: true; once?: true }> = {
  lock: { make: (client) => client.lock('a'), again: 'lock' },
  nonReentrantLock: { make: (client) => client.nonReentrantLock('a'), again: 'lock', once: true },
  fairLock: { make: (client) => client.fairLock('a'), again: 'fair' },
  nonReentrantFairLock: { make: (client) => client.nonReentrantFairLock('a'), again: 'fair', once: true },
  fencedLock: { make: (client) => client.fencedLock('a'), again: 'fenced' },
  spinLock: { make: (client) => client.spinLock('a'), again: 'spin' },
  read: { make: (client) => client.readWriteLock('a').read, again: 'rw', reads: true },
  write: { make: (client) => client.readWriteLock('a').write, again: 'rw' },
  'fair read': { make: (client) => client.readWriteLock('a', { fair: true }).read, again: 'fair rw', reads: true },
  'fair write': { make: (client) => client.readWriteLock('a', { fair: true }).write, again: 'fair rw' },
  keyedLock: { make: (client) => client.keyedLock('a', ['x', 'y']), again: 'keyed' },
}

type Kind = (typeof KINDS)[string]

/** What becomes of the second lock while its owner holds the first. */
const expected = (first: Kind, second: Kind): 'had' | 'deadlock' => {
  if (first.again !== second.again) return 'deadlock'
  if (second.once === true) return 'deadlock'
  // Who reads may not write; who writes may read.
  return first.reads === true && second.reads !== true ? 'deadlock' : 'had'
}

const scene = async (play: (client: Client, run: <T>(promise: Promise<T>) => Promise<T>) => Promise<void>) => {
  const clock = virtualClock()
  const client = await connect({ url: 'memory:', clock, presence: false })
  const run = async <T>(promise: Promise<T>): Promise<T> => {
    let over = false
    const done = (): void => void (over = true)
    promise.then(done, done)
    for (let step = 0; !over; step++) {
      assert.ok(step < 6000, 'it hangs')
      await clock.advance(1)
    }
    return promise
  }
  await play(client, run)
  await run(client.close())
}

const outcomeOf = async (asked: Promise<Hold | undefined>): Promise<string> => {
  try {
    const hold = await asked
    if (hold === undefined) return 'not had'
    await hold.release()
    return 'had'
  } catch (error) {
    if (error instanceof DeadlockError) return 'deadlock'
    if (error instanceof AcquireTimeoutError) return 'timeout'
    throw error
  }
}

for (const [name, first] of Object.entries(KINDS)) {
  void describe(`one owner that holds the key as ${name}`, () => {
    for (const [other, second] of Object.entries(KINDS)) {
      // Two that read do not exclude one another, whatever the kinds.
      if (first.reads === true && second.reads === true && first !== second) continue
      const outcome = expected(first, second)
      const tried = outcome === 'had' ? 'had' : 'not had'

      void test(`takes it as ${other}, by name → ${outcome}`, () =>
        scene(async (client, run) => {
          const owner = client.owner()
          const held = await run(first.make(client).acquire({ owner }))
          const lock = second.make(client)
          assert.equal(await run(outcomeOf(lock.acquire({ owner }))), outcome, 'without a limit')
          assert.equal(await run(outcomeOf(lock.acquire({ owner, wait: 2000 }))), outcome, 'with a limit')
          if (second.once !== true) assert.equal(await run(outcomeOf(lock.tryAcquire({ owner }))), tried, 'a try')
          assert.equal(held.state, 'held')
          assert.equal(await run(held.release()), true)
          // Nothing of it is left: the key is as free as before.
          assert.equal(await run(outcomeOf(lock.tryAcquire({ owner }))), 'had')
        }))

      // In there the other kind is another lock; what is not re-entrant is not taken again.
      if (name === `nonReentrant${other.replace(/^./, (letter) => letter.toUpperCase())}`) continue
      void test(`takes it as ${other}, within using() → ${outcome}`, () =>
        scene(async (client, run) => {
          const lock = second.make(client)
          await run(
            first.make(client).using(async () => {
              assert.equal(await outcomeOf(lock.acquire()), outcome, 'without a limit')
              assert.equal(await outcomeOf(lock.acquire({ wait: 2000 })), outcome, 'with a limit')
              if (second.once !== true) assert.equal(await outcomeOf(lock.tryAcquire()), tried, 'a try')
            }),
          )
        }))
    }
  })
}

void describe('several locks over one that its owner holds', () => {
  for (const [name, kind] of Object.entries(KINDS).filter(([, { reads }]) => reads !== true)) {
    for (const several of ['multiLock', 'redLock'] as const) {
      void test(`${several} of a ${name} within its using() → DeadlockError, whatever else is in it`, () =>
        scene(async (client, run) => {
          const lock = kind.make(client)
          const whole = client[several](lock)
          const more = client[several](lock, client.lock('b'), ...(several === 'redLock' ? [] : [client.lock('c')]))
          await run(
            lock.using(async () => {
              assert.equal(await outcomeOf(whole.acquire()), 'deadlock')
              assert.equal(await outcomeOf(more.acquire()), 'deadlock')
              assert.equal(await outcomeOf(whole.tryAcquire()), 'not had')
              assert.equal(await outcomeOf(whole.acquire({ wait: 500 })), 'timeout')
            }),
          )
        }))
    }
  }

  void test('a redLock of which only a minority is held by the using() around → had', () =>
    scene(async (client, run) => {
      const lock = client.lock('a')
      const red = client.redLock(lock, client.lock('b'), client.lock('c'))
      await run(
        lock.using(async () => {
          assert.equal(await outcomeOf(red.acquire()), 'had')
        }),
      )
    }))

  void test('a redLock by an owner that has its member as another kind → DeadlockError', () =>
    scene(async (client, run) => {
      const owner = client.owner()
      const held = await run(client.fencedLock('a').acquire({ owner }))
      const red = client.redLock(client.lock('a'))
      assert.equal(await run(outcomeOf(red.acquire({ owner }))), 'deadlock')
      assert.equal(await run(outcomeOf(red.acquire({ owner, wait: 500 }))), 'deadlock')
      assert.equal(await run(outcomeOf(red.tryAcquire({ owner }))), 'not had')
      await run(held.release())
    }))
})

void describe('one owner that waits for one key as two kinds', () => {
  for (const [one, other] of [
    ['lock', 'fencedLock'],
    ['lock', 'spinLock'],
    ['fairLock', 'lock'],
    ['fair read', 'write'],
  ] as const) {
    // Where the two differ in what they keep on the server, one of them is refused as WRONG_KIND before that.
    void test(`${one} and ${other} → one is had, the other is a DeadlockError`, () =>
      scene(async (client, run) => {
        const owner = client.owner()
        const before = await run(KINDS[other]!.make(client).acquire())
        const both = [KINDS[one]!, KINDS[other]!].map((kind) => kind.make(client).acquire({ owner }))
        for (const asked of both) asked.catch(() => undefined)
        await run(new Promise<void>((resolve) => void setImmediate(resolve)))
        await run(before.release())
        const first = await run(Promise.any(both.map((asked, index) => asked.then((hold) => ({ hold, index })))))
        const second = both[1 - first.index] as Promise<Hold>
        assert.equal(await run(outcomeOf(second)), 'deadlock')
        await run(first.hold.release())
      }))
  }

  void test('another owner, named within using() of another kind → DeadlockError without a limit', () =>
    scene(async (client, run) => {
      await run(
        client.lock('a').using(async () => {
          const owner = client.owner()
          assert.equal(await outcomeOf(client.fairLock('a').acquire({ owner })), 'deadlock')
          assert.equal(await outcomeOf(client.fairLock('a').acquire({ owner, wait: 50 })), 'timeout')
          assert.equal(await outcomeOf(client.fairLock('a').tryAcquire({ owner })), 'not had')
        }),
      )
    }))
})
