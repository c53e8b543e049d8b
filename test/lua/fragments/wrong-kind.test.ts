import assert from 'node:assert/strict'
import { EngineError } from 'holdfast'
import { rejection } from '../../suites/contract/lock/kind.js'
import { type Client, redisEngine, scenarios, virtualEngine, type World } from '../../support/engines.js'

type Make = (client: Client, name: string) => ReturnType<Client['lock']>

const ALONE: Readonly<Record<string, Make>> = {
  lock: (client, name) => client.lock(name),
  fairLock: (client, name) => client.fairLock(name),
  fencedLock: (client, name) => client.fencedLock(name),
  spinLock: (client, name) => client.spinLock(name),
}
const READ_WRITE: Readonly<Record<string, Make>> = {
  'readWriteLock.read': (client, name) => client.readWriteLock(name).read,
  'readWriteLock.write': (client, name) => client.readWriteLock(name).write,
  'fairReadWriteLock.read': (client, name) => client.readWriteLock(name, { fair: true }).read,
  'fairReadWriteLock.write': (client, name) => client.readWriteLock(name, { fair: true }).write,
}
const KEYED: Readonly<Record<string, Make>> = { keyedLock: (client, name) => client.keyedLock(name, ['seat:7']) }

/** Kinds within one group have the same layout, and exclude one another. */
const GROUPS = [ALONE, READ_WRITE, KEYED]

const isWrongKind = async (w: World, call: Promise<unknown>, found: RegExp): Promise<void> => {
  const begun = w.now()
  const error = await w.run(rejection(call))
  assert.ok(error instanceof EngineError && error.code === 'WRONG_KIND', String(error))
  assert.match(error.message, found)
  assert.ok(w.now() - begun < 2000, 'at once')
}

const FOUND = [/a lock of another kind/, /a read-write lock/, /the keys of a keyed lock/]

for (const engine of [virtualEngine, redisEngine]) {
  const scenario = scenarios(engine)
  for (const [place, group] of GROUPS.entries()) {
    for (const [held, hold] of Object.entries(group)) {
      scenario(`${held} holds the name → each other layout is refused at once, and nothing is written`, async (w) => {
        const [one, other] = [await w.connect(), await w.connect()]
        const holding = await w.run(hold(one, w.id).acquire())
        const before = await w.raw('HGETALL', w.id)
        for (const [, make] of GROUPS.filter((kinds) => kinds !== group).flatMap(Object.entries<Make>)) {
          const lock = make(other, w.id)
          for (const call of [() => lock.acquire(), () => lock.tryAcquire(), () => lock.acquire({ wait: 60_000 })]) {
            await isWrongKind(w, call(), FOUND[place] as RegExp)
          }
          // What keys of a group say of the others is nothing.
          if (make !== KEYED['keyedLock']) await isWrongKind(w, lock.isLocked(), FOUND[place] as RegExp)
        }
        assert.deepEqual(await w.raw('HGETALL', w.id), before)
        assert.equal(await w.run(holding.release()), true)
      })
    }
  }

  scenario(
    'a held lock, or a hash of another program → no count and no limiter deletes it or changes its expiry',
    async (w) => {
      const [one, other] = [await w.connect(), await w.connect()]
      const lock = await w.run(one.lock(w.id).acquire())
      const foreign = `${w.id}:foreign`
      await w.raw('HSET', foreign, 'name', 'Ann')
      await w.raw('PEXPIRE', foreign, 30_000)
      for (const name of [w.id, foreign]) {
        for (const kept of [
          other.semaphore(name),
          other.permitSemaphore(name),
          other.rateLimiter(name),
          other.countDownLatch(name),
        ]) {
          for (const call of [() => kept.delete(), () => kept.expire(1), () => kept.clearExpire()]) {
            await isWrongKind(w, call(), /./)
            const left = Number(await w.raw('PTTL', name))
            assert.ok(left > 10_000, `${left} ms left`)
          }
        }
      }
      assert.equal(await w.raw('HGET', foreign, 'name'), 'Ann')
      assert.equal(lock.state, 'held')
      assert.equal(await w.run(lock.release()), true)
      await w.raw('DEL', foreign)
    },
  )

  scenario(
    'another program has one of the keys of a rate limiter → no new rate is set, and nothing is written',
    async (w) => {
      const limiter = (await w.connect()).rateLimiter(w.id)
      const rate = { permits: 5, interval: 60_000 }
      await w.run(limiter.trySetRate(rate))
      const next = { permits: 9, interval: 1000 }
      for (const key of [`{${w.id}}:permits`, `{${w.id}}:value`]) {
        await w.raw('HSET', key, 'name', 'Ann')
        for (const change of [next, { ...next, keepState: true }, { ...next, scope: 'client' } as const]) {
          await isWrongKind(w, limiter.updateRate(change), /./)
          await isWrongKind(w, limiter.setRate(change), /./)
          assert.deepEqual(await w.raw('HGETALL', key), ['name', 'Ann'])
          assert.deepEqual(await w.run(limiter.rate()), { ...rate, scope: 'overall' })
        }
        await w.raw('DEL', key)
      }
      assert.equal(await w.run(limiter.updateRate(next)), true)
      await w.run(limiter.delete())
    },
  )

  scenario('a hash with some of the fields of a rate → no limiter reads, sets or deletes anything there', async (w) => {
    const limiter = (await w.connect()).rateLimiter(w.id)
    const rate = { permits: 5, interval: 60_000 }
    for (const fields of [
      ['type', 'customer'],
      ['rate', '3', 'currency', 'EUR'],
      ['rate', '3', 'interval', '4'],
    ]) {
      await w.raw('HSET', w.id, ...fields)
      const before = await w.raw('HGETALL', w.id)
      for (const call of [
        () => limiter.trySetRate(rate),
        () => limiter.setRate(rate),
        () => limiter.updateRate(rate),
        () => limiter.tryAcquire(),
        () => limiter.available(),
        () => limiter.delete(),
      ]) {
        await isWrongKind(w, call(), /another program|a lock of another kind/)
      }
      assert.deepEqual(await w.raw('HGETALL', w.id), before)
      await w.raw('DEL', w.id)
    }
  })

  scenario('a hash of another program → refused by every kind, by force as well, and untouched', async (w) => {
    const client = await w.connect()
    await w.raw('HSET', w.id, 'name', 'Ann', 'age', 41)
    for (const [, make] of GROUPS.flatMap(Object.entries<Make>)) {
      await isWrongKind(w, make(client, w.id).acquire(), /a hash of another program/)
      if (make !== KEYED['keyedLock']) await isWrongKind(w, make(client, w.id).forceRelease(), /another program/)
    }
    const limiter = client.rateLimiter(w.id)
    await isWrongKind(w, limiter.trySetRate({ permits: 1, interval: 1000 }), /another program/)
    await isWrongKind(w, limiter.tryAcquire(), /another program/)
    assert.deepEqual(await w.raw('HGETALL', w.id), ['name', 'Ann', 'age', '41'])
    await w.raw('DEL', w.id)
  })

  scenario(
    'a hash of another program with one field → refused by each lock for one holder, and untouched',
    async (w) => {
      const client = await w.connect()
      for (const value of ['Ann', '0', '-1', '']) {
        await w.raw('HSET', w.id, 'name', value)
        for (const [, make] of Object.entries(ALONE))
          await isWrongKind(w, make(client, w.id).acquire(), /a hash of another program/)
        assert.deepEqual(await w.raw('HGETALL', w.id), ['name', value])
      }
      await w.raw('DEL', w.id)
    },
  )

  scenario('what Redisson writes for each kind → waited for, never refused', async (w) => {
    const client = await w.connect()
    const java = '5f1b2c3d-0a1b-4001-8001-0a1b2c3d4e5f:41'
    const states: [readonly (string | number)[], Readonly<Record<string, Make>>][] = [
      [[java, 2], ALONE],
      [['mode', 'write', `${java}:write`, 1, java, 3], READ_WRITE],
    ]
    for (const [fields, kinds] of states) {
      await w.raw('HSET', w.id, ...fields)
      await w.raw('PEXPIRE', w.id, 60_000)
      for (const make of Object.values(kinds)) assert.equal(await w.run(make(client, w.id).tryAcquire()), undefined)
      await w.raw('DEL', w.id)
    }
  })

  scenario(
    'another program overwrites a held lock → told within a third of the lease, and its release is false',
    async (w) => {
      // A read's own key is there until its lease is over.
      w.leavesKeys = true
      const client = await w.connect({ watchdog: 3000 })
      for (const [, make] of GROUPS.flatMap(Object.entries<Make>)) {
        const hold = await w.run(make(client, w.id).acquire())
        await w.raw('DEL', w.id)
        await w.raw('SET', w.id, 'text')
        await w.eventually(() => hold.state === 'lost', 1500)
        assert.equal(await w.run(hold.release()), false)
        await w.raw('DEL', w.id)
        const early = await w.run(make(client, w.id).acquire())
        await w.raw('DEL', w.id)
        await w.raw('HSET', w.id, 'name', 'Ann')
        const begun = w.now()
        assert.equal(await w.run(early.release()), false)
        assert.ok(w.now() - begun < 1000)
        assert.deepEqual(await w.raw('HGETALL', w.id), ['name', 'Ann'])
        await w.raw('DEL', w.id)
      }
    },
  )
}
