import assert from 'node:assert/strict'
import { NotInitializedError } from 'holdfast'
import type { Scenario, World } from '../../../support/engines.js'
import { isBadArgument, lasted, pttl, rejection, timed, times } from '../lock/kind.js'
import { allowed } from './redisson.js'

const MINUTE = 60_000

const value = async (w: World): Promise<number> => Number(await w.raw('GET', `{${w.id}}:value`))

/** So many grants of 1 to 3 permits, one each ms from `from` on; how many permits those are. */
const fill = async (w: World, count: number, from: number): Promise<number> => {
  let sum = 0
  for (let first = 0; first < count; first += 1000) {
    const grants = times(Math.min(1000, count - first), (i) => {
      const permits = 1 + ((first + i) % 3)
      sum += permits
      return [from + first + i, `\x10${String(first + i).padStart(16, '0')}${String.fromCharCode(permits)}\0\0\0`]
    })
    await w.raw('ZADD', `{${w.id}}:permits`, ...grants.flat())
  }
  return sum
}

/** What Redisson's own do not tell: answers, bad arguments, and the two records of one thing that must agree. */
export const rates = (scenario: Scenario): void => {
  scenario('G-25: before a rate is set, or when it was deleted → NotInitializedError', async (w) => {
    const r = (await w.connect()).rateLimiter(w.id)
    const none = (error: unknown): boolean => {
      assert.ok(error instanceof NotInitializedError)
      assert.equal(error.code, 'NOT_INITIALIZED')
      assert.equal(error.target, w.id)
      return true
    }
    for (const call of [
      () => r.tryAcquire(),
      () => r.acquire(),
      () => r.tryAcquire({ wait: 1000 }),
      () => r.available(),
      () => r.release(),
    ]) {
      await assert.rejects(w.run<unknown>(call()), none)
    }
    await r.trySetRate({ permits: 1, interval: MINUTE })
    await w.run(r.acquire())
    const waiting = [rejection(r.acquire()), rejection(r.acquire())]
    await w.pass(100)
    await r.delete()
    for (const error of await w.run(Promise.all(waiting))) none(error)
  })

  scenario('before a rate is set, `waitForSetup` → waits, woken at once when somebody sets it', async (w) => {
    const [one, two] = [await w.connect(), await w.connect()]
    const r = one.rateLimiter(w.id)
    for (const set of ['trySetRate', 'setRate'] as const) {
      const waiting = r.acquire({ waitForSetup: true })
      const without = rejection(r.acquire())
      assert.ok((await w.run(without)) instanceof NotInitializedError)
      await w.pass(300)
      const { ms } = await timed(w, async () => {
        await two.rateLimiter(w.id)[set]({ permits: 1, interval: MINUTE })
        await waiting
      })
      lasted(w, ms, 0, 300)
      await r.delete()
    }
  })

  scenario('G-05, G-23: bad arguments → said before anything is sent', async (w) => {
    const client = await w.connect()
    const r = client.rateLimiter(w.id)
    const rate = { permits: 1, interval: 1000 }
    for (const bad of [0, -1, 1.5, NaN, Infinity, 2 ** 31, '1', null, 1n]) {
      const permits = bad as number
      for (const call of [
        () => r.trySetRate({ ...rate, permits }),
        () => r.setRate({ ...rate, permits }),
        () => r.tryAcquire({ permits }),
        () => r.acquire({ permits }),
      ]) {
        await assert.rejects(call, (error) => isBadArgument(error, 'permits', bad))
      }
    }
    for (const interval of [0, -1, 0.5, Infinity, '1000', undefined]) {
      const bad = { ...rate, interval: interval as number }
      await assert.rejects(r.updateRate(bad), (error) => isBadArgument(error, 'interval', interval))
    }
    const other = { ...rate, scope: 'all' as 'overall' }
    await assert.rejects(r.setRate(other), (error) => isBadArgument(error, 'scope', 'all'))
    await assert.rejects(r.setRate(null as never), (error) => isBadArgument(error, 'rate', 'null'))
    await assert.rejects(r.setRate({ ...rate, keepState: 1 as never }), (error) => isBadArgument(error, 'keepState', 1))
    assert.equal(await w.raw('EXISTS', w.id), 0)
  })

  scenario('the longest interval and keep-alive there can be → permits as ever', async (w) => {
    const r = (await w.connect()).rateLimiter(w.id)
    const rate = { permits: 2, interval: 2 ** 52, keepAlive: 2 ** 52 }
    for (const longest of [rate, { ...rate, interval: 10 ** 15 }]) {
      assert.equal(await r.trySetRate(longest), true)
      assert.deepEqual(await r.tryAcquire(), { allowed: true, remaining: 1, retryAfter: 0 })
      assert.equal(await r.available(), 1)
      await w.run(r.acquire())
      const refused = await r.tryAcquire()
      assert.ok(!refused.allowed && refused.retryAfter > longest.interval - MINUTE, `${refused.retryAfter}`)
      assert.equal((await rejection(r.acquire({ signal: AbortSignal.timeout(50) }))) instanceof Error, true)
      await r.delete()
    }
  })

  scenario('a try tells how many are left, and when there will be enough', async (w) => {
    const r = (await w.connect()).rateLimiter(w.id)
    await r.trySetRate({ permits: 5, interval: MINUTE })
    assert.deepEqual(await r.tryAcquire({ permits: 2 }), { allowed: true, remaining: 3, retryAfter: 0 })
    await w.pass(1000)
    assert.deepEqual(await r.tryAcquire({ permits: 2 }), { allowed: true, remaining: 1, retryAfter: 0 })
    await w.pass(1000)
    const about = (ms: number, expected: number): void =>
      assert.ok(ms <= expected && ms > expected - 500 - 2 * w.slack, `${ms}, not ${expected}`)
    // Two of the first call are missing, then those of the second as well.
    const two = await r.tryAcquire({ permits: 2 })
    about(two.retryAfter, MINUTE - 2000)
    const four = await r.tryAcquire({ permits: 4 })
    about(four.retryAfter, MINUTE - 1000)
    assert.ok(four.retryAfter > two.retryAfter + 500)
    assert.deepEqual([two.allowed, two.remaining, four.remaining], [false, 1, 1])
    await r.delete()
  })

  scenario('hundreds left the window at once → counted exactly, whatever each wanted', async (w) => {
    const r = (await w.connect()).rateLimiter(w.id)
    await r.trySetRate({ permits: 1000, interval: 6000 })
    await w.run(Promise.all(times(450, () => r.acquire({ permits: 2 }))))
    assert.equal(await r.available(), 100)
    await w.pass(6100)
    const first = await r.tryAcquire()
    assert.equal(first.allowed, true)
    assert.ok(first.remaining >= 449 && first.remaining <= 999, `${first.remaining}`)
    assert.equal(await allowed(r, 999), true)
    assert.equal(await r.available(), 0)
    await r.delete()
  })

  scenario('of single permits hundreds left the window at once → each try knows how many are left', async (w) => {
    const r = (await w.connect()).rateLimiter(w.id)
    await r.trySetRate({ permits: 450, interval: 6000 })
    await w.run(Promise.all(times(450, () => r.acquire())))
    await w.pass(6100)
    for (let left = 449; left > 440; left--) assert.equal((await r.tryAcquire()).remaining, left)
    await r.delete()
  })

  scenario('G-25: given back → not credited again when it would have left the window', async (w) => {
    const r = (await w.connect()).rateLimiter(w.id)
    await r.trySetRate({ permits: 10, interval: 8000 })
    await w.run(r.acquire({ permits: 6 }))
    await w.run(r.acquire({ permits: 4 }))
    await w.pass(4000)
    await r.release(10)
    assert.equal(await allowed(r, 10), true)
    await w.pass(4100)
    assert.equal(await allowed(r), false, 'the first ten came back twice')
    assert.equal(await r.available(), 0)
    await r.delete()
  })

  scenario('a part given back → the rest of that grant goes on counting', async (w) => {
    const r = (await w.connect()).rateLimiter(w.id)
    await r.trySetRate({ permits: 10, interval: 5000 })
    await w.run(r.acquire({ permits: 6 }))
    await r.release(4)
    assert.equal(await r.available(), 8)
    await w.pass(5100)
    assert.equal(await r.available(), 10)
    assert.equal(await w.raw('ZCARD', `{${w.id}}:permits`), 0)
    await r.delete()
  })

  scenario('one of the two records lost → the grants count, and nothing stands still for good', async (w) => {
    const r = (await w.connect()).rateLimiter(w.id)
    await r.trySetRate({ permits: 10, interval: MINUTE })
    await w.run(r.acquire({ permits: 7 }))
    await w.raw('DEL', `{${w.id}}:value`)
    assert.equal(await r.available(), 3)
    assert.equal(await allowed(r, 4), false)
    assert.equal(await value(w), 3)
    await w.raw('DEL', `{${w.id}}:permits`)
    assert.equal(await allowed(r, 4), true)
    assert.equal(await value(w), 6)
    // As after a release of Redisson's, which leaves the grants alone.
    await w.raw('SET', `{${w.id}}:value`, 14)
    assert.equal(await r.available(), 6)
    await r.delete()
  })

  scenario('thousands of grants left the window at once → in parts, all are counted by who wants all', async (w) => {
    const r = (await w.connect()).rateLimiter(w.id)
    await r.trySetRate({ permits: 20_000, interval: MINUTE })
    for (const call of ['available', 'take'] as const) {
      const sum = await fill(w, 6400, 1000)
      await w.raw('SET', `{${w.id}}:value`, 20_000 - sum)
      if (call === 'available') assert.equal(await w.run(r.available()), 20_000)
      else
        assert.deepEqual(await w.run(r.tryAcquire({ permits: 20_000 })), { allowed: true, remaining: 0, retryAfter: 0 })
    }
    assert.deepEqual([await value(w), await w.raw('ZCARD', `{${w.id}}:permits`)], [0, 1])
    await r.delete()
  })

  scenario('thousands of grants in the window, and its value says nothing → in parts, all are counted', async (w) => {
    const r = (await w.connect()).rateLimiter(w.id)
    await r.trySetRate({ permits: 20_000, interval: MINUTE })
    const [seconds] = (await w.raw('TIME')) as [string]
    const sum = await fill(w, 5300, Number(seconds) * 1000 - 20_000)
    // It is gone.
    assert.equal(await w.run(r.available()), 20_000 - sum)
    assert.equal(await value(w), 20_000 - sum)
    await w.raw('DEL', `{${w.id}}:value`)
    assert.deepEqual(await w.run(r.tryAcquire()), { allowed: true, remaining: 19_999 - sum, retryAfter: 0 })
    await w.raw('DEL', `{${w.id}}:value`)
    await w.run(r.acquire({ permits: 2 }))
    await w.raw('DEL', `{${w.id}}:value`)
    await w.run(r.release(1))
    assert.equal(await w.run(r.available()), 19_998 - sum)
    // Redisson gave permits back.
    await w.raw('SET', `{${w.id}}:value`, 20_001)
    assert.equal(await allowed(r), true)
    assert.equal(await value(w), 19_997 - sum)
    // Another rate.
    assert.equal(await w.run(r.updateRate({ permits: 21_000, interval: MINUTE, keepState: true })), true)
    assert.equal(await value(w), 20_997 - sum)
    await w.run(r.setRate({ permits: sum, interval: MINUTE, keepState: true }))
    assert.equal(await value(w), -3)
    const refused = await w.run(r.tryAcquire())
    assert.deepEqual([refused.allowed, refused.remaining], [false, 0])
    // Nothing of the count stays behind.
    assert.equal(await w.raw('HLEN', w.id), 4)
    await w.raw('DEL', `{${w.id}}:value`)
    await w.run(r.setRate({ permits: 5, interval: MINUTE }))
    assert.deepEqual([await w.run(r.available()), await w.raw('EXISTS', `{${w.id}}:permits`)], [5, 0])
    await r.delete()
  })

  scenario('a lower rate while more was granted → none until so many have left the window', async (w) => {
    const r = (await w.connect()).rateLimiter(w.id)
    await r.trySetRate({ permits: 8, interval: 8000 })
    for (let n = 0; n < 4; n++) await w.run(r.acquire())
    await w.pass(4000)
    for (let n = 0; n < 4; n++) await w.run(r.acquire())
    await r.updateRate({ permits: 4, interval: 8000, keepState: true })
    await w.pass(4100)
    assert.equal(await allowed(r), false, 'four of four are in the window')
    await w.pass(4100)
    assert.equal(await r.available(), 4)
    await r.delete()
  })

  scenario('each client for itself → a window each; what a client leaves behind goes', async (w) => {
    const [one, two] = [await w.connect(), await w.connect()]
    await one.rateLimiter(w.id).trySetRate({ permits: 2, interval: 3000, scope: 'client' })
    for (const client of [one, two]) {
      const r = client.rateLimiter(w.id)
      assert.equal(await allowed(r, 2), true)
      const own = `{${w.id}}:value:${client.id}`
      assert.ok((await pttl(w, own)) > 2000, 'it could go while it counts')
    }
    await w.pass(4100)
    assert.equal(await w.raw('DEL', w.id), 1)
  })

  scenario('no keep-alive any more → no expiry; one that was set otherwise stays', async (w) => {
    const r = (await w.connect()).rateLimiter(w.id)
    await r.trySetRate({ permits: 2, interval: 1000, keepAlive: MINUTE })
    await w.run(r.acquire())
    await r.setRate({ permits: 3, interval: 1000, keepState: true })
    for (const key of [w.id, `{${w.id}}:value`, `{${w.id}}:permits`]) assert.equal(await pttl(w, key), -1, key)
    await r.expire(MINUTE)
    await r.setRate({ permits: 2, interval: 1000 })
    assert.ok((await pttl(w, w.id)) > 0)
    await r.delete()
  })

  scenario('G-15: something else under the name → WRONG_KIND, untouched', async (w) => {
    const r = (await w.connect()).rateLimiter(w.id)
    await w.raw('SET', w.id, 'a text')
    for (const call of [() => r.tryAcquire(), () => r.acquire(), () => r.trySetRate({ permits: 1, interval: 1 })]) {
      await assert.rejects(w.run<unknown>(call()), { code: 'WRONG_KIND' })
    }
    assert.equal(await w.raw('GET', w.id), 'a text')
    await w.raw('DEL', w.id)
  })
}
