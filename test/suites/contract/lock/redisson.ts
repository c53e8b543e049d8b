import assert from 'node:assert/strict'
import {
  Inside,
  exists,
  fieldsOf,
  foreign,
  isNotOwner,
  isTimeout,
  lasted,
  pttl,
  rejection,
  SHORT,
  timed,
  times,
  watch,
  held,
} from './kind.js'
import type { Part } from './kind.js'

/** The lines of conformance.md that come from Redisson's own tests, for every kind of lock. */
export const redissonLines: Part = (kind, scenario, excludes) => {
  const { make, channel, fair = false, queues = false, patience, keys, mode, several = false } = kind
  excludes('L01: many tasks of two clients over 5 names → all done, no channel left', async (w) => {
    const clients = [await w.connect(), await w.connect()]
    let done = 0
    const inside = new Map<string, number>()
    let most = 0
    const worker = async (index: number): Promise<void> => {
      for (let round = 0; round < 12; round += 1) {
        const client = clients[(index + round) % 2]
        assert.ok(client !== undefined)
        const name = `${w.id}:${(index * 7 + round * 3) % 5}`
        const hold = await make(client, name).acquire()
        const now = (inside.get(name) ?? 0) + 1
        inside.set(name, now)
        most = Math.max(most, now)
        await w.pause((index + round) % 5)
        inside.set(name, now - 1)
        assert.equal(await hold.release(), true)
        done += 1
      }
    }
    await w.run(Promise.all(times(24, worker)))
    assert.equal(done, 288)
    assert.equal(most, 1)
    await w.eventually(async () => {
      const channels = (await w.raw('PUBSUB', 'CHANNELS', '*')) as string[]
      return channels.filter((name) => name.includes(w.id)).length === 0
    })
    for (const name of times(5, (i) => `${w.id}:${i}`)) assert.equal(await exists(w, name), false)
  })

  excludes('L02: two names waited on at once, twice → every try succeeds', async (w) => {
    const [one, two] = [await w.connect(), await w.connect()]
    let inside = 0
    for (const round of [1, 2]) {
      const attempt = async (client: typeof one, name: string): Promise<void> => {
        const hold = await make(client, name).tryAcquire({ wait: 5000 })
        assert.ok(hold !== undefined, `${name} was not had`)
        inside += 1
        assert.deepEqual(Object.values(await fieldsOf(w, name)), [1])
        await w.pause(20)
        assert.equal(await hold.release(), true)
      }
      const names = [1, 2].map((lock) => `${w.prefix}Lock${lock}_${round}:${w.id}`)
      await w.run(Promise.all(names.flatMap((name) => [attempt(one, name), attempt(two, name)])))
    }
    assert.equal(inside, 8)
  })

  scenario('L03 G-10: a try aborted on its way and nobody releases → gone, and not renewed', async (w) => {
    const client = await w.connect({ watchdog: SHORT })
    const cases = [0, 0, 1, 2, 5].map(async (delay, index) => {
      const name = `${w.id}:${index}`
      const controller = new AbortController()
      const reason = new Error('no longer wanted')
      const trying = make(client, name).tryAcquire({ signal: controller.signal })
      if (index > 0) await w.pause(delay)
      controller.abort(reason)
      try {
        const hold = await trying
        assert.ok(hold !== undefined && index > 0, 'an abort before any answer must reject')
        assert.equal(await hold.release(), true)
      } catch (error) {
        assert.equal(error, reason)
      }
      return name
    })
    const names = await w.run(Promise.all(cases))
    await w.pass(SHORT * 0.5)
    for (const name of names) assert.equal(await exists(w, name), false, 'gone long before its lease')
    await w.pass(SHORT)
    for (const name of names) assert.equal(await exists(w, name), false)
  })

  scenario('L06 G-08: held by a client that was shut down → a timed try is false after its wait', async (w) => {
    w.leavesKeys = true
    const [gone, client] = [await w.connect(), await w.connect()]
    const other = mode === undefined ? gone.lock(w.id) : gone.readWriteLock(w.id).write
    const hold = await (keys === undefined ? other : make(gone, w.id)).acquire()
    await w.run(gone.close({ release: false }))
    assert.equal(hold.remaining(), 0)
    const { value, ms } = await timed(w, () => make(client, w.id).tryAcquire({ wait: 600 }))
    assert.equal(value, undefined)
    lasted(w, ms, 600)
    assert.ok((await pttl(w, w.id)) > 20_000, 'the lease of 30 s runs on')
    assert.equal(await make(client, w.id).for(client.owner()).tryLock(), false)
  })

  excludes('L07: an acquire without a signal → no abort ends it', async (w) => {
    const client = await w.connect()
    const lock = make(client, w.id)
    const first = await lock.acquire()
    const controller = new AbortController()
    const second = watch(lock.acquire())
    await w.pass(50)
    controller.abort()
    await w.pass(250)
    assert.equal(second.settled, false)
    assert.equal(await w.run(first.release()), true)
    const hold = await w.run(second.promise)
    await held(w, hold)
    assert.equal(await w.run(hold.release()), true)
  })

  excludes('L08: forced open → not locked, seen from every lock object', async (w) => {
    const [one, two] = [await w.connect(), await w.connect()]
    const lock = make(one, w.id)
    await lock.acquire()
    assert.equal(await make(two, w.id).forceRelease(), true)
    for (const seen of [lock, make(one, w.id), make(two, w.id)]) assert.equal(await seen.isLocked(), false)
    assert.equal(await lock.forceRelease(), false, 'it was free')
    const other = `${w.id}:other`
    const told = await w.messages(channel(other))
    await make(one, other).acquire()
    const next = make(two, other).acquire()
    await w.pass(100)
    assert.equal(await make(one, other).forceRelease(), true)
    const { value, ms } = await timed(w, () => next)
    lasted(w, ms, 0, 300)
    assert.equal(await w.run(value.release()), true)
    if (fair || (patience !== undefined && !several)) assert.deepEqual(told, [], 'nobody was called')
    else await w.eventually(() => told.length === 2)
    assert.ok(told.every((payload) => payload === (kind.mode === 'write' ? '1' : '0')))
    const me = one.owner()
    await make(two, w.id).for(two.owner()).lock()
    assert.equal(await lock.for(me).forceUnlock(), true)
    assert.equal(await lock.for(me).forceUnlock(), false)
    assert.equal(await lock.isLocked(), false)
  })

  excludes('L09: a lease of 500 ms never released → the next is in at its end, the first has lost it', async (w) => {
    const [one, two, dead] = [await w.connect(), await w.connect(), await w.connect()]
    const me = make(one, w.id).for(one.owner())
    const left = `${w.id}:left`
    const begun = w.now()
    await make(dead, left).acquire({ lease: 500 })
    const leftBehind = dead.close({ release: false })
    await me.lock(500)
    const next = Promise.all([
      make(two, w.id).acquire(),
      make(two, left)
        .acquire()
        .then((hold) => ({ hold, at: w.now() })),
    ])
    await w.run(leftBehind)
    const [hold, other] = await w.run(next)
    lasted(w, other.at - begun, 500)
    assert.ok(isNotOwner(w.id)(await rejection(w.run(me.unlock()))))
    await held(w, hold)
    assert.equal(await w.run(hold.release()), true)
    assert.equal(await w.run(other.hold.release()), true)
  })

  scenario('L10: the time left is the lease, and the watchdog time without one', async (w) => {
    const client = await w.connect()
    const name = `${w.prefix}test-lock:${w.id}`
    const lock = make(client, name)
    const me = lock.for(client.owner())
    assert.equal(await me.remainTimeToLive(), -2)
    assert.equal(await lock.remaining(), undefined)
    await me.lock(3_600_000)
    for (const left of [await me.remainTimeToLive(), await lock.remaining()]) {
      assert.ok(left !== undefined && left <= 3_600_000 && left > 3_600_000 - 10 - w.slack, String(left))
    }
    await me.unlock()
    assert.equal(await me.remainTimeToLive(), -2)
    await me.lock()
    const left = await me.remainTimeToLive()
    assert.ok(left <= 30_000 && left > 29_990 - w.slack, String(left))
    await w.raw('PERSIST', name)
    assert.equal((await me.remainTimeToLive()) === -1, keys === undefined)
    await me.unlock()
  })

  scenario(
    'L12: a client without lease that lives past renewals and shuts down → free within the watchdog time',
    async (w) => {
      const [gone, client] = [await w.connect({ watchdog: SHORT }), await w.connect()]
      const lock = make(client, w.id)
      const hold = await make(gone, w.id).acquire()
      await w.pass(SHORT * 1.5)
      await held(w, hold)
      assert.equal(await lock.isLocked(), true, 'it was renewed')
      const { ms } = await timed(w, () => gone.close({ release: false }).then(() => lock.acquire()))
      lasted(w, ms, 0, SHORT)
      assert.equal(await lock.forceRelease(), true)
    },
  )

  scenario('L14 L16: another owner → sees it locked, and that it does not hold it', async (w) => {
    const [one, two] = [await w.connect(), await w.connect()]
    const mine = make(one, w.id).for(one.owner())
    const others = [make(one, w.id).for(one.owner()), make(two, w.id).for(two.owner())]
    await mine.lock()
    for (const other of others) {
      assert.equal(await other.isLocked(), true)
      assert.equal(await other.isHeld(), false)
      assert.equal(await other.holdCount(), 0)
    }
    await mine.unlock()
    for (const other of others) {
      assert.equal(await other.isLocked(), false)
      assert.equal(await other.isHeld(), false)
    }
  })

  scenario('X02: two owners of one client, one after the other → held by each while it has it', async (w) => {
    const client = await w.connect()
    const [first, second] = [client.owner(), client.owner()]
    const heldBy = (): Promise<boolean[]> =>
      Promise.all([first, second].map((owner) => make(client, w.id).for(owner).isHeld()))
    for (const [owner, held] of [
      [first, [true, false]],
      [second, [false, true]],
    ] as const) {
      assert.equal(await make(client, w.id).for(owner).tryLock(), true)
      assert.deepEqual(await heldBy(), held)
      await make(client, w.id).for(owner).unlock()
      assert.deepEqual(await heldBy(), [false, false])
    }
  })

  scenario('L15 L18 L20: locked and held by me are false, true, false around lock and unlock, twice', async (w) => {
    const client = await w.connect()
    const lock = make(client, w.id)
    const me = lock.for(client.owner())
    for (const held of [false, true, false, true, false]) {
      assert.equal(await me.isHeld(), held)
      assert.equal(await me.isLocked(), held)
      assert.equal(await lock.isLocked(), held)
      assert.equal(await exists(w, w.id), held)
      await (held ? me.unlock() : me.lock())
    }
    await me.unlock()
    assert.equal(await exists(w, w.id), false)
  })

  scenario('L19 G-12: unlocked by another owner → NotOwnerError, and nothing has changed', async (w) => {
    const client = await w.connect({ watchdog: SHORT })
    const lock = make(client, w.id)
    const [mine, other] = [lock.for(client.owner()), lock.for(client.owner())]
    const told = await w.messages(channel(w.id))
    await mine.lock()
    const before = await w.raw('HGETALL', w.id)
    await w.pass(200)
    const left = await pttl(w, w.id)
    assert.ok(isNotOwner(w.id)(await rejection(w.run(other.unlock()))))
    assert.deepEqual(await w.raw('HGETALL', w.id), before)
    assert.ok((await pttl(w, w.id)) <= Math.max(left, SHORT))
    assert.deepEqual(told, [])
    await w.pass(SHORT * 1.6)
    assert.equal(await mine.isHeld(), true, 'the renewal of the holder goes on')
    assert.equal(await mine.holdCount(), 1)
    await mine.unlock()
    assert.equal(await lock.isLocked(), false)
  })

  scenario('L22: taken just as another releases → renewed like any other, past 1.5 × the watchdog time', async (w) => {
    const [one, two] = [await w.connect({ watchdog: SHORT }), await w.connect({ watchdog: SHORT })]
    const names = times(6, (i) => `${w.id}:${i}`)
    const churn = async (name: string): Promise<void> => {
      const lock = make(one, name)
      await Promise.all(
        times(16, async () => {
          for (let round = 0; round < 6; round += 1) {
            const hold = await lock.tryAcquire()
            if (hold !== undefined) assert.equal(await hold.release(), true)
          }
        }),
      )
    }
    await w.run(Promise.all(names.map(churn)))
    const holds = await w.run(
      Promise.all(
        names.map(async (name, index) => {
          const first = await make(one, name).acquire()
          const next = make(index % 2 === 0 ? one : two, name).acquire()
          await w.pause(10)
          assert.equal(await first.release(), true)
          return next
        }),
      ),
    )
    await w.pass(SHORT * 1.6)
    for (const hold of holds) {
      await held(w, hold)
      assert.equal(await exists(w, hold.name), true)
      assert.equal(await w.run(hold.release()), true)
    }
  })

  for (const { id, clients, tasks, rounds, ms } of [
    { id: 'L23: 15 tasks of one client', clients: 1, tasks: 15, rounds: 1, ms: 3 },
    { id: 'L24: 8 clients × 12 rounds', clients: 8, tasks: 8, rounds: 12, ms: 2 },
    { id: 'L25: 25 clients × 1 round', clients: 25, tasks: 25, rounds: 1, ms: 2 },
    { id: 'G-01: 2 clients × 8 owners × 10 rounds', clients: 2, tasks: 16, rounds: 10, ms: 1 },
  ]) {
    excludes(`${id} → one inside at a time, no update lost`, async (w) => {
      const all = await Promise.all(times(clients, () => w.connect()))
      const inside = new Inside(w, `counter:${w.id}`)
      // Without messages each hand-over in a line takes a poll.
      const turns = (fair || queues) && w.patience > 0 ? Math.min(rounds, 2) : rounds
      const task = async (index: number): Promise<void> => {
        const client = all[index % clients]
        assert.ok(client !== undefined)
        const lock = make(client, w.id)
        for (let round = 0; round < turns; round += 1) await lock.using(() => inside.visit(ms))
      }
      await w.run(Promise.all(times(tasks, task)))
      await inside.check(tasks * turns)
    })
  }

  scenario('E03: all data gone while held → told, not re-created; a later hold is renewed as ever', async (w) => {
    const client = await w.connect({ watchdog: SHORT })
    const lock = make(client, w.id)
    const me = lock.for(client.owner())
    const hold = await make(client, `${w.id}:hold`).acquire()
    await me.lock()
    await w.raw('DEL', w.id, `${w.id}:hold`)
    await w.pass(SHORT * 1.2)
    assert.equal(hold.lost, true)
    assert.equal(await exists(w, w.id), false)
    assert.equal(await w.run(hold.release()), false)
    assert.ok(isNotOwner(w.id)(await rejection(w.run(me.unlock()))))
    for (let round = 0; round < 2; round += 1) {
      const next = await lock.acquire()
      await w.pass(SHORT * 1.5)
      await held(w, next)
      assert.equal(await w.run(next.release()), true)
    }
  })

  excludes('N01: a contending owner → waits, and has it after the release', async (w) => {
    const [one, two] = [await w.connect(), await w.connect()]
    for (const client of [one, two]) {
      const hold = await make(one, w.id).acquire()
      const next = watch(make(client, w.id).acquire())
      await w.pass(300)
      assert.equal(next.settled, false)
      const { value, ms } = await timed(w, () => hold.release().then(() => next.promise))
      lasted(w, ms, 0, 5000 - w.slack)
      assert.equal(await w.run(value.release()), true)
      assert.equal(await make(one, w.id).isLocked(), false)
    }
  })

  excludes(
    'G-08: a timed acquire on a held lock → AcquireTimeoutError at its time, and nobody else is disturbed',
    async (w) => {
      const [one, two] = [await w.connect(), await w.connect()]
      const hold = await make(one, w.id).acquire()
      const begun = w.now()
      const patient = make(two, w.id).acquire()
      const error = await rejection(w.run(make(two, w.id).acquire({ wait: 300 })))
      lasted(w, w.now() - begun, 300)
      assert.ok(isTimeout(w.id)(error))
      assert.ok(String(error).includes('300'))
      const { holders } = await make(one, w.id).inspect()
      assert.deepEqual(
        holders.map((holder) => holder.count),
        [1],
      )
      assert.equal(await w.run(hold.release()), true)
      assert.equal(await w.run((await w.run(patient)).release()), true)
    },
  )

  excludes(
    'G-16: deleted, persisted, shortened or freed without a message → the waiter is in at the next poll',
    async (w) => {
      const [one, two] = [await w.connect(), await w.connect()]
      const mend: readonly ((name: string) => Promise<unknown>)[] = [
        (name) => w.raw('DEL', name),
        (name) => w.raw('PERSIST', name).then(() => w.raw('DEL', name)),
        (name) => w.raw('PEXPIRE', name, 100),
      ]
      const waits = mend.map(async (change, index) => {
        const name = `${w.id}:${index}`
        await foreign(kind, w, name, 60_000)
        const waiting = watch(make(index % 2 === 0 ? one : two, name).acquire())
        await w.pause(300)
        assert.equal(waiting.settled, false)
        const begun = w.now()
        await change(name)
        const hold = await waiting.promise
        lasted(w, w.now() - begun, 0, 2500)
        assert.equal(await hold.release(), true)
      })
      await w.run(Promise.all(waits))
    },
  )

  scenario(
    'G-16: this client’s own hold forced open by another → its next callers are in at the next poll',
    async (w) => {
      const [one, two] = [await w.connect(), await w.connect()]
      const names = [w.id, `${w.id}:taken`]
      const stale = await w.run(Promise.all(names.map((name) => make(one, name).acquire())))
      for (const name of names) assert.equal(await make(two, name).forceRelease(), true)
      const between = await make(two, `${w.id}:taken`).acquire()
      const free = await timed(w, () => make(one, w.id).acquire())
      lasted(w, free.ms, 0, 2500)
      const waiting = make(one, `${w.id}:taken`).acquire()
      await w.pass(100)
      const taken = await timed(w, () => between.release().then(() => waiting))
      lasted(w, taken.ms, 0, 2500)
      for (const hold of [free.value, taken.value]) assert.equal(await w.run(hold.release()), true)
      for (const hold of stale) assert.equal(await w.run(hold.release()), false)
    },
  )

  // Keys of a group have ends of their own.
  if (keys !== undefined) return

  scenario('G-16: a lock without expiry → the waiter asks again, and is in when it goes', async (w) => {
    const client = await w.connect()
    const held = mode === undefined ? ['foreign:1', 1] : ['foreign:1:write', 1, 'mode', 'write']
    await w.raw('HSET', w.id, ...held)
    const waiting = watch(make(client, w.id).acquire())
    await w.pass(400)
    assert.equal(waiting.settled, false)
    const state = await make(client, w.id).inspect()
    assert.equal(state.remaining, Infinity)
    await w.raw('DEL', w.id)
    const { value, ms } = await timed(w, () => waiting.promise)
    lasted(w, ms, 0, 2500)
    assert.equal(await w.run(value.release()), true)
  })
}
