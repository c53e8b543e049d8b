import assert from 'node:assert/strict'
import { BusyError, ClosedError, EngineError, LockLostError, NotInitializedError } from 'holdfast'
import type { Scenario } from '../../../support/engines.js'
import { SHORT, isBadArgument, isTimeout, lasted, rejection, timed, times, watch } from '../lock/kind.js'

const PERMANENT = '922337203685477'

/** Trust, renewal, the wire, limits, closing. */
export const permits = (scenario: Scenario): void => {
  scenario('on the wire → a count, and a sorted set by expiry in server time', async (w) => {
    const p = (await w.connect()).permitSemaphore(w.id)
    const timeouts = `{${w.id}}:timeout`
    await p.trySetPermits(3)
    const [forever, leased] = [await w.run(p.acquire()), await w.run(p.acquire({ lease: 60_000 }))]
    assert.equal(await w.raw('GET', w.id), '1')
    // In pairs, or not, as the protocol has it.
    const scores = ((await w.raw('ZRANGE', timeouts, 0, -1, 'WITHSCORES')) as unknown[]).flat().map(String)
    assert.equal(scores[3], PERMANENT)
    const [seconds] = (await w.raw('TIME')) as string[]
    const left = Number(scores[1]) - Number(seconds) * 1000
    assert.ok(left > 50_000 && left <= 61_000, String(left))
    assert.equal(forever.remaining(), Infinity)
    assert.ok(leased.remaining() <= 60_000)
    const heard = await w.messages(`redisson_sc:{${w.id}}`)
    await p.release([forever.id, leased.id])
    await w.eventually(() => heard.length === 1)
    assert.deepEqual(heard, ['3'])
    await p.delete()
  })

  scenario('as Redisson 3.16 → ids are kept as text; now → 16 bytes', async (w) => {
    const [old, now] = [await w.connect({ redisson: '3.16' }), await w.connect()]
    await old.permitSemaphore(w.id).trySetPermits(2)
    const permit = await w.run(old.permitSemaphore(w.id).acquire({ renew: true }))
    const timeouts = `{${w.id}}:timeout`
    assert.notEqual(await w.raw('ZSCORE', timeouts, permit.id), null)
    assert.equal(
      await old
        .permitSemaphore(w.id)
        .extend(permit.id, 5000)
        .catch(() => 'renewed'),
      'renewed',
    )
    assert.ok((await old.permitSemaphore(w.id).leaseTime(permit.id)) > 20_000)
    assert.equal(await w.run(permit.release()), true)
    const other = await w.run(now.permitSemaphore(w.id).acquire())
    assert.equal(await w.raw('ZSCORE', timeouts, other.id), null)
    assert.equal(await w.raw('ZCARD', timeouts), 1)
    assert.equal(await other.release(), true)
    await now.permitSemaphore(w.id).delete()
  })

  scenario('renewed → kept beyond its lease while the client lives; deleted → told at the next renewal', async (w) => {
    const client = await w.connect({ watchdog: SHORT })
    const p = client.permitSemaphore(w.id)
    await p.trySetPermits(2)
    const permit = await w.run(p.acquire({ renew: true }))
    const other = await w.run(p.acquire({ lease: SHORT }))
    await w.pass(2.2 * SHORT)
    await w.eventually(() => permit.state !== 'uncertain')
    assert.equal(permit.state, 'held')
    assert.equal(permit.signal.aborted, false)
    assert.equal(other.state, 'lost')
    assert.deepEqual([await p.available(), await p.acquired()], [1, 1])
    assert.ok((await rejection(permit.extend(5000))) instanceof RangeError)
    assert.ok((await rejection(p.extend(permit.id, 5000))) instanceof RangeError)
    let told: unknown
    client.on('lost', ({ error }) => (told = error))
    await w.raw('DEL', w.id, `{${w.id}}:timeout`)
    await w.eventually(() => permit.signal.aborted, 2 * SHORT)
    assert.equal(permit.lost, true)
    assert.ok(permit.signal.reason instanceof LockLostError)
    assert.equal(told, permit.signal.reason)
    assert.equal(await w.run(permit.release()), false)
  })

  scenario('a fixed lease → extended never less than it is; lost before the server gives it away', async (w) => {
    const p = (await w.connect()).permitSemaphore(w.id)
    await p.trySetPermits(2)
    const permit = await w.run(p.acquire({ lease: 3000 }))
    await permit.extend(500)
    assert.ok((await p.leaseTime(permit.id)) > 500, 'shortened')
    await permit.extend(6000)
    assert.ok(permit.remaining() > 5000 - w.slack)
    await permit.extend()
    await w.pass(3100)
    assert.equal(permit.state, 'held')
    const forever = await w.run(p.acquire())
    assert.ok((await rejection(forever.extend(5))) instanceof RangeError)
    assert.equal(await p.extend(forever.id, 1000), true)
    assert.ok(forever.remaining() <= 1000)
    let atLoss: unknown = 0
    forever.signal.addEventListener('abort', () => (atLoss = forever.state))
    await w.eventually(() => forever.signal.aborted, 3000)
    assert.equal(atLoss, 'lost')
    assert.ok((await rejection(forever.extend(5))) instanceof Error)
    const short = await w.run(p.acquire())
    assert.equal(await p.extend(short.id, 400), true)
    assert.deepEqual([short.state, short.remaining() > 0], ['held', true])
    await w.run(permit.release())
    await p.delete()
  })

  scenario('expired by hundreds → all are back by one question, and who waits for many has them', async (w) => {
    const p = (await w.connect()).permitSemaphore(w.id)
    // More than one step of the script takes, where the server is fast.
    const all = w.engine.startsWith('memory') ? 120 : 2500
    await p.trySetPermits(all)
    await w.run(p.acquireMany(all, { lease: 4000 }))
    assert.equal(await p.available(), 0)
    const many = await w.run(p.acquireMany(all, { wait: 60_000 }))
    assert.equal(await p.available(), 0)
    assert.equal(await p.tryRelease(many.map(({ id }) => id)), all)
    await p.delete()
  })

  scenario(
    'expired by thousands → each answer is right at once, and the count is whole for Redisson, too',
    async (w) => {
      const p = (await w.connect()).permitSemaphore(w.id)
      const timeouts = `{${w.id}}:timeout`
      // More than one step of the script takes back; and as many at once, where the server is fast.
      const [all, most] = [4500, w.engine.startsWith('memory') ? 50 : 2001]
      const total = async (): Promise<number> =>
        Number(await w.raw('GET', w.id)) + Number(await w.raw('ZCARD', timeouts))
      const lapse = async (): Promise<void> => {
        await w.raw('SET', w.id, 0)
        await w.raw('ZADD', timeouts, ...times(all, (i) => [i + 1, String(i).padStart(16)]).flat())
      }
      await lapse()
      assert.equal(await p.available(), all)
      assert.equal(await total(), all)
      await lapse()
      assert.equal(await p.acquired(), 0)
      await lapse()
      const many = await w.run(p.tryAcquireMany(most, { lease: 60_000 }))
      assert.equal(many.length, most)
      assert.ok(Number(await w.raw('GET', w.id)) >= 0)
      assert.equal(await total(), all)
      assert.deepEqual([await p.available(), await p.acquired()], [all - most, most])
      await p.release(many.map(({ id }) => id))
      assert.equal(await p.available(), all)
      await lapse()
      await p.setPermits(5)
      assert.deepEqual([await p.available(), await p.acquired(), await p.permits()], [5, 0, 5])
      assert.equal(await total(), 5)
      await lapse()
      const heard = await w.messages(`redisson_sc:{${w.id}}`)
      const last = await w.run(p.acquire())
      await w.eventually(() => heard.length === 1)
      assert.equal(heard[0], String(all - 1))
      await w.raw('DEL', w.id)
      assert.equal(await p.acquired(), 1)
      await last.release()
      await lapse()
      await w.raw('DEL', w.id)
      await p.setPermits(5)
      assert.deepEqual([await p.available(), await p.permits()], [5, 5])
      await p.delete()
    },
  )

  scenario('more permits expired than one step takes back, fewer are left → who waits is served', async (w) => {
    const p = (await w.connect()).permitSemaphore(w.id)
    await w.raw('SET', w.id, -4500)
    await w.raw('ZADD', `{${w.id}}:timeout`, ...times(4500, (i) => [i + 1, String(i).padStart(16)]).flat())
    assert.equal(await p.available(), 0)
    const waiting = p.acquire()
    await w.pass(100)
    await p.addPermits(1)
    await w.run((await w.run(waiting)).release())
    assert.deepEqual([await p.available(), await p.acquired()], [1, 0])
    assert.equal(await w.raw('GET', w.id), '1')
    await p.delete()
  })

  scenario('no permits are set → says so at the first answer, or `waitForSetup` is woken when they are', async (w) => {
    const [one, two] = [await w.connect(), await w.connect()]
    const p = one.permitSemaphore(w.id)
    for (const call of [() => p.acquireMany(1), () => p.acquireMany(2, { wait: 60_000 })]) {
      const error = await w.run(rejection(call()))
      assert.ok(error instanceof NotInitializedError, String(error))
    }
    assert.ok((await w.run(rejection(p.acquire({ wait: 0 })))) instanceof NotInitializedError)
    assert.equal(await w.run(p.tryAcquire()), undefined)
    assert.deepEqual(await w.run(p.tryAcquireMany(2, { wait: 100 })), [])
    const waiting = p.acquireMany(2, { waitForSetup: true })
    await w.pass(300)
    const { value, ms } = await timed(w, async () => {
      await two.permitSemaphore(w.id).trySetPermits(2)
      return waiting
    })
    lasted(w, ms, 0, 300)
    await p.release(value.map(({ id }) => id))
    await p.delete()
  })

  scenario(
    'more than there are in all → RangeError at once; a try is none; `waitForSetup` waits for more',
    async (w) => {
      const p = (await w.connect()).permitSemaphore(w.id)
      await p.trySetPermits(3)
      const [first] = await w.run(p.acquireMany(2))
      const { value, ms } = await timed(w, () => rejection(p.acquireMany(4)))
      assert.ok(value instanceof RangeError, String(value))
      assert.match(value.message, /count must be at most 3, all permits of '.*', not 4/)
      lasted(w, ms, 0)
      assert.deepEqual(await w.run(p.tryAcquireMany(4)), [])
      const waiting = p.acquireMany(4, { waitForSetup: true })
      const behind = rejection(p.acquireMany(5))
      assert.ok((await w.run(behind)) instanceof RangeError)
      await first?.release()
      await p.addPermits(2)
      assert.equal((await w.run(waiting)).length, 4)
      await p.delete()
    },
  )

  scenario('waiters of one process → in their order; abort, time limit, try → nothing taken', async (w) => {
    const p = (await w.connect()).permitSemaphore(w.id)
    await p.trySetPermits(0)
    const order: number[] = []
    const calls = [2, 1, 1].map((count, index) =>
      p.acquireMany(count).then(() => {
        order.push(index)
      }),
    )
    const controller = new AbortController()
    const aborted = rejection(p.acquire({ signal: controller.signal }))
    await w.pass(100)
    isTimeout(w.id)(await w.run(rejection(p.acquire({ wait: 200 }))))
    assert.equal(await w.run(p.tryAcquire()), undefined)
    controller.abort('enough')
    assert.equal(await w.run(aborted), 'enough')
    await p.addPermits(1)
    await w.pass(100)
    assert.deepEqual(order, [])
    await p.addPermits(2)
    await w.eventually(() => order.length === 2)
    await p.addPermits(1)
    await w.run(Promise.all(calls))
    assert.deepEqual(order, [0, 1, 2])
    assert.deepEqual([await p.available(), await p.acquired()], [0, 4])
    await p.delete()
  })

  scenario('G-19: closed → every permit given back and told; not where it was told to leave them', async (w) => {
    const [client, other] = [await w.connect(), await w.connect({ maxWaiters: 1 })]
    const p = client.permitSemaphore(w.id)
    await p.trySetPermits(3)
    const taken = [
      await w.run(p.acquire()),
      await w.run(p.acquire({ lease: 60_000 })),
      await w.run(p.acquire({ renew: true })),
    ]
    const pending = watch(rejection(p.acquire()))
    await w.pass(50)
    const { ms } = await timed(w, () => client.close())
    lasted(w, ms, 0, 1000)
    assert.ok((await pending.promise) instanceof ClosedError)
    for (const { signal } of taken) assert.ok(signal.reason instanceof ClosedError)
    const q = other.permitSemaphore(w.id)
    assert.deepEqual([await q.available(), await q.acquired()], [3, 0])
    await w.run(q.acquireMany(3, { lease: 60_000 }))
    const first = rejection(q.acquire())
    await w.pass(50)
    assert.ok((await w.run(rejection(q.acquire()))) instanceof BusyError)
    const calls = [
      () => p.acquire(),
      () => p.acquireMany(0),
      () => p.release([]),
      () => p.available(),
      () => p.delete(),
    ]
    for (const call of calls) assert.ok((await rejection(call())) instanceof ClosedError)
    await w.run(other.close({ release: false }))
    assert.ok((await first) instanceof ClosedError)
    assert.equal(await w.raw('ZCARD', `{${w.id}}:timeout`), 3)
    await w.raw('DEL', w.id, `{${w.id}}:timeout`)
  })

  scenario('G-05, G-15, G-23: arguments that cannot be, a foreign value → refused, nothing changed', async (w) => {
    const p = (await w.connect()).permitSemaphore(w.id)
    for (const bad of [-1, 1.5, NaN, Infinity, 2 ** 31, '2', null]) {
      const n = bad as number
      isBadArgument(await rejection(p.acquireMany(n)), 'count', bad)
      isBadArgument(await rejection(p.trySetPermits(n)), 'permits', bad)
      isBadArgument(await rejection(p.setPermits(n)), 'permits', bad)
    }
    isBadArgument(await rejection(p.acquireMany(10_001)), 'count', 10_001)
    const many = Array.from({ length: 10_001 }, () => '')
    isBadArgument(await rejection(p.tryRelease(many)), 'ids', 10_001)
    for (const bad of [0, -1, 1.5, Infinity, '5']) {
      isBadArgument(await rejection(p.acquire({ lease: bad as number })), 'lease', bad)
      isBadArgument(await rejection(p.extend('a', bad as number)), 'lease', bad)
    }
    isBadArgument(await rejection(p.acquire({ renew: 1 as never })), 'renew', 1)
    isBadArgument(await rejection(p.acquire({ wait: -1 })), 'wait', -1)
    for (const bad of [5, null, {}]) {
      assert.ok((await rejection(p.release(bad as never))) instanceof TypeError)
      assert.ok((await rejection(p.leaseTime(bad as never))) instanceof TypeError)
    }
    await w.raw('HSET', w.id, 'f', 1)
    for (const call of [() => p.acquire(), () => p.available()]) {
      const error = await w.run(rejection(call()))
      assert.ok(error instanceof EngineError && error.code === 'WRONG_KIND', String(error))
    }
    await w.raw('DEL', w.id)
  })
}
