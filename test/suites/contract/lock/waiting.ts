import assert from 'node:assert/strict'
import { BusyError, EngineError, MembersError } from 'holdfast'
import {
  exists,
  isName,
  isTimeout,
  lasted,
  pttl,
  rejection,
  releaseAll,
  timed,
  times,
  watch,
  held,
  SHORT,
} from './kind.js'
import type { Part } from './kind.js'

const LONGEST = [2 ** 31 - 1, 2 ** 31, 2 ** 32 + 5, Number.MAX_SAFE_INTEGER]

/** Waits, time limits, aborts, wake-ups and names. */
export const waiting: Part = ({ make, channel, keys }, scenario, excludes) => {
  scenario('G-06: a lease of 2^31 ms and more → refused clearly, or held and not lost at once', async (w) => {
    const client = await w.connect()
    for (const lease of LONGEST) {
      const name = `${w.id}:${lease}`
      const hold = await make(client, name)
        .acquire({ lease })
        .catch((error: unknown) => error)
      if (hold instanceof Error) {
        assert.ok(hold instanceof RangeError, String(hold))
        assert.equal(await exists(w, name), false)
        continue
      }
      await w.pass(50)
      const kept = hold as Awaited<ReturnType<ReturnType<typeof make>['acquire']>>
      await held(w, kept)
      assert.equal(kept.signal.aborted, false)
      assert.ok(kept.remaining() > 2_000_000_000)
      assert.ok((await pttl(w, name)) > 2_000_000_000)
      assert.equal(await kept.release(), true)
    }
  })

  excludes('G-06: a wait of 2^31 ms and more, or Infinity → waits, and has it in the end', async (w) => {
    const client = await w.connect()
    const lock = make(client, w.id)
    const hold = await lock.acquire()
    const waits = [...LONGEST, Infinity].map((wait) => watch(lock.acquire({ wait })))
    const tries = [...LONGEST, Infinity].map((wait) => watch(lock.tryAcquire({ wait })))
    await w.pass(60)
    for (const one of [...waits, ...tries]) assert.equal(one.settled, false)
    assert.equal(await hold.release(), true)
    const all = [...waits, ...tries].map(async (one) => (await one.promise)?.release())
    assert.deepEqual(
      await w.run(Promise.all(all)),
      times(10, () => true),
    )
  })

  excludes('G-07: no wait, `undefined` and 0 on a held lock → one try, nothing left behind', async (w) => {
    const [one, two] = [await w.connect(), await w.connect()]
    const hold = await make(one, w.id).acquire()
    for (const client of [one, two]) {
      const lock = make(client, w.id)
      for (const options of [undefined, {}, { wait: undefined }, { wait: 0 }]) {
        assert.equal(await lock.tryAcquire(options), undefined)
      }
      assert.ok(isTimeout(w.id)(await rejection(lock.acquire({ wait: 0 }))))
      const me = lock.for(client.owner())
      for (const wait of [undefined, -1, 0]) assert.equal(await me.tryLock(wait), false)
      assert.equal(await me.holdCount(), 0)
    }
    const channels = (await w.raw('PUBSUB', 'CHANNELS', '*')) as string[]
    assert.deepEqual(
      channels.filter((name) => name.includes(w.id)),
      [],
    )
    assert.equal((await make(one, w.id).inspect()).waiting.length, 0)
    assert.equal(await hold.release(), true)
    assert.equal(await make(two, w.id).for(two.owner()).tryLock(), true)
    assert.equal(await make(two, w.id).forceRelease(), true)
  })

  excludes(
    'G-08: a timed try on a held lock → undefined at its time, nothing left, the next one undisturbed',
    async (w) => {
      const [one, two] = [await w.connect(), await w.connect()]
      const hold = await make(one, w.id).acquire()
      for (const client of [one, two]) {
        const { value, ms } = await timed(w, () => make(client, w.id).tryAcquire({ wait: 300 }))
        assert.equal(value, undefined)
        lasted(w, ms, 300)
        const me = make(client, w.id).for(client.owner())
        const again = await timed(w, () => me.tryLock(200))
        assert.equal(again.value, false)
        lasted(w, again.ms, 200)
        assert.equal(await me.holdCount(), 0)
      }
      const next = make(two, w.id).acquire()
      await w.pass(20)
      const { value, ms } = await timed(w, () => hold.release().then(() => next))
      lasted(w, ms, 0, 300)
      assert.equal(await w.run(value.release()), true)
      await w.eventually(async () => ((await w.raw('PUBSUB', 'CHANNELS', channel(w.id))) as string[]).length === 0)
    },
  )

  scenario('a lock freed within the wait → had; OwnedLock’s `tryLock(wait, lease)` as well', async (w) => {
    const [one, two] = [await w.connect(), await w.connect()]
    const me = make(two, w.id).for(two.owner())
    const hold = await make(one, w.id).acquire()
    const trying = me.tryLock(20_000, 7000)
    await w.pass(100)
    assert.equal(await hold.release(), true)
    assert.equal(await w.run(trying), true)
    let left = 0
    // Who is granted it in a line confirms it behind its own back: for so long it has three seconds.
    await w.eventually(async () => (left = await me.remainTimeToLive()) > 6000 - w.slack, 2500)
    assert.ok(left <= 7000, String(left))
    assert.equal(await me.holdCount(), 1)
    await me.unlock()
    assert.equal(await me.tryLock(-1, -1), true)
    assert.ok((await me.remainTimeToLive()) > 20_000)
    await me.unlock()
    await me.lock(-1)
    assert.ok((await me.remainTimeToLive()) > 20_000)
    await me.unlock()
  })

  excludes('G-09: aborted while queued → the reason itself, at once; the others are still woken', async (w) => {
    const [one, two] = [await w.connect(), await w.connect()]
    const hold = await make(one, w.id).acquire()
    const patients: Promise<boolean>[] = []
    for (const client of [one, two]) {
      const lock = make(client, w.id)
      const reasons: unknown[] = [new Error('first'), 'text', { any: 'thing' }, 0]
      const controllers = reasons.map(() => new AbortController())
      const waits = controllers.map(({ signal }, index) =>
        index % 2 === 0 ? lock.acquire({ signal }) : lock.tryAcquire({ signal, wait: 30_000 }),
      )
      const patient = lock.acquire()
      await w.pass(60)
      const begun = w.now()
      const rejected = Promise.all(waits.map(rejection))
      controllers.forEach((controller, index) => {
        controller.abort(reasons[index])
      })
      assert.deepEqual(await w.run(rejected), reasons)
      lasted(w, w.now() - begun, 0, 100)
      const controller = new AbortController()
      const plain = lock.acquire({ signal: controller.signal })
      controller.abort()
      assert.equal(await rejection(w.run(plain)), controller.signal.reason)
      patients.push(patient.then((other) => other.release()))
    }
    assert.equal(await w.run(hold.release()), true)
    assert.deepEqual(await w.run(Promise.all(patients)), [true, true])
    assert.equal(await exists(w, w.id), false)
  })

  scenario('G-09: an already aborted signal → its reason, and nothing is taken', async (w) => {
    const client = await w.connect()
    const lock = make(client, w.id)
    const reason = new Error('beforehand')
    const signal = AbortSignal.abort(reason)
    const calls: (() => Promise<unknown>)[] = [
      () => lock.acquire({ signal }),
      () => lock.tryAcquire({ signal }),
      () => lock.tryAcquire({ signal, wait: 50 }),
      () => lock.using({ signal }, () => assert.fail('must not run')),
    ]
    for (const call of calls) assert.equal(await rejection(w.run(call())), reason)
    await w.pass(20)
    assert.equal(await exists(w, w.id), false)
  })

  scenario('an abort after the lock was had → changes nothing', async (w) => {
    const client = await w.connect()
    const controller = new AbortController()
    const hold = await make(client, w.id).acquire({ signal: controller.signal })
    controller.abort()
    await w.pass(100)
    await held(w, hold)
    assert.equal(await exists(w, w.id), true)
    assert.equal(hold.signal.aborted, false)
    assert.equal(await hold.release(), true)
  })

  excludes('AbortSignal.timeout while queued → a TimeoutError, nothing left', async (w) => {
    const [one, two] = [await w.connect(), await w.connect()]
    const hold = await make(one, w.id).acquire()
    const controller = new AbortController()
    const signal = w.virtual ? controller.signal : AbortSignal.timeout(100)
    const waiting = make(two, w.id).acquire({ signal })
    if (w.virtual) controller.abort(new DOMException('late', 'TimeoutError'))
    const error = await rejection(w.run(waiting))
    assert.ok(error instanceof DOMException && error.name === 'TimeoutError')
    assert.equal(error, signal.reason)
    assert.equal(await hold.release(), true)
  })

  scenario('G-10: aborts about the time of the grant → either held, or rejected and given back', async (w) => {
    const [one, two] = [await w.connect(), await w.connect()]
    const lock = make(two, w.id)
    for (let round = 0; round < 20; round += 1) {
      const hold = await w.run(make(one, w.id).acquire())
      const controller = new AbortController()
      const waiting = lock.acquire({ signal: controller.signal }).then(
        (other) => other,
        (error: unknown) => error,
      )
      await w.pass(5)
      const released = hold.release()
      await w.pass(round % 4)
      controller.abort('late')
      assert.equal(await w.run(released), true)
      const outcome = await w.run(waiting)
      if (outcome !== 'late') {
        assert.equal(await exists(w, w.id), true)
        await releaseAll(w, [outcome as typeof hold])
      }
      await w.eventually(async () => !(await exists(w, w.id)), 5000)
    }
  })

  excludes('G-17: doubled, useless and unreadable messages → exactly one gets in at a time', async (w) => {
    const clients = [await w.connect(), await w.connect()]
    const hold = await make(clients[0] as (typeof clients)[0], w.id).acquire()
    let inside = 0
    let most = 0
    const visit = async (client: (typeof clients)[0]): Promise<void> =>
      make(client, w.id).using(async () => {
        inside += 1
        most = Math.max(most, inside)
        await w.pause(10)
        inside -= 1
      })
    const all = clients.flatMap((client) => times(4, () => visit(client)))
    await w.pass(30)
    const noise = async (): Promise<void> => {
      for (const payload of ['0', '0', '1', '7', 'abc', '', '-1', '99999999999999999999']) {
        await w.raw('PUBLISH', channel(w.id), payload)
      }
    }
    await noise()
    await w.pass(50)
    assert.equal(inside, 0)
    assert.equal(await hold.release(), true)
    await noise()
    await w.run(Promise.all(all))
    assert.equal(most, 1)
    assert.equal(await exists(w, w.id), false)
  })

  excludes('a release → wakes the waiter of another client long before the lease ends', async (w) => {
    const [one, two] = [await w.connect(), await w.connect()]
    const waits: number[] = []
    for (let round = 0; round < 7; round += 1) {
      const hold = await w.run(make(one, w.id).acquire())
      const next = watch(make(two, w.id).acquire())
      await w.pass(100)
      assert.equal(next.settled, false)
      const { value, ms } = await timed(w, () => hold.release().then(() => next.promise))
      waits.push(ms)
      assert.equal(await w.run(value.release()), true)
    }
    waits.sort((a, b) => a - b)
    const soon = 600 + w.patience
    assert.ok((waits[3] ?? Infinity) < soon, `woken by a message, not by a poll: ${waits.join(' ')}`)
  })

  excludes('G-14: names of every sort → each a lock of its own, also when only braces differ', async (w) => {
    const [one, two] = [await w.connect(), await w.connect()]
    const id = w.id
    const sorts = [
      ' ',
      `${id}:a:b`,
      `/${id}/`,
      `a b ${id}`,
      `${id}\nline`,
      `*?[${id}]`,
      `🔒${id}é`,
      `${id}${'x'.repeat(65_000)}`,
    ]
    const braces = ['{t}x', '{}x', 'a{b', 'a}b{c}', '{a}{b}', 'tx', '{tx}', 't{x}', '{t}{x}', '}', '{', '{}'].map(
      (name) => `${name}${id}`,
    )
    const names = [...sorts, ...braces].map((name) => w.prefix + name).filter((name) => isName(w, name))
    const holds = await w.run(Promise.all(names.map((name) => make(one, name).acquire())))
    assert.equal(Number(await w.raw('EXISTS', ...names)), names.length)
    for (const [index, name] of names.entries()) {
      assert.equal(holds[index]?.name, name)
      assert.equal(await make(two, name).tryAcquire(), undefined)
    }
    const waits = names.map((name) => watch(make(two, name).acquire()))
    await w.pass(100)
    for (const [index, wait] of waits.entries()) {
      assert.equal(wait.settled, false, `${String(names[index]).slice(0, 40)} was had by two`)
      assert.equal(await w.run(holds[index]?.release() ?? Promise.resolve(false)), true)
      const hold = await w.run(wait.promise)
      assert.equal(await make(one, names[index] ?? '').isLocked(), true)
      assert.equal(await w.run(hold.release()), true)
      assert.equal(await make(one, names[index] ?? '').isLocked(), false)
    }
    assert.equal(Number(await w.raw('EXISTS', ...names)), 0)
  })

  scenario('G-15: a foreign value under the name → WRONG_KIND at once, the value untouched', async (w) => {
    const client = await w.connect()
    const lock = make(client, w.id)
    const values: [() => Promise<unknown>, () => Promise<unknown>, unknown][] = [
      [() => w.raw('SET', w.id, 'text'), () => w.raw('GET', w.id), 'text'],
      [() => w.raw('RPUSH', w.id, 'a', 'b'), () => w.raw('LRANGE', w.id, 0, -1), ['a', 'b']],
    ]
    for (const [write, read, value] of values) {
      await write()
      for (const call of [() => lock.acquire(), () => lock.acquire({ wait: 9000 }), () => lock.tryAcquire()]) {
        const begun = w.now()
        const met = await rejection(w.run(call()))
        const error = met instanceof MembersError ? met.errors[0]?.error : met
        lasted(w, w.now() - begun, 0, 500)
        assert.ok(error instanceof EngineError, String(error))
        assert.equal(error.code, 'WRONG_KIND')
        assert.ok(error.message.includes('wrong kind of value'), error.message)
        assert.deepEqual(await read(), value)
      }
      await w.raw('DEL', w.id)
    }
    // Other keys of the group, for all that it knows.
    if (keys !== undefined) return
    await w.raw('HSET', w.id, 'colour', 'blue')
    for (const call of [() => lock.tryAcquire(), () => lock.acquire({ wait: 9000 }), () => lock.isLocked()]) {
      const met = await rejection(w.run<unknown>(call()))
      const error = met instanceof MembersError ? met.errors[0]?.error : met
      assert.ok(error instanceof EngineError && error.code === 'WRONG_KIND', String(error))
      assert.match(error.message, /holds a hash of another program/)
    }
    assert.deepEqual(await w.raw('HGETALL', w.id), ['colour', 'blue'])
    await w.raw('DEL', w.id)
  })

  scenario('G-24: the script cache emptied at any time → nobody notices', async (w) => {
    const client = await w.connect({ watchdog: SHORT })
    const lock = make(client, w.id)
    await w.raw('SCRIPT', 'FLUSH')
    const hold = await lock.acquire()
    await w.raw('SCRIPT', 'FLUSH')
    await w.pass(SHORT * 1.4)
    await held(w, hold)
    await w.raw('SCRIPT', 'FLUSH')
    assert.equal((await lock.inspect()).holders.length, 1)
    const next = lock.acquire()
    await w.pass(20)
    await w.raw('SCRIPT', 'FLUSH')
    assert.equal(await w.run(hold.release()), true)
    const other = await w.run(next)
    await w.raw('SCRIPT', 'FLUSH')
    assert.equal(await lock.forceRelease(), true)
    assert.equal(await w.run(other.release()), false)
  })

  excludes('`maxWaiters` → the next waiting call rejects with BusyError, a try does not wait', async (w) => {
    const client = await w.connect({ maxWaiters: 2 })
    const [lock, other] = [make(client, w.id), make(client, `${w.id}:other`)]
    const holds = [await lock.acquire(), await other.acquire()]
    const controller = new AbortController()
    const leaving = lock.acquire({ signal: controller.signal })
    const staying = other.acquire()
    await w.pass(20)
    for (const call of [
      () => lock.acquire(),
      () => other.tryAcquire({ wait: 500 }),
      () => lock.using(() => undefined),
    ]) {
      const begun = w.now()
      const error = await rejection(w.run(call()))
      lasted(w, w.now() - begun, 0, 100)
      assert.ok(error instanceof BusyError, String(error))
      assert.equal(error.code, 'BUSY_CLIENT')
    }
    assert.equal(await lock.tryAcquire(), undefined)
    const free = await make(client, `${w.id}:free`).acquire()
    assert.equal(await free.release(), true)
    controller.abort('left')
    assert.equal(await rejection(w.run(leaving)), 'left')
    const instead = lock.acquire()
    await w.pass(20)
    await releaseAll(w, holds)
    await releaseAll(w, await w.run(Promise.all([staying, instead])))
  })
}
