import assert from 'node:assert/strict'
import { DeadlockError } from 'holdfast'
import { exists, fieldsOf, isNotOwner, lasted, pttl, rejection, releaseAll, SHORT, timed, watch, held } from './kind.js'
import type { LockKind, Part } from './kind.js'

const reentrant: Part = ({ make }, scenario, excludes) => {
  scenario('L05 G-04: three levels of 10 s, two released → held once, with the lease of the hold', async (w) => {
    const client = await w.connect()
    const lock = make(client, w.id)
    const me = lock.for(client.owner())
    for (let level = 0; level < 3; level += 1) await me.lock(10_000)
    assert.equal(await me.holdCount(), 3)
    await w.pass(100)
    for (let level = 0; level < 2; level += 1) await me.unlock()
    assert.equal(await me.holdCount(), 1)
    const left = await me.remainTimeToLive()
    assert.ok(left <= 10_000 && left > 9000 - w.slack, String(left))
    await me.unlock()
    assert.equal(await lock.isLocked(), false)

    const first = await lock.acquire({ lease: 10_000 })
    const inner = [
      await lock.acquire({ lease: 10_000, owner: first.owner }),
      await lock.acquire({ lease: 10_000, owner: first.owner }),
    ]
    for (const hold of inner) assert.equal(await hold.release(), true)
    assert.deepEqual(Object.values(await fieldsOf(w, w.id)), [1])
    assert.ok((await pttl(w, w.id)) <= 10_000)
    await held(w, first)
    assert.equal(await first.release(), true)
    assert.equal(await exists(w, w.id), false)
  })

  scenario('L13: the hold count of an owner → 0, 1, 0, 1, 2, 1, 0', async (w) => {
    const client = await w.connect()
    const me = make(client, w.id).for(client.owner())
    assert.equal(await me.holdCount(), 0)
    for (const count of [1, 0, 1, 2, 1, 0]) {
      const before = await me.holdCount()
      await (count > before ? me.lock() : me.unlock())
      assert.equal(await me.holdCount(), count)
      assert.deepEqual(Object.values(await fieldsOf(w, w.id)), count === 0 ? [] : [count])
    }
  })

  excludes('L21: two tries of one owner → both true; free for others after the second unlock', async (w) => {
    const [one, two] = [await w.connect(), await w.connect()]
    const me = make(one, w.id).for(one.owner())
    const others = [make(one, w.id).for(one.owner()), make(two, w.id).for(two.owner())]
    assert.equal(await me.tryLock(), true)
    assert.equal(await me.tryLock(), true)
    await me.unlock()
    for (const other of others) assert.equal(await other.tryLock(), false)
    await me.unlock()
    for (const other of others) {
      assert.equal(await other.tryLock(), true)
      await other.unlock()
    }
  })

  scenario('E04 L22: one owner’s levels all given back → the next owner’s hold is renewed', async (w) => {
    const client = await w.connect({ watchdog: SHORT })
    const lock = make(client, w.id)
    const [first, second] = [lock.for(client.owner()), lock.for(client.owner())]
    await first.lock()
    await first.lock()
    await first.unlock()
    await first.unlock()
    await second.lock()
    await w.pass(w.virtual ? 10 * SHORT : 2.5 * SHORT)
    assert.equal(await exists(w, w.id), true)
    assert.equal(await second.isHeld(), true)
    await second.unlock()
  })

  scenario('G-04: a lease inside a renewed hold → the outer hold goes on being renewed', async (w) => {
    const client = await w.connect({ watchdog: SHORT })
    const lock = make(client, w.id)
    const outer = await lock.acquire()
    const inner = await lock.acquire({ owner: outer.owner, lease: 1000 })
    await held(w, inner)
    await w.pass(SHORT * 1.6)
    await held(w, outer)
    assert.equal(outer.signal.aborted, false)
    assert.equal(await exists(w, w.id), true)
    await w.run(inner.release())
    await held(w, outer)
    assert.equal(await w.run(outer.release()), true)
    assert.equal(await exists(w, w.id), false)
  })

  scenario('G-04: a renewed hold inside a lease → kept while it lives, and no longer', async (w) => {
    const client = await w.connect({ watchdog: SHORT })
    const lock = make(client, w.id)
    const outer = await lock.acquire({ lease: 1500 })
    const inner = await lock.acquire({ owner: outer.owner })
    await w.pass(SHORT * 1.6)
    await held(w, inner)
    assert.equal(await exists(w, w.id), true)
    assert.equal(await w.run(inner.release()), true)
    const { ms } = await timed(w, () => w.eventually(async () => !(await exists(w, w.id))))
    lasted(w, ms, 0, SHORT)
    assert.equal(outer.state, 'lost')
    assert.equal(await w.run(outer.release()), false)
  })

  scenario('G-18: one owner takes it three times at once → three levels, each given back once', async (w) => {
    const client = await w.connect()
    const lock = make(client, w.id)
    const owner = client.owner('me')
    const holds = await w.run(Promise.all([lock.acquire({ owner }), lock.acquire({ owner }), lock.acquire({ owner })]))
    assert.deepEqual(Object.values(await fieldsOf(w, w.id)), [3])
    for (const hold of holds) {
      assert.equal(hold.owner, owner)
      assert.equal(await hold.release(), true)
    }
    assert.equal(await exists(w, w.id), false)
  })

  scenario('G-07: a try of an owner whose acquire is on its way → had, nobody else has it', async (w) => {
    const client = await w.connect()
    const lock = make(client, w.id)
    const owner = client.owner()
    const [first, second] = await w.run(Promise.all([lock.acquire({ owner }), lock.tryAcquire({ owner })]))
    assert.equal(second?.state, 'held')
    assert.deepEqual(Object.values(await fieldsOf(w, w.id)), [2])
    await releaseAll(w, [first, second])
  })

  excludes('re-entered by its owner while others wait → they wait on, and get in after the last level', async (w) => {
    const [one, two] = [await w.connect(), await w.connect()]
    const lock = make(one, w.id)
    const outer = await lock.acquire()
    const waiting = [watch(lock.acquire()), watch(make(two, w.id).acquire())]
    await w.pass(50)
    const inner = await lock.acquire({ owner: outer.owner })
    assert.equal(await outer.release(), true)
    await w.pass(200)
    assert.deepEqual(
      waiting.map((one) => one.settled),
      [false, false],
    )
    await held(w, inner)
    assert.equal(await inner.release(), true)
    const releasing = waiting.map((one) => one.promise.then((hold) => hold.release()))
    assert.deepEqual(await w.run(Promise.all(releasing)), [true, true])
  })
}

const notReentrant: Part = ({ make }, scenario) => {
  const deadlock = async (promise: Promise<unknown>, target: string): Promise<void> => {
    const error = await rejection(promise)
    assert.ok(error instanceof DeadlockError, String(error))
    assert.equal(error.code, 'DEADLOCK')
    assert.equal(error.target, target)
  }

  scenario('N02: taken again by its owner in any way → DeadlockError; one unlock frees it', async (w) => {
    const client = await w.connect()
    const lock = make(client, w.id)
    const owner = client.owner()
    const me = lock.for(owner)
    await me.lock()
    const calls: (() => Promise<unknown>)[] = [
      () => me.lock(),
      () => me.lock(500),
      () => me.tryLock(),
      () => me.tryLock(100),
      () => lock.acquire({ owner }),
      () => lock.acquire({ owner, wait: 100 }),
      () => lock.tryAcquire({ owner }),
      () => lock.tryAcquire({ owner, wait: 100 }),
      () => lock.using({ owner }, () => assert.fail('must not run')),
    ]
    for (const again of calls) {
      const begun = w.now()
      await deadlock(w.run(again()), w.id)
      lasted(w, w.now() - begun, 0)
      assert.equal(await me.holdCount(), 1)
    }
    await me.unlock()
    assert.equal(await exists(w, w.id), false)
    assert.ok(isNotOwner(w.id)(await rejection(me.unlock())))
  })

  scenario('N02: taken again inside its own `using` → DeadlockError, and the outer hold is kept', async (w) => {
    const client = await w.connect()
    const lock = make(client, w.id)
    await w.run(
      lock.using(async (hold) => {
        await deadlock(lock.acquire(), w.id)
        await deadlock(lock.tryAcquire(), w.id)
        await deadlock(
          lock.using(() => assert.fail('must not run')),
          w.id,
        )
        await held(w, hold)
        assert.equal(await lock.isLocked(), true)
      }),
    )
    assert.equal(await exists(w, w.id), false)
  })

  scenario('N03: two lock objects of one name and one owner → the owner counts, not the object', async (w) => {
    const client = await w.connect()
    const owner = client.owner()
    const [a, b] = [make(client, w.id).for(owner), make(client, w.id).for(owner)]
    await a.lock()
    await deadlock(b.lock(), w.id)
    await deadlock(b.tryLock(), w.id)
    assert.equal(await b.isHeld(), true)
    await a.unlock()
    assert.equal(await a.isLocked(), false)
    assert.equal(await b.isLocked(), false)
  })

  scenario('L13: the hold count of an owner → 0, 1, 0', async (w) => {
    const client = await w.connect()
    const me = make(client, w.id).for(client.owner())
    assert.equal(await me.holdCount(), 0)
    await me.lock()
    assert.equal(await me.holdCount(), 1)
    await me.unlock()
    assert.equal(await me.holdCount(), 0)
  })
}

export const reentrance: Part = (kind: LockKind, scenario, excludes) => {
  ;(kind.reentrant ? reentrant : notReentrant)(kind, scenario, excludes)
}
