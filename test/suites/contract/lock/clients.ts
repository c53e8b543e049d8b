import assert from 'node:assert/strict'
import { ClosedError, LockLostError } from 'holdfast'
import { systemClock } from '#src/base/clock.js'
import { exists, isNotOwner, lasted, rejection, SHORT, times, held } from './kind.js'
import type { Part } from './kind.js'

const isClosed = (error: unknown): true => {
  assert.ok(error instanceof ClosedError, String(error))
  assert.equal(error.code, 'CLOSED')
  return true
}

/** What the client's options, its events and its closing mean for a lock. */
export const clients: Part = ({ make, options }, scenario, excludes) => {
  excludes(
    'G-19: closed with holds and waiters → holds released, waiters rejected, calls afterwards too',
    async (w) => {
      const [client, other] = [await w.connect({ watchdog: SHORT }), await w.connect()]
      const blocker = await make(other, `${w.id}:blocked`).acquire()
      const holds = await w.run(Promise.all(times(5, (i) => make(client, `${w.id}:${i}`).acquire())))
      const lock = make(client, `${w.id}:blocked`)
      const pending = [
        lock.acquire(),
        lock.tryAcquire({ wait: 30_000 }),
        lock.using(() => 0),
        lock.for(client.owner()).lock(),
      ]
      const rejected = Promise.all(pending.map(rejection))
      await w.pass(50)
      const begun = w.now()
      const closing = client.close()
      for (const error of await w.run(rejected)) isClosed(error)
      lasted(w, w.now() - begun, 0, 1000)
      await w.run(closing)
      for (const hold of holds) {
        isClosed(hold.signal.reason)
        assert.equal(hold.remaining(), 0)
        assert.equal(await exists(w, hold.name), false)
        assert.equal(typeof (await w.run(hold.release())), 'boolean')
      }
      await w.run(client.close())
      const me = lock.for(client.owner())
      const calls: (() => Promise<unknown>)[] = [
        () => lock.acquire(),
        () => lock.tryAcquire(),
        () => lock.using(() => 0),
        () => lock.isLocked(),
        () => lock.remaining(),
        () => lock.inspect(),
        () => lock.forceRelease(),
        () => me.lock(),
        () => me.tryLock(),
        () => me.unlock(),
        () => me.isHeld(),
      ]
      for (const call of calls) isClosed(await rejection(w.run(call())))
      await held(w, blocker)
      assert.equal(await blocker.release(), true)
    },
  )

  scenario('G-19: closed → every channel, key and waiter of another client is as it should be', async (w) => {
    const [client, other] = [await w.connect(), await w.connect()]
    const hold = await make(client, w.id).acquire()
    const next = make(other, w.id).acquire()
    await w.pass(50)
    await w.run(client.close())
    isClosed(hold.signal.reason)
    const had = await w.run(next)
    assert.equal(await w.run(had.release()), true)
  })

  scenario('closed with `release: false` → signals abort, the leases run out', async (w) => {
    const [client, other] = [await w.connect({ watchdog: SHORT }), await w.connect()]
    const hold = await make(client, w.id).acquire()
    await w.run(client.close({ release: false }))
    isClosed(hold.signal.reason)
    assert.equal(await exists(w, w.id), true)
    const begun = w.now()
    await w.eventually(async () => !(await make(other, w.id).isLocked()))
    lasted(w, w.now() - begun, 0, SHORT)
    // A key is still there in its last millisecond.
    await w.pass(2)
  })

  scenario('`await using` a client → closed at the end of the block; closed twice at once → fine', async (w) => {
    const lock = await (async () => {
      await using client = await w.connect()
      await make(client, w.id).acquire()
      return make(client, w.id)
    })()
    assert.equal(await exists(w, w.id), false)
    isClosed(await rejection(w.run(lock.acquire())))
    const client = await w.connect()
    await w.run(Promise.all([client.close(), client.close()]))
    await w.run(client.close({ release: false }))
  })

  excludes('`mapName` → on the server only; `presence` key as well', async (w) => {
    const [client, plain] = [await w.connect({ mapName: (name: string) => `app:${name}` }), await w.connect()]
    const lock = make(client, w.id)
    const hold = await lock.acquire()
    assert.equal(lock.name, w.id)
    assert.equal(hold.name, w.id)
    assert.equal(await exists(w, `app:${w.id}`), true)
    assert.equal(await exists(w, w.id), false)
    await w.eventually(() => exists(w, `app:holdfast:client:${client.id}`))
    assert.equal(await make(plain, `app:${w.id}`).tryAcquire(), undefined)
    const next = make(plain, `app:${w.id}`).acquire()
    const mine = lock.for(client.owner())
    assert.ok(isNotOwner(w.id)(await rejection(w.run(mine.unlock()))))
    await w.pass(50)
    assert.equal(await hold.release(), true)
    const other = await w.run(next)
    assert.equal(await lock.isLocked(), true)
    assert.equal(await w.run(other.release()), true)
  })

  scenario('`presence` → one small key with a lease while the client lives, none when false', async (w) => {
    const [shown, hidden] = [await w.connect({ label: 'shown' }), await w.connect({ presence: false })]
    for (const client of [shown, hidden])
      assert.equal(await (await make(client, w.prefix + client.id).acquire()).release(), true)
    const key = `holdfast:client:${shown.id}`
    await w.eventually(() => exists(w, key))
    assert.ok(Number(await w.raw('PTTL', key)) > 0, 'it goes by itself when the process dies')
    assert.equal(await exists(w, `holdfast:client:${hidden.id}`), false)
    await w.run(shown.close())
    assert.equal(await exists(w, key), false)
  })

  scenario(
    'client ids → UUIDs of version 8 (4 where it is as an older Redisson), one per client; `warnings` → a list',
    async (w) => {
      const all = [await w.connect(), await w.connect()]
      for (const client of all) {
        assert.match(client.id, /^[0-9a-f]{8}-[0-9a-f]{4}-[48][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
        assert.equal(client.id.charAt(14), options?.redisson === undefined ? '8' : '4')
        assert.ok(Array.isArray(client.warnings))
      }
      assert.notEqual(all[0]?.id, all[1]?.id)
    },
  )

  scenario('a listener that throws → nobody else is harmed', async (w) => {
    const complaints: unknown[] = []
    const note = (...details: unknown[]): void => void complaints.push(details)
    const logger = { debug: () => undefined, info: () => undefined, warn: note, error: note }
    const client = await w.connect({ watchdog: SHORT, logger })
    client.on('lost', () => {
      throw new Error('of a listener')
    })
    const [lost, kept] = [await make(client, w.id).acquire(), await make(client, `${w.id}:kept`).acquire()]
    lost.signal.addEventListener('abort', () => complaints.push('told'))
    await w.raw('DEL', w.id)
    await w.pass(SHORT * 1.6)
    assert.ok(complaints.includes('told'))
    assert.ok(lost.signal.reason instanceof LockLostError)
    await held(w, kept)
    assert.equal(await w.run(kept.release()), true)
  })

  scenario('no unhandled rejection, whatever is lost, aborted, refused or closed unseen', async (w) => {
    const seen: unknown[] = []
    const note = (reason: unknown): void => void seen.push(reason)
    process.on('unhandledRejection', note)
    try {
      const client = await w.connect({ watchdog: SHORT, maxWaiters: 3 })
      const lock = make(client, w.id)
      await lock.acquire()
      await make(client, `${w.id}:b`).acquire({ lease: 1000 })
      const controller = new AbortController()
      const waits = times(4, () => lock.acquire({ signal: controller.signal }).catch(() => undefined))
      await w.raw('DEL', w.id, `${w.id}:b`)
      await w.pass(SHORT)
      controller.abort()
      await w.run(Promise.all(waits))
      const late = lock.acquire().catch(() => undefined)
      await w.run(client.close())
      await w.run(late)
      await new Promise((resolve) => setTimeout(resolve, 20))
      assert.deepEqual(seen, [])
    } finally {
      process.off('unhandledRejection', note)
    }
  })

  excludes(
    'G-25: a client whose wall clock is a minute ahead or behind → locks, waits and leases as ever',
    async (w) => {
      for (const offset of [60_000, -60_000]) {
        const clock = { ...systemClock, now: () => systemClock.now() + offset }
        const [odd, even] = [
          await w.connect(w.engine === 'memory' ? {} : { clock, watchdog: SHORT }),
          await w.connect(),
        ]
        const lock = make(odd, w.id)
        const hold = await lock.acquire()
        assert.ok(hold.remaining() > 0)
        assert.equal(await make(even, w.id).tryAcquire(), undefined)
        await w.pass(SHORT * 1.5)
        await held(w, hold)
        const begun = w.now()
        assert.equal(await make(even, w.id).tryAcquire({ wait: 200 }), undefined)
        assert.equal(await make(odd, w.id).tryAcquire({ wait: 200, owner: odd.owner() }), undefined)
        lasted(w, w.now() - begun, 400)
        assert.equal(await hold.release(), true)
        const leased = await lock.acquire({ lease: 2000 })
        assert.ok(leased.remaining() > 0 && leased.remaining() <= 2000)
        await w.pass(2050)
        assert.equal(leased.state, 'lost')
      }
    },
    'real clock',
  )
}
