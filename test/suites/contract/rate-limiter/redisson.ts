import assert from 'node:assert/strict'
import type { RateLimiter } from 'holdfast'
import type { Scenario, World } from '../../../support/engines.js'
import { lasted, pttl, timed, times } from '../lock/kind.js'

export const allowed = async (r: RateLimiter, permits?: number): Promise<boolean> =>
  (await r.tryAcquire({ permits })).allowed

/** Of these calls, one after the other. */
const each = async (r: RateLimiter, count: number): Promise<boolean[]> => {
  const seen: boolean[] = []
  for (let n = 0; n < count; n++) seen.push(await allowed(r))
  return seen
}

const all = (count: number, value: boolean): boolean[] => times(count, () => value)

export const keysOf = async (w: World): Promise<string[]> =>
  ((await w.raw('KEYS', '*')) as string[]).filter((key) => !key.startsWith('holdfast_')).sort()

/** Without those that tell of clients. */
const stateKeys = async (w: World): Promise<string[]> =>
  (await keysOf(w)).filter((key) => !key.startsWith('holdfast:client:'))

/** Redisson's own tests of its rate limiter. */
export const redissonLines = (scenario: Scenario): void => {
  scenario('RL01: kept alive by tries alone', async (w) => {
    const r = (await w.connect()).rateLimiter(w.id)
    assert.equal(await r.trySetRate({ permits: 1, interval: 1000, keepAlive: 2500 }), true)
    assert.equal(await allowed(r), true)
    await w.pass(2600)
    assert.deepEqual(await stateKeys(w), [])
    assert.equal(await r.trySetRate({ permits: 10, interval: 2000, keepAlive: 60_000 }), true)
    await w.pass(3000)
    assert.equal(await r.available(), 10)
    assert.ok((await pttl(w, w.id)) <= 57_000, 'looking kept it alive')
    assert.equal(await allowed(r), true)
    for (const key of await stateKeys(w)) assert.ok((await pttl(w, key)) > 57_000, key)
    assert.equal((await stateKeys(w)).length, 3)
    await r.delete()
  })

  scenario('RL02, RL04: with an expiry → all keys go, those that come later too', async (w) => {
    const r = (await w.connect()).rateLimiter(w.id)
    await r.trySetRate({ permits: 5, interval: 5000 })
    assert.equal(await r.clearExpire(), false)
    assert.equal(await r.expire(4000), true)
    await w.run(r.acquire())
    for (const key of await stateKeys(w)) assert.ok((await pttl(w, key)) > 0, key)
    await w.pass(4100)
    assert.deepEqual(await stateKeys(w), [])
    assert.equal(await r.expire(1500), false)
    await r.trySetRate({ permits: 2, interval: 5000 })
    await allowed(r)
    assert.equal(await r.expire(60_000), true)
    assert.equal(await r.clearExpire(), true)
    for (const key of await stateKeys(w)) assert.equal(await pttl(w, key), -1, key)
    await r.expire(300)
    await w.pass(400)
    assert.deepEqual(await stateKeys(w), [])
  })

  scenario('RL05: the window slides, each permit comes back by itself', async (w) => {
    const r = (await w.connect()).rateLimiter(w.id)
    await r.trySetRate({ permits: 2, interval: 5000 })
    assert.equal(await allowed(r), true)
    await w.pass(4000)
    assert.equal(await allowed(r), true)
    await w.pass(1050)
    assert.equal(await allowed(r), true)
    assert.equal(await allowed(r), false)
    await r.delete()
  })

  scenario('RL06, RL08: a rate that is set stays, unless it is set by force', async (w) => {
    const r = (await w.connect()).rateLimiter(w.id)
    assert.equal(await r.rate(), undefined)
    assert.equal(await r.trySetRate({ permits: 1, interval: 5000 }), true)
    assert.deepEqual(await r.rate(), { permits: 1, interval: 5000, scope: 'overall' })
    assert.equal(await r.trySetRate({ permits: 2, interval: 5000 }), false)
    assert.deepEqual(await r.rate(), { permits: 1, interval: 5000, scope: 'overall' })
    await r.setRate({ permits: 2, interval: 5000, scope: 'client', keepAlive: 60_000 })
    assert.deepEqual(await r.rate(), { permits: 2, interval: 5000, scope: 'client', keepAlive: 60_000 })
    await r.delete()
  })

  scenario('RL07, RL26: what left the window is there again', async (w) => {
    const r = (await w.connect()).rateLimiter(w.id)
    await r.trySetRate({ permits: 10, interval: 1000 })
    assert.equal(await r.available(), 10)
    await w.run(r.acquire({ permits: 8 }))
    await w.pass(1100)
    assert.equal(await r.available(), 10)
    await w.run(r.acquire({ permits: 8 }))
    await w.pass(1100)
    assert.equal(await r.updateRate({ permits: 10, interval: 1000 }), true)
    assert.equal(await r.available(), 10)
    await r.delete()
  })

  scenario('RL09: more than the rate → RangeError; a try of one is had', async (w) => {
    const r = (await w.connect()).rateLimiter(w.id)
    await r.trySetRate({ permits: 1, interval: 60_000, scope: 'client' })
    const exceeds = { name: 'RangeError', message: `permits must be at most 1, the rate of '${w.id}', not 20` }
    await assert.rejects(w.run(r.tryAcquire({ permits: 20 })), exceeds)
    await assert.rejects(w.run(r.acquire({ permits: 20 })), exceeds)
    await assert.rejects(w.run(r.tryAcquire({ permits: 20, wait: 1000 })), exceeds)
    assert.equal(await allowed(r), true)
    await r.delete()
  })

  scenario('RL10, RL13: so many in each round, and no more', async (w) => {
    const r = (await w.connect()).rateLimiter(w.id)
    assert.equal(await r.trySetRate({ permits: 5, interval: 4000 }), true)
    assert.equal(await r.trySetRate({ permits: 20, interval: 1000 }), false)
    for (let round = 0; round < 2; round++) {
      assert.equal(await r.available(), 5)
      assert.deepEqual(await each(r, 2), all(2, true))
      assert.equal(await r.available(), 3)
      assert.deepEqual(await each(r, 3), all(3, true))
      assert.equal(await r.available(), 0)
      assert.deepEqual(await each(r, 5), all(5, false))
      await w.pass(4100)
    }
    await r.delete()
  })

  scenario('RL11: a try that waits → had at once, or not in its time', async (w) => {
    const r = (await w.connect()).rateLimiter(w.id)
    await r.trySetRate({ permits: 1, interval: 30_000 })
    assert.equal((await w.run(r.tryAcquire({ wait: 1000 }))).allowed, true)
    const { value, ms } = await timed(w, () => r.tryAcquire({ wait: 500 }))
    assert.equal(value.allowed, false)
    lasted(w, ms, 500)
    assert.equal(await allowed(r), false)
    await r.delete()
  })

  scenario('RL12: those who wait → one in each interval', async (w) => {
    const r = (await w.connect()).rateLimiter(w.id)
    await r.trySetRate({ permits: 1, interval: 500 })
    const { ms } = await timed(w, () => Promise.all(times(5, () => r.acquire())))
    lasted(w, ms, 2000, 2200)
    await r.delete()
  })

  scenario('RL14: one key until it is used; none when it was deleted', async (w) => {
    const r = (await w.connect()).rateLimiter(w.id)
    assert.equal(await r.delete(), false)
    await r.trySetRate({ permits: 5, interval: 300_000 })
    assert.deepEqual(await stateKeys(w), [w.id])
    assert.equal(await r.available(), 5)
    assert.deepEqual(await stateKeys(w), [w.id], 'looking wrote something')
    await allowed(r)
    assert.deepEqual(await stateKeys(w), [w.id, `{${w.id}}:permits`, `{${w.id}}:value`].sort())
    assert.equal(await r.delete(), true)
    assert.deepEqual(await stateKeys(w), [])
  })

  scenario('RL17: another rate by force → begins anew', async (w) => {
    const r = (await w.connect()).rateLimiter(w.id)
    const interval = 60_000
    for (const scope of ['client', 'overall'] as const) {
      for (const permits of [10, 20]) {
        await r.setRate({ permits, interval, scope })
        await w.run(r.acquire())
        assert.equal(await r.available(), permits - 1)
      }
    }
    await r.delete()
  })

  scenario('RL18, RL19, RL20: set by force → keeps what was used only when told to', async (w) => {
    const r = (await w.connect()).rateLimiter(w.id)
    await r.setRate({ permits: 10, interval: 4000, keepState: true })
    for (let round = 0; round < 2; round++) {
      await w.run(r.acquire({ permits: 3 }))
      assert.equal(await r.available(), 7)
      await w.pass(4100)
    }
    await r.setRate({ permits: 10, interval: 60_000 })
    await w.run(r.acquire({ permits: 3 }))
    await r.setRate({ permits: 20, interval: 60_000, keepState: true })
    assert.equal(await r.available(), 17)
    await r.setRate({ permits: 20, interval: 60_000, keepState: false })
    assert.equal(await r.available(), 20)
    await r.delete()
  })

  scenario('RL21: a rate is changed only where there is one', async (w) => {
    const r = (await w.connect()).rateLimiter(w.id)
    assert.equal(await r.updateRate({ permits: 1, interval: 1000 }), false)
    assert.equal(await r.updateRate({ permits: 1, interval: 1000, scope: 'client' }), false)
    assert.deepEqual(await stateKeys(w), [])
  })

  scenario(
    'RL22, RL23, RL24, RL25: a changed rate → what was used of the old one is used of the new one',
    async (w) => {
      const r = (await w.connect()).rateLimiter(w.id)
      const interval = 60_000
      const fresh = async (used: number): Promise<void> => {
        await r.setRate({ permits: 10, interval })
        await w.run(r.acquire({ permits: used }))
      }
      await fresh(2)
      assert.equal(await r.updateRate({ permits: 10, interval, keepState: true }), true)
      assert.equal(await r.available(), 8)
      assert.equal(await allowed(r, 10), false)
      assert.equal(await allowed(r, 8), true)
      await fresh(4)
      await r.updateRate({ permits: 20, interval: 2 * interval, keepState: true })
      assert.equal(await r.available(), 16)
      assert.equal(await allowed(r, 16), true)
      await fresh(3)
      await r.updateRate({ permits: 5, interval, keepState: true })
      assert.equal(await r.available(), 2)
      assert.equal(await allowed(r, 3), false)
      assert.equal(await allowed(r, 2), true)
      await fresh(8)
      await r.updateRate({ permits: 5, interval, keepState: true })
      assert.equal(await r.available(), 0)
      assert.deepEqual([await allowed(r, 1), await allowed(r, 2)], [false, false])
      await fresh(8)
      assert.equal(await r.updateRate({ permits: 6, interval }), true)
      assert.equal(await r.available(), 6, 'without keepState nothing counts any more, as in Redisson')
      await r.delete()
    },
  )

  scenario(
    'RL27, RL29, RL30: another scope begins anew, a shorter interval forgets, a client keeps its own',
    async (w) => {
      const r = (await w.connect()).rateLimiter(w.id)
      await r.setRate({ permits: 10, interval: 60_000 })
      await w.run(r.acquire({ permits: 4 }))
      await r.updateRate({ permits: 10, interval: 60_000, scope: 'client', keepState: true })
      assert.equal(await r.available(), 10)
      await w.run(r.acquire({ permits: 3 }))
      await r.updateRate({ permits: 20, interval: 60_000, scope: 'client', keepState: true })
      assert.equal(await r.available(), 17)
      await w.pass(1100)
      await r.updateRate({ permits: 10, interval: 1000, scope: 'client', keepState: true })
      assert.equal(await r.available(), 10)
      await r.delete()
    },
  )

  scenario('RL28: kept alive for less than the interval → RangeError, nothing is set', async (w) => {
    const r = (await w.connect()).rateLimiter(w.id)
    const rate = { permits: 1, interval: 5000, keepAlive: 1000 }
    for (const call of [() => r.trySetRate(rate), () => r.setRate(rate), () => r.updateRate(rate)]) {
      await assert.rejects(call, {
        name: 'RangeError',
        message: 'keepAlive must be at least the interval (5000), not 1000',
      })
    }
    assert.equal(await r.rate(), undefined)
  })

  scenario('RL31: permits given back → no more than the rate', async (w) => {
    const r = (await w.connect()).rateLimiter(w.id)
    for (const scope of ['client', 'overall'] as const) {
      await r.setRate({ permits: 10, interval: 60_000, scope })
      await w.run(r.acquire({ permits: 3 }))
      assert.equal(await r.available(), 7)
      await r.release(3)
      assert.equal(await r.available(), 10)
      await r.release(10)
      await r.release(0)
      assert.equal(await r.available(), 10)
      await assert.rejects(r.release(-1), { name: 'RangeError' })
      assert.deepEqual(await each(r, 11), [...all(10, true), false])
    }
    await r.delete()
  })
}
