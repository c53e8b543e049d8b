import assert from 'node:assert/strict'
import { NOT_A_DURATION, exists, isBadArgument, rejection } from './kind.js'
import type { Part } from './kind.js'

/** Bad arguments: named, shown, and refused before anything is sent. */
export const badArguments: Part = ({ make }, scenario, excludes) => {
  scenario(
    'G-05: a lease that is no positive whole number → refused with its name and value, nothing taken',
    async (w) => {
      const client = await w.connect()
      const lock = make(client, w.id)
      const me = lock.for(client.owner())
      for (const bad of NOT_A_DURATION) {
        const lease = bad as number
        const calls: (() => Promise<unknown>)[] = [
          () => lock.acquire({ lease }),
          () => lock.tryAcquire({ lease }),
          () => lock.using({ lease }, () => assert.fail('must not run')),
          ...(bad === -1 ? [] : [() => me.lock(lease), () => me.tryLock(0, lease)]),
        ]
        for (const call of calls) {
          isBadArgument(await rejection(w.run(call())), 'lease', bad)
          assert.equal(await exists(w, w.id), false)
        }
      }
      isBadArgument(await rejection(w.run(me.lock(-2))), 'lease', -2)
      for (const lease of ['5', 5n, null]) {
        assert.ok((await rejection(lock.acquire({ lease: lease as never }))) instanceof TypeError)
      }
      for (const lease of [0, -1, Infinity]) assert.ok((await rejection(lock.acquire({ lease }))) instanceof RangeError)
    },
  )

  scenario('G-07: a wait that is negative or no number → refused with its name and value', async (w) => {
    const client = await w.connect()
    const lock = make(client, w.id)
    const me = lock.for(client.owner())
    for (const bad of [-1, -0.5, NaN, -Infinity, '10', 10n, null, {}, true]) {
      const wait = bad as number
      const calls: (() => Promise<unknown>)[] = [
        () => lock.acquire({ wait }),
        () => lock.tryAcquire({ wait }),
        () => lock.using({ wait }, () => assert.fail('must not run')),
        ...(bad === -1 ? [] : [() => me.tryLock(wait)]),
      ]
      for (const call of calls) isBadArgument(await rejection(w.run(call())), 'wait', bad)
    }
    assert.equal(await exists(w, w.id), false)
  })

  scenario('a signal, owner, options or work of the wrong sort → TypeError that names it', async (w) => {
    const client = await w.connect()
    const lock = make(client, w.id)
    const cases: [string, () => Promise<unknown>][] = []
    for (const bad of [null, 5, 'signal', {}, { aborted: false }]) {
      cases.push(['signal', () => lock.acquire({ signal: bad as never })])
      cases.push(['signal', () => lock.tryAcquire({ signal: bad as never })])
    }
    for (const bad of [null, 5, 'owner', {}, { label: 'x' }])
      cases.push(['owner', () => lock.acquire({ owner: bad as never })])
    for (const bad of [null, 5, 'x', true]) {
      cases.push(['options', () => lock.acquire(bad as never)])
      cases.push(['options', () => lock.tryAcquire(bad as never)])
    }
    for (const bad of [undefined, null, 5, 'x', {}]) cases.push(['work', () => lock.using({}, bad as never)])
    for (const [argument, call] of cases) {
      const error = await rejection(w.run(call()))
      assert.ok(error instanceof TypeError, `${argument}: ${String(error)}`)
      assert.ok(error.message.includes(argument), `'${error.message}' does not name ${argument}`)
    }
    assert.equal(await exists(w, w.id), false)
  })

  scenario('G-14: an empty or odd name → TypeError at once; an odd owner for OwnedLock as well', async (w) => {
    const client = await w.connect()
    for (const bad of ['', 5, null, undefined, {}, Symbol('x')]) {
      assert.throws(
        () => make(client, bad as string),
        (error) => error instanceof TypeError && error.message.includes('name'),
      )
    }
    for (const bad of [undefined, null, {}, 'me', 7]) {
      assert.throws(() => make(client, w.id).for(bad as never), TypeError)
    }
  })

  excludes('`undefined` → means omitted, everywhere', async (w) => {
    const client = await w.connect({
      watchdog: undefined,
      label: undefined,
      maxWaiters: undefined,
      presence: undefined,
    })
    const lock = make(client, w.id)
    const all = { wait: undefined, lease: undefined, signal: undefined, owner: undefined }
    for (const options of [undefined, {}, all]) {
      const hold = await lock.acquire(options)
      assert.ok(hold.remaining() > 20_000)
      assert.equal(await lock.tryAcquire(options), undefined)
      assert.equal(await hold.release(), true)
      assert.equal(await w.run(lock.using(options, () => 'done')), 'done')
    }
    const me = lock.for(client.owner())
    await me.lock(undefined)
    await me.unlock()
    assert.equal(await me.tryLock(undefined, undefined), true)
    await me.unlock()
    assert.equal(client.owner(undefined).label, undefined)
  })

  scenario('methods that return a promise → never throw, bad arguments reject', async (w) => {
    const client = await w.connect()
    const lock = make(client, w.id)
    const hold = await lock.acquire({ lease: 9000 })
    const me = lock.for(client.owner())
    const bad = 'bad' as never
    const calls: (() => Promise<unknown>)[] = [
      () => lock.acquire(bad),
      () => lock.tryAcquire(bad),
      () => lock.using(bad),
      () => hold.extend(bad),
      () => me.lock(bad),
      () => me.tryLock(bad, bad),
      () => client.adopt(bad),
    ]
    for (const call of calls) {
      const promise = call()
      assert.ok(promise instanceof Promise)
      const error = await rejection(w.run(promise))
      assert.ok(error instanceof TypeError || error instanceof RangeError, String(error))
    }
    assert.equal(await hold.release(), true)
  })
}
