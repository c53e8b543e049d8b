import assert from 'node:assert/strict'
import type { Scenario, World } from '../../../support/engines.js'
import { Inside, exists, lasted, pttl, timed, times, watch } from '../lock/kind.js'

const end = async (w: World, name = w.id): Promise<void> => {
  await w.raw('DEL', name)
}

/** Redisson's own tests of its semaphore. */
export const redissonLines = (scenario: Scenario): void => {
  scenario('S01: added permits wake who waits; too few of them let it wait on', async (w) => {
    const [one, two] = [await w.connect(), await w.connect()]
    const s = one.semaphore(w.id)
    await s.addPermits(1)
    await w.run(s.acquire())
    const waiting = watch(two.semaphore(w.id).acquire({ permits: 2 }))
    await w.pass(300)
    assert.equal(waiting.settled, false)
    await s.release()
    await w.pass(300)
    assert.equal(waiting.settled, false, 'one permit for two')
    const { ms } = await timed(w, () => s.addPermits(1).then(() => waiting.promise))
    lasted(w, ms, 0, 500)
    assert.equal(await s.available(), 0)
    await end(w)
  })

  scenario('S02: none wanted → had at once, none given back → nothing there', async (w) => {
    const s = (await w.connect()).semaphore(w.id)
    assert.equal(await s.tryAcquire({ permits: 0, wait: 600_000 }), true)
    await s.acquire({ permits: 0 })
    assert.equal(await s.using({ permits: 0 }, () => 5), 5)
    await s.release(0)
    await s.addPermits(0)
    assert.equal(await s.releaseIfExists(0), false)
    assert.equal(await s.available(), 0)
    assert.equal(await exists(w, w.id), false)
  })

  scenario('S03, S10: given back where nothing was → so many permits', async (w) => {
    const s = (await w.connect()).semaphore(w.id)
    await s.release()
    assert.equal(await s.available(), 1)
    await s.release()
    await w.run(s.acquire({ permits: 2 }))
    assert.equal(await s.available(), 0)
    await end(w)
  })

  scenario('S04: set once; deleted; set with a time to live → gone after it', async (w) => {
    const s = (await w.connect()).semaphore(w.id)
    assert.equal(await s.trySetPermits(10), true)
    assert.equal(await pttl(w, w.id), -1)
    assert.equal(await s.trySetPermits(15), false)
    assert.equal(await s.available(), 10)
    assert.equal(await s.delete(), true)
    assert.equal(await s.delete(), false)
    assert.equal(await exists(w, w.id), false)
    assert.equal(await s.trySetPermits(1, 1000), true)
    assert.ok((await pttl(w, w.id)) <= 1000)
    assert.equal(await s.available(), 1)
    await w.pass(1100)
    assert.equal(await s.available(), 0)
    assert.equal(await exists(w, w.id), false)
    assert.equal(await s.releaseIfExists(), false)
  })

  scenario('S05, S06, S12: added, taken away, given back → counts without a bound, below none too', async (w) => {
    const s = (await w.connect()).semaphore(w.id)
    await s.trySetPermits(10)
    await w.run(s.acquire({ permits: 10 }))
    await s.addPermits(4)
    assert.equal(await s.available(), 4)
    await s.release(10)
    assert.equal(await s.available(), 14)
    await w.run(s.acquire({ permits: 14 }))
    await s.addPermits(-5)
    assert.equal(await s.available(), -5)
    assert.equal(await s.tryAcquire(), false)
    await s.release(10)
    assert.equal(await s.available(), 5)
    await w.run(s.acquire({ permits: 5 }))
    assert.equal(await s.available(), 0)
    await end(w)
  })

  scenario('S07, S08: none left → waits for one given back; for several, until the last of them', async (w) => {
    const [one, two] = [await w.connect(), await w.connect()]
    const s = one.semaphore(w.id)
    await s.trySetPermits(5)
    await w.run(s.acquire({ permits: 3 }))
    const later = async (ms: number): Promise<void> => {
      await w.pause(ms)
      await s.release()
    }
    const releases = [later(250), later(500)]
    const { ms } = await timed(w, () => two.semaphore(w.id).acquire({ permits: 4 }))
    lasted(w, ms, 490, 600)
    await w.run(Promise.all(releases))
    assert.equal(await s.available(), 0)
    assert.equal(await s.tryAcquire(), false)
    await end(w)
  })

  scenario('S09: a try that waits → had when enough were given back', async (w) => {
    const [one, two] = [await w.connect(), await w.connect()]
    const [s, other] = [one.semaphore(w.id), two.semaphore(w.id)]
    await s.trySetPermits(5)
    assert.equal(await s.tryAcquire({ permits: 3 }), true)
    assert.equal(await other.tryAcquire({ permits: 4 }), false)
    const releasing = (async () => {
      for (let n = 0; n < 2; n++) {
        await w.pause(250)
        await s.release()
      }
    })()
    const { value, ms } = await timed(w, () => other.tryAcquire({ permits: 4, wait: 20_000 }))
    assert.equal(value, true)
    lasted(w, ms, 490, 700)
    await w.run(releasing)
    assert.equal(await s.available(), 0)
    await end(w)
  })

  scenario('S11: drained → all there were, and none is left; the expiry stays', async (w) => {
    const s = (await w.connect()).semaphore(w.id)
    assert.equal(await s.drain(), 0)
    assert.equal(await exists(w, w.id), false)
    await s.trySetPermits(10, 60_000)
    await w.run(s.acquire({ permits: 3 }))
    assert.equal(await s.drain(), 7)
    assert.equal(await s.drain(), 0)
    await s.addPermits(-2)
    assert.equal(await s.drain(), -2)
    assert.equal(await s.available(), 0)
    assert.ok((await pttl(w, w.id)) > 0, 'the expiry was lost')
    assert.equal(await s.clearExpire(), true)
    assert.equal(await s.clearExpire(), false)
    assert.equal(await pttl(w, w.id), -1)
    assert.equal(await s.expire(30_000), true)
    assert.ok((await pttl(w, w.id)) <= 30_000)
    await end(w)
    assert.equal(await s.expire(30_000), false)
  })

  scenario('S13: given back only where it is', async (w) => {
    const s = (await w.connect()).semaphore(w.id)
    assert.equal(await s.releaseIfExists(3), false)
    assert.equal(await exists(w, w.id), false)
    await s.trySetPermits(10)
    await w.run(s.acquire())
    assert.equal(await s.releaseIfExists(), true)
    assert.equal(await s.available(), 10)
    await end(w)
  })

  const visits = async (w: World, clients: number, tasks: number, rounds: number): Promise<void> => {
    const inside = new Inside(w, `${w.id}:counter`)
    const all = await Promise.all(times(clients, () => w.connect()))
    await all[0]?.semaphore(w.id).trySetPermits(1)
    const task = async (index: number): Promise<void> => {
      const s = all[index % clients]?.semaphore(w.id)
      for (let round = 0; round < rounds; round++) await s?.using(() => inside.visit(1))
    }
    await w.run(Promise.all(times(tasks, task)))
    await inside.check(tasks * rounds)
    assert.equal(await all[0]?.semaphore(w.id).available(), 1)
    await end(w)
  }

  scenario('S14: one permit, 15 tasks of one process → one inside at a time', (w) => visits(w, 1, 15, 4))
  scenario('S16: one permit, 16 clients × 10 → one inside at a time', (w) => visits(w, 16, 16, 10))
  scenario('S17: one permit, 30 clients → one inside at a time', (w) => visits(w, 30, 30, 1))

  scenario('S15: the most there can be; some take one, some all → every round ends, nobody starves', async (w) => {
    const most = 2_147_483_647
    const clients = await Promise.all(times(4, () => w.connect()))
    assert.equal(await clients[0]?.semaphore(w.id).trySetPermits(most), true)
    const rounds = clients.map(async (client, index) => {
      const s = client.semaphore(w.id)
      for (let round = 0; round < 10; round++) {
        const permits = (round + index) % 2 === 0 ? 1 : most
        await s.acquire({ permits })
        await w.pause(10)
        await s.release(permits)
      }
    })
    await w.run(Promise.all(rounds))
    assert.equal(await clients[0]?.semaphore(w.id).available(), most)
    await end(w)
  })
}
