import assert from 'node:assert/strict'
import { BusyError, ClosedError } from 'holdfast'
import type { Scenario } from '../../../support/engines.js'
import { isTimeout, lasted, rejection, timed, times, watch } from '../lock/kind.js'
import { allowed } from './redisson.js'

const MINUTE = 60_000

/** Order, limits, aborts, wake-ups, closing. */
export const waiting = (scenario: Scenario): void => {
  scenario(
    'waiters of one process → in their order, also behind one that wants many; a try does not go past',
    async (w) => {
      const r = (await w.connect()).rateLimiter(w.id)
      await r.trySetRate({ permits: 6, interval: MINUTE })
      await w.run(r.acquire({ permits: 6 }))
      const order: number[] = []
      const calls = [1, 4, 1].map((permits, index) => r.acquire({ permits }).then(() => order.push(index)))
      await w.pass(100)
      await r.release(2)
      await w.eventually(() => order.length === 1)
      const { allowed: had, remaining } = await w.run(r.tryAcquire())
      assert.deepEqual({ had, remaining }, { had: false, remaining: 1 })
      assert.deepEqual(order, [0])
      await r.release(4)
      await w.run(Promise.all(calls))
      assert.deepEqual(order, [0, 1, 2])
      assert.equal(await r.available(), 0)
      await r.delete()
    },
  )

  scenario('permits given back by another client → whoever waits has them at once', async (w) => {
    const [one, two] = [await w.connect(), await w.connect()]
    const r = one.rateLimiter(w.id)
    await r.trySetRate({ permits: 3, interval: MINUTE })
    await w.run(r.acquire({ permits: 3 }))
    const waiter = watch(two.rateLimiter(w.id).acquire({ permits: 2 }))
    await w.pass(300)
    assert.equal(waiter.settled, false)
    const { ms } = await timed(w, () => r.release(2).then(() => waiter.promise))
    lasted(w, ms, 0, 300)
    await r.delete()
  })

  scenario('another rate → whoever waits is asked for at once', async (w) => {
    const [one, two] = [await w.connect(), await w.connect()]
    const r = one.rateLimiter(w.id)
    await r.trySetRate({ permits: 1, interval: MINUTE })
    await w.run(r.acquire())
    const waiter = two.rateLimiter(w.id).acquire()
    await w.pass(300)
    const { ms } = await timed(w, () => r.updateRate({ permits: 2, interval: MINUTE }).then(() => waiter))
    lasted(w, ms, 0, 300)
    await r.delete()
  })

  scenario('Redisson gives back without a word → found by asking', async (w) => {
    const r = (await w.connect()).rateLimiter(w.id)
    await r.trySetRate({ permits: 1, interval: MINUTE })
    await w.run(r.acquire())
    const waiter = r.acquire()
    await w.pass(200)
    await w.raw('SET', `{${w.id}}:value`, 1)
    const { ms } = await timed(w, () => waiter)
    lasted(w, ms, 0, 1200)
    await r.delete()
  })

  scenario('the window moves → had then, and not before', async (w) => {
    const [one, two] = [await w.connect(), await w.connect()]
    const r = one.rateLimiter(w.id)
    await r.trySetRate({ permits: 2, interval: 2500 })
    const { ms } = await timed(w, async () => {
      await r.acquire({ permits: 2 })
      await Promise.all([r.acquire(), two.rateLimiter(w.id).acquire()])
    })
    lasted(w, ms, 2500, 2600)
    await r.delete()
  })

  scenario('G-08: not had within the wait → AcquireTimeoutError, or told when there will be', async (w) => {
    const r = (await w.connect()).rateLimiter(w.id)
    await r.trySetRate({ permits: 2, interval: MINUTE })
    await w.run(r.acquire())
    const { value, ms } = await timed(w, () => r.tryAcquire({ permits: 2, wait: 300 }))
    lasted(w, ms, 300)
    assert.deepEqual([value.allowed, value.remaining], [false, 1])
    assert.ok(value.retryAfter > MINUTE - 5000 && value.retryAfter < MINUTE, String(value.retryAfter))
    await assert.rejects(w.run(r.acquire({ permits: 2, wait: 200 })), isTimeout(w.id))
    assert.equal(await r.available(), 1)
    await r.delete()
  })

  scenario('G-09: aborted → the signal’s reason, nothing taken; aborted before → nothing is sent', async (w) => {
    const r = (await w.connect()).rateLimiter(w.id)
    await r.trySetRate({ permits: 2, interval: MINUTE })
    await assert.rejects(r.tryAcquire({ signal: AbortSignal.abort('before') }), (error) => error === 'before')
    assert.equal(await w.raw('EXISTS', `{${w.id}}:value`), 0)
    await w.run(r.acquire({ permits: 2 }))
    const leaving = new AbortController()
    const [left, stays] = [rejection(r.acquire({ permits: 2, signal: leaving.signal })), watch(r.acquire())]
    await w.pass(100)
    await r.release(1)
    await w.pass(50)
    assert.equal(stays.settled, false)
    leaving.abort('enough')
    assert.equal(await w.run(left), 'enough')
    await w.run(stays.promise)
    assert.equal(await r.available(), 0)
    await r.delete()
  })

  scenario('G-10: aborted as it is granted → had, or given back, never both', async (w) => {
    const client = await w.connect()
    const r = client.rateLimiter(w.id)
    await r.trySetRate({ permits: 1000, interval: MINUTE })
    let had = 0
    const calls = times(100, async (index) => {
      const controller = new AbortController()
      const options = { permits: 1 + (index % 3), signal: controller.signal }
      const calling = (index % 2 === 0 ? r.acquire(options) : r.tryAcquire(options)).then(
        () => (had += options.permits),
        (reason: unknown) => assert.equal(reason, 'late'),
      )
      if (index % 3 > 0) await w.pause(index % 5)
      controller.abort('late')
      await calling
    })
    await w.run(Promise.all(calls))
    await w.eventually(async () => (await r.available()) === 1000 - had, 5000)
    await r.delete()
  })

  scenario('too many wait → BusyError; closed → ClosedError, and nothing is left', async (w) => {
    const client = await w.connect({ maxWaiters: 2 })
    const r = client.rateLimiter(w.id)
    await r.trySetRate({ permits: 1, interval: MINUTE })
    await w.run(r.acquire())
    const waits = [rejection(r.acquire()), rejection(r.acquire())]
    await w.pass(100)
    assert.ok((await w.run(rejection(r.acquire()))) instanceof BusyError)
    assert.equal(await allowed(r), false)
    await w.run(client.close())
    for (const error of await w.run(Promise.all(waits))) assert.ok(error instanceof ClosedError)
    for (const call of [
      () => r.acquire(),
      () => r.tryAcquire(),
      () => r.available(),
      () => r.rate(),
      () => r.release(),
    ])
      assert.ok((await rejection(call())) instanceof ClosedError)
    const other = await w.connect()
    await other.rateLimiter(w.id).delete()
  })

  scenario('hundreds at once → exactly so many as the rate; the others know for how long', async (w) => {
    const clients = await Promise.all(times(3, () => w.connect()))
    await clients[0]?.rateLimiter(w.id).trySetRate({ permits: 100, interval: MINUTE })
    const calls = clients.flatMap((client) => times(150, () => client.rateLimiter(w.id).tryAcquire()))
    const decisions = await w.run(Promise.all(calls))
    assert.equal(decisions.filter(({ allowed: had }) => had).length, 100)
    for (const { allowed: had, retryAfter } of decisions) assert.equal(retryAfter > MINUTE / 2, !had)
    assert.equal(await w.raw('ZCARD', `{${w.id}}:permits`), 100)
    await clients[0]?.rateLimiter(w.id).delete()
  })
}
