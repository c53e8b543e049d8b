import assert from 'node:assert/strict'
import { BusyError, ClosedError, EngineError, NotInitializedError } from 'holdfast'
import type { Client, Scenario } from '../../../support/engines.js'
import { isBadArgument, isName, isTimeout, lasted, rejection, timed, times, watch } from '../lock/kind.js'

const channels = async (w: { raw(...argv: string[]): Promise<unknown>; id: string }): Promise<string[]> =>
  ((await w.raw('PUBSUB', 'CHANNELS', '*')) as string[]).filter((name) => name.includes(w.id))

/** Order, limits, aborts, closing. */
export const waiting = (scenario: Scenario): void => {
  scenario('waiters of one process → served in their order, also behind one that wants many', async (w) => {
    const client = await w.connect()
    const s = client.semaphore(w.id)
    const order: number[] = []
    const calls = [1, 3, 1, 2, 1].map((permits, index) =>
      s.acquire({ permits, waitForSetup: true }).then(() => {
        order.push(index)
      }),
    )
    await w.pass(100)
    await s.release(3)
    await w.eventually(() => order.length === 1)
    await w.pass(100)
    assert.deepEqual(order, [0], 'somebody went past the one that wants three')
    assert.equal(await s.available(), 2)
    await s.release(2)
    await w.eventually(() => order.length === 3)
    await s.release(3)
    await w.run(Promise.all(calls))
    assert.deepEqual(order, [0, 1, 2, 3, 4])
    assert.equal(await s.available(), 0)
    await w.raw('DEL', w.id)
  })

  scenario('no permits are set → acquire and using say so at the first answer, tryAcquire is false', async (w) => {
    const s = (await w.connect()).semaphore(w.id)
    for (const call of [
      () => s.acquire(),
      () => s.acquire({ permits: 3, wait: 60_000 }),
      () => s.acquire({ wait: 0 }),
      () => s.using(() => assert.fail('must not run')),
    ]) {
      const { value, ms } = await timed(w, () => rejection(call()))
      assert.ok(value instanceof NotInitializedError, String(value))
      assert.equal(value.target, w.id)
      lasted(w, ms, 0)
    }
    assert.equal(await w.run(s.tryAcquire()), false)
    assert.equal(await w.run(s.tryAcquire({ wait: 100 })), false)
    assert.equal(await w.raw('EXISTS', w.id), 0)
    isBadArgument(await rejection(s.acquire({ waitForSetup: 1 as never })), 'waitForSetup', 1)
    await s.trySetPermits(1)
    await w.run(s.acquire())
    const waiting = rejection(s.acquire())
    await w.pass(100)
    await s.delete()
    assert.ok((await w.run(waiting)) instanceof NotInitializedError, 'deleted while it waits')
  })

  scenario('no permits are set, `waitForSetup` → woken at once when somebody sets them', async (w) => {
    const [one, two] = [await w.connect(), await w.connect()]
    const s = one.semaphore(w.id)
    const used = s.using({ waitForSetup: true, permits: 2 }, () => 'used')
    const waiting = s.acquire({ waitForSetup: true })
    const without = rejection(s.acquire())
    await w.eventually(async () => (await channels(w)).length > 0)
    assert.ok((await w.run(without)) instanceof NotInitializedError)
    await w.pass(300)
    const { ms } = await timed(w, async () => {
      await two.semaphore(w.id).trySetPermits(3)
      assert.equal(await used, 'used')
      await waiting
    })
    lasted(w, ms, 0, 300)
    await w.eventually(async () => (await s.available()) === 2)
    await s.delete()
  })

  scenario('many at once, enough for all → had in few questions, not one after the other', async (w) => {
    const s = (await w.connect()).semaphore(w.id)
    await s.trySetPermits(250)
    await w.run(Promise.all(times(250, () => s.acquire())))
    assert.equal(await s.available(), 0)
    await s.release(3)
    const tries = await w.run(Promise.all(times(5, () => s.tryAcquire())))
    assert.deepEqual(tries, [true, true, true, false, false])
    await w.raw('DEL', w.id)
  })

  scenario('a single try behind hundreds who wait → answered at once', async (w) => {
    const s = (await w.connect()).semaphore(w.id)
    const waiting = times(250, () => s.acquire({ waitForSetup: true }))
    await w.pass(100)
    assert.equal(await w.run(s.tryAcquire()), false)
    await s.release(250)
    await w.run(Promise.all(waiting))
    await w.raw('DEL', w.id)
  })

  scenario('a single try while its process leaves the turn to others → answered at once', async (w) => {
    const [one, two] = [await w.connect(), await w.connect()]
    const s = one.semaphore(w.id)
    const patient = { permits: 2, waitForSetup: true }
    const waiting = [s.acquire(patient), two.semaphore(w.id).acquire(patient)]
    await w.pass(100)
    await s.release()
    const { value, ms } = await timed(w, () => s.tryAcquire())
    assert.equal(value, false)
    lasted(w, ms, 0)
    await s.release(3)
    await w.run(Promise.all(waiting))
    await w.raw('DEL', w.id)
  })

  scenario('more permits than Redisson can read → it is told the most that it can', async (w) => {
    const s = (await w.connect()).semaphore(w.id)
    await s.trySetPermits(2_147_483_647)
    const heard = await w.messages(`redisson_sc:{${w.id}}`)
    await s.release(5)
    await w.eventually(() => heard.length === 1)
    assert.deepEqual(heard, ['2147483647'])
    assert.equal(await s.available(), 2_147_483_652)
    await s.delete()
  })

  scenario('many clients wait, so many are given back → exactly so many go, the others are not lost', async (w) => {
    const clients = await Promise.all(times(5, () => w.connect()))
    await clients[0]?.semaphore(w.id).trySetPermits(0)
    const waits = clients.flatMap((client) => times(3, () => watch(client.semaphore(w.id).acquire())))
    await w.pass(200)
    let had = 0
    for (const some of [1, 4, 10]) {
      await clients[0]?.semaphore(w.id).release(some)
      had += some
      await w.eventually(() => waits.filter(({ settled }) => settled).length >= had)
      await w.pass(50)
      assert.equal(waits.filter(({ settled }) => settled).length, had)
    }
    await w.run(Promise.all(waits.map(({ promise }) => promise)))
    assert.equal(await clients[0]?.semaphore(w.id).available(), 0)
    await w.raw('DEL', w.id)
  })

  scenario('others take one at a time without a pause → who wants all of them has them all the same', async (w) => {
    const [big, ...small] = await Promise.all(times(3, () => w.connect()))
    await big?.semaphore(w.id).trySetPermits(4)
    let over = false
    let rounds = 0
    const busy = small.flatMap((client) =>
      times(6, async (index) => {
        await w.pause(7 * index)
        while (!over) {
          await client.semaphore(w.id).using(() => w.pause(40))
          rounds++
        }
      }),
    )
    await w.pass(300)
    const all = big?.semaphore(w.id).acquire({ permits: 4, wait: 30_000 })
    await w.run(all ?? Promise.resolve())
    over = true
    await big?.semaphore(w.id).release(4)
    await w.run(Promise.all(busy))
    assert.ok(rounds > 4, `the others had ${rounds} rounds`)
    assert.equal(await big?.semaphore(w.id).available(), 4)
    await w.raw('DEL', w.id)
  })

  scenario(
    'who stands first in the line and wants more than there are gives up → others have them at once',
    async (w) => {
      const [big, small] = [await w.connect(), await w.connect()]
      await big.semaphore(w.id).trySetPermits(2)
      const giving = new AbortController()
      const never = rejection(big.semaphore(w.id).acquire({ permits: 5, signal: giving.signal }))
      await w.eventually(async () => (await w.raw('EXISTS', `holdfast_permits_line:{${w.id}}`)) === 1)
      assert.equal(await small.semaphore(w.id).tryAcquire(), false, 'it comes first')
      const waiting = watch(small.semaphore(w.id).acquire())
      await w.pass(50)
      giving.abort('enough')
      assert.equal(await w.run(never), 'enough')
      const { ms } = await timed(w, () => waiting.promise)
      lasted(w, ms, 0, 700)
      assert.equal(await small.semaphore(w.id).available(), 1)
      await w.raw('DEL', w.id)
    },
  )

  scenario(
    'more than there are in all → waits for as long as it may; those behind it wait too, in its process and others, and then go',
    async (w) => {
      const [big, other] = [await w.connect(), await w.connect()]
      await big.semaphore(w.id).trySetPermits(3)
      const never = rejection(big.semaphore(w.id).acquire({ permits: 5, wait: 1500 }))
      await w.eventually(async () => (await w.raw('EXISTS', `holdfast_permits_line:{${w.id}}`)) === 1)
      const behind = [watch(big.semaphore(w.id).acquire()), watch(other.semaphore(w.id).acquire({ permits: 2 }))]
      await w.pass(900)
      assert.deepEqual(
        behind.map(({ settled }) => settled),
        [false, false],
      )
      assert.equal(await other.semaphore(w.id).available(), 3)
      isTimeout(w.id)(await w.run(never))
      const { ms } = await timed(w, () => Promise.all(behind.map(({ promise }) => promise)))
      lasted(w, ms, 0, 700)
      await w.raw('DEL', w.id)
    },
  )

  scenario('G-08: not had within the wait → false or AcquireTimeoutError at its time, nothing left', async (w) => {
    const client = await w.connect()
    const s = client.semaphore(w.id)
    await s.trySetPermits(1)
    const { value, ms } = await timed(w, () => s.tryAcquire({ permits: 2, wait: 300 }))
    assert.equal(value, false)
    lasted(w, ms, 300)
    const late = await timed(w, () => rejection(s.acquire({ permits: 2, wait: 300 })))
    isTimeout(w.id)(late.value)
    lasted(w, late.ms, 300)
    isTimeout(w.id)(await w.run(rejection(s.acquire({ permits: 2, wait: 0 }))))
    assert.equal(await s.available(), 1)
    await w.eventually(async () => (await channels(w)).length === 0)
    await s.delete()
  })

  scenario('G-09: aborted while waiting → the reason itself, at once; who is behind goes', async (w) => {
    const client = await w.connect()
    const s = client.semaphore(w.id)
    await s.trySetPermits(1)
    const controller = new AbortController()
    const big = rejection(s.acquire({ permits: 2, signal: controller.signal }))
    const behind = s.acquire()
    await w.pass(100)
    const reason = { any: 'thing' }
    controller.abort(reason)
    const { value, ms } = await timed(w, () => big)
    assert.equal(value, reason)
    lasted(w, ms, 0, 100)
    const next = await timed(w, () => behind)
    lasted(w, next.ms, 0, 200)
    assert.equal(await s.available(), 0)
    const sent = AbortSignal.abort('before')
    assert.equal(await rejection(s.acquire({ signal: sent })), 'before')
    assert.equal(await rejection(s.acquire({ permits: 0, signal: sent })), 'before')
    await s.delete()
  })

  scenario('the work fails or throws → its own error, the permits given back', async (w) => {
    const s = (await w.connect()).semaphore(w.id)
    await s.trySetPermits(3)
    const own = new Error('own')
    const work = async (): Promise<never> => {
      assert.equal(await s.available(), 1)
      throw own
    }
    assert.equal(await rejection(w.run(s.using({ permits: 2 }, work))), own)
    assert.equal(await s.available(), 3)
    const thrown = (): never => {
      throw own
    }
    assert.equal(await rejection(w.run(s.using(thrown))), own)
    assert.equal(await s.available(), 3)
    assert.equal(await w.run(s.using(() => 'done')), 'done')
    await s.delete()
    assert.equal(await w.run(watched(s, w.id)), 'deleted meanwhile')
    assert.equal(await s.available(), 0, 'given back to what was deleted')
    await w.raw('DEL', w.id)
  })

  const watched = async (s: ReturnType<Client['semaphore']>, _id: string): Promise<string> => {
    await s.trySetPermits(1)
    return s.using(async () => {
      await s.delete()
      return 'deleted meanwhile'
    })
  }

  scenario('G-19: closed → waiters rejected, what a `using` took given back, calls afterwards rejected', async (w) => {
    const [client, other] = [await w.connect(), await w.connect()]
    const s = client.semaphore(w.id)
    await s.trySetPermits(2)
    let leave: () => void = () => undefined
    const left = new Promise<void>((resolve) => (leave = resolve))
    const using = rejection(s.using({ permits: 2 }, () => left))
    await w.eventually(async () => (await other.semaphore(w.id).available()) === 0)
    const pending = [s.acquire(), s.tryAcquire({ wait: 30_000 }), s.using(() => 0)].map(rejection)
    await w.pass(50)
    const { ms } = await timed(w, async () => {
      const closing = client.close()
      for (const error of await Promise.all(pending)) assert.ok(error instanceof ClosedError, String(error))
      await closing
    })
    lasted(w, ms, 0, 1000)
    assert.equal(await other.semaphore(w.id).available(), 2)
    leave()
    assert.ok((await w.run(using)) instanceof ClosedError)
    assert.equal(await other.semaphore(w.id).available(), 2, 'given back twice')
    const calls = [
      () => s.acquire(),
      () => s.acquire({ permits: 0 }),
      () => s.tryAcquire(),
      () => s.release(),
      () => s.available(),
      () => s.delete(),
      () => s.expire(5),
      () => s.drain(),
    ]
    for (const call of calls) assert.ok((await rejection(call())) instanceof ClosedError)
    await w.raw('DEL', w.id)
  })

  scenario('as many wait as `maxWaiters` allows → BusyError; a try and who is served do not count', async (w) => {
    const client = await w.connect({ maxWaiters: 2 })
    const s = client.semaphore(w.id)
    await s.trySetPermits(0)
    const waits = times(2, () => s.acquire())
    await w.pass(100)
    for (const error of await w.run(Promise.all(times(2, () => rejection(s.acquire()))))) {
      assert.ok(error instanceof BusyError, String(error))
    }
    assert.equal(await s.tryAcquire(), false)
    await s.release(4)
    await w.run(Promise.all(waits))
    await w.run(s.acquire())
    assert.equal(await s.available(), 1)
    await s.delete()
  })

  scenario(
    'G-14, G-15: names of every sort, a foreign value under one → apart, or the server’s own word',
    async (w) => {
      const client = await w.connect()
      for (const sort of [' ', 'a:b', 'a b', '*?[', '😀', '{tag}x', `${w.id}}`]) {
        const name = w.prefix + sort
        if (!isName(w, name)) continue
        const s = client.semaphore(name)
        assert.equal(await s.trySetPermits(2), true, name)
        await w.run(s.acquire())
        await s.release()
        assert.equal(await s.available(), 2)
        assert.equal(await s.delete(), true)
      }
      assert.throws(() => client.semaphore(''), TypeError)
      await w.raw('HSET', w.id, 'f', 1)
      const hash = client.semaphore(w.id)
      for (const call of [() => hash.acquire(), () => hash.release(), () => hash.drain(), () => hash.available()]) {
        const error = await w.run(rejection(call()))
        assert.ok(error instanceof EngineError && error.code === 'WRONG_KIND', String(error))
      }
      assert.deepEqual(await w.raw('HGETALL', w.id), ['f', '1'])
      await w.raw('DEL', w.id)
      await w.raw('SET', w.id, 'text')
      const [p, latch] = [client.permitSemaphore(w.id), client.countDownLatch(w.id)]
      for (const call of [
        ...[() => hash.acquire(), () => hash.tryAcquire(), () => hash.release(), () => hash.drain()],
        ...[() => p.acquire(), () => p.available(), () => p.setPermits(2), () => latch.countDown()],
      ]) {
        const text = await w.run(rejection(call()))
        assert.ok(text instanceof EngineError && text.code === 'WRONG_KIND', String(text))
        assert.match(text.message, /not an integer|no count/)
      }
      for (const call of [() => hash.available(), () => latch.count(), () => latch.wait()]) {
        const text = await w.run(rejection(call()))
        assert.ok(text instanceof EngineError && text.message.includes('that is no count'), String(text))
      }
      assert.equal(await w.raw('GET', w.id), 'text')
      for (const text of ['-0', '007', '-01']) {
        await w.raw('SET', w.id, text)
        for (const call of [() => hash.available(), () => hash.tryAcquire(), () => latch.count(), () => p.available()])
          assert.equal(((await w.run(rejection(call()))) as EngineError).code, 'WRONG_KIND', text)
      }
      await w.raw('DEL', w.id)
    },
  )

  scenario('G-23: amounts, waits and signals that cannot be → refused by name and value', async (w) => {
    const s = (await w.connect()).semaphore(w.id)
    for (const bad of [-1, 1.5, NaN, Infinity, 2 ** 31, '2', 2n, null]) {
      const permits = bad as number
      for (const call of [
        () => s.acquire({ permits }),
        () => s.tryAcquire({ permits }),
        () => s.using({ permits }, () => assert.fail('must not run')),
        () => s.release(permits),
        () => s.releaseIfExists(permits),
        () => s.trySetPermits(permits),
      ])
        isBadArgument(await rejection(call()), 'permits', bad)
    }
    for (const bad of [1.5, NaN, -Infinity, '2']) {
      isBadArgument(await rejection(s.addPermits(bad as number)), 'permits', bad)
    }
    isBadArgument(await rejection(s.acquire({ wait: -1 })), 'wait', -1)
    isBadArgument(await rejection(s.trySetPermits(1, 0)), 'ttl', 0)
    isBadArgument(await rejection(s.expire(0)), 'ms', 0)
    assert.ok((await rejection(s.acquire({ signal: {} as never }))) instanceof TypeError)
    assert.ok((await rejection(s.using(undefined as never))) instanceof TypeError)
    assert.equal(await w.raw('EXISTS', w.id), 0)
  })
}
