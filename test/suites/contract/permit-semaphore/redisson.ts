import assert from 'node:assert/strict'
import { NotOwnerError } from 'holdfast'
import type { Client, Scenario, World } from '../../../support/engines.js'
import { Inside, lasted, pttl, rejection, timed, times } from '../lock/kind.js'

type Permits = ReturnType<Client['permitSemaphore']>

const UNKNOWN = '00112233445566778899aabbccddeeff'

const counts = async (p: Permits): Promise<number[]> => [await p.permits(), await p.available(), await p.acquired()]

const isNotOurs = async (call: Promise<unknown>): Promise<void> => {
  const error = await rejection(call)
  assert.ok(error instanceof NotOwnerError, String(error))
}

const open = async (w: World, permits: number): Promise<Permits> => {
  const p = (await w.connect()).permitSemaphore(w.id)
  assert.equal(await p.trySetPermits(permits), true)
  return p
}

const end = async (w: World, p: Permits): Promise<void> => {
  await p.delete()
  assert.equal(await w.raw('EXISTS', w.id, `{${w.id}}:timeout`), 0)
}

/** Redisson's own tests of its expirable semaphore. */
export const redissonLines = (scenario: Scenario): void => {
  scenario('P02, P28: a lease changed by its id; what is unknown or over is not', async (w) => {
    const p = await open(w, 1)
    for (const id of ['1234', UNKNOWN, '']) {
      assert.equal(await p.extend(id, 1000), false)
      await isNotOurs(p.leaseTime(id))
    }
    const permit = await w.run(p.acquire())
    assert.equal(await p.leaseTime(permit.id), Infinity)
    assert.equal(await p.extend(permit.id, 500), true)
    assert.ok((await p.leaseTime(permit.id)) <= 500)
    await w.pass(600)
    assert.equal(await p.extend(permit.id, 500), false)
    assert.equal(permit.state, 'lost')
    const next = await w.run(p.tryAcquire({ wait: 10_000, lease: 600 }))
    assert.ok(next !== undefined)
    assert.equal(await p.extend(next.id, 3000), true)
    await w.pass(700)
    assert.equal(await p.available(), 0)
    assert.equal(next.state, 'held')
    await w.pass(2400)
    assert.equal(await p.available(), 1)
    assert.equal(await p.extend(next.id, 500), false)
    await end(w, p)
  })

  scenario('P03, P04, P05, P06: taken, expired → counted as they are when they are asked for', async (w) => {
    const p = (await w.connect()).permitSemaphore(w.id)
    assert.deepEqual(await counts(p), [0, 0, 0])
    assert.equal(await p.trySetPermits(2), true)
    assert.deepEqual(await counts(p), [2, 2, 0])
    const taken = await w.run(Promise.all(times(2, () => p.tryAcquire({ wait: 5000, lease: 2000 }))))
    assert.ok(taken.every((permit) => permit?.state === 'held'))
    assert.deepEqual(await counts(p), [2, 0, 2])
    assert.equal(await w.run(p.tryAcquire({ wait: 100, lease: 2000 })), undefined)
    await w.pass(2100)
    assert.deepEqual(await counts(p), [2, 2, 0])
    assert.ok(taken.every((permit) => permit?.state === 'lost' && permit.signal.aborted))
    await end(w, p)
  })

  scenario('P07: an expiry of the whole → the companion takes it over, nothing is left', async (w) => {
    const p = await open(w, 2)
    const before = await w.run(p.acquire())
    assert.equal(await pttl(w, `{${w.id}}:timeout`), -1)
    assert.equal(await p.expire(1200), true)
    assert.ok((await pttl(w, `{${w.id}}:timeout`)) > 0)
    assert.equal(await p.clearExpire(), true)
    assert.equal(await pttl(w, `{${w.id}}:timeout`), -1)
    assert.equal(await before.release(), true)
    assert.equal(await p.expire(1200), true)
    await w.run(p.acquire({ lease: 60_000 }))
    assert.ok((await pttl(w, `{${w.id}}:timeout`)) > 0)
    await w.pass(1300)
    assert.equal(await w.raw('EXISTS', w.id, `{${w.id}}:timeout`), 0)
  })

  scenario(
    'P08, P09: never given back → another process has it when the lease is over, without a message',
    async (w) => {
      const p = await open(w, 1)
      const permit = await w.run(p.tryAcquire({ wait: 100_000, lease: 2500 }))
      assert.ok(permit !== undefined)
      const other = (await w.connect()).permitSemaphore(w.id)
      const { value, ms } = await timed(w, () => other.acquire())
      lasted(w, ms, 500, 2600)
      assert.equal(await p.tryRelease(permit.id), false)
      assert.equal(await permit.release(), false)
      assert.equal(await w.run(value.release()), true)
      await end(w, p)
    },
  )

  scenario('P10, P11, P12: set once; set in all, those that are taken included; added', async (w) => {
    const p = await open(w, 10)
    assert.equal(await p.trySetPermits(15), false)
    assert.deepEqual(await counts(p), [10, 10, 0])
    await p.setPermits(15)
    await p.setPermits(15)
    assert.deepEqual(await counts(p), [15, 15, 0])
    await p.setPermits(5)
    const taken = await w.run(p.acquireMany(3, { lease: 1500 }))
    assert.deepEqual(await counts(p), [5, 2, 3])
    await p.setPermits(3)
    assert.deepEqual(await counts(p), [3, 0, 3])
    await p.setPermits(2)
    assert.deepEqual(await counts(p), [2, -1, 3])
    assert.equal(await p.tryRelease(taken.map(({ id }) => id)), 3)
    await p.addPermits(5)
    assert.equal(await p.available(), 7)
    await p.addPermits(-10)
    assert.equal(await p.available(), -3)
    await end(w, p)
    await p.setPermits(4)
    assert.deepEqual(await counts(p), [4, 4, 0])
    await end(w, p)
  })

  scenario('P13, P15, P21: an id of 32 characters; who waits has it when it is given back by its id', async (w) => {
    const p = await open(w, 1)
    const permit = await w.run(p.acquire({ lease: 60_000 }))
    assert.match(permit.id, /^[0-9a-f]{32}$/)
    assert.equal(await p.tryAcquire(), undefined)
    const other = (await w.connect()).permitSemaphore(w.id)
    const releasing = w.pause(300).then(() => other.release(permit.id))
    const { value, ms } = await timed(w, () => p.acquire())
    lasted(w, ms, 290, 400)
    await w.run(releasing)
    assert.notEqual(value.id, permit.id)
    assert.equal(await p.available(), 0)
    await end(w, p)
  })

  scenario('P14, P16, P22, P23, P24: many at once, all or none; given back in parts', async (w) => {
    const p = await open(w, 10)
    const six = await w.run(p.acquireMany(6))
    assert.equal(new Set(six.map(({ id }) => id)).size, 6)
    assert.equal(await p.available(), 4)
    const ids = six.map(({ id }) => id)
    assert.equal((await rejection(w.run(p.acquireMany(5, { wait: 100 })))) instanceof Error, true)
    assert.equal(await p.available(), 4)
    assert.deepEqual(await p.acquireMany(0), [])
    assert.equal(await p.tryRelease([...ids.slice(0, 4), ids[0] as string]), 4)
    assert.equal(await p.available(), 8)
    await p.release(ids.slice(4))
    assert.equal(await p.available(), 10)
    assert.ok(six.every(({ state }) => state === 'released'))
    await isNotOurs(p.release(ids))
    assert.equal(await p.tryRelease(ids), 0)
    assert.equal(await p.tryRelease([]), 0)
    await end(w, p)
  })

  scenario('P17, P18, P26, P27: one of them unknown, expired or given back → nothing is changed', async (w) => {
    const p = await open(w, 10)
    for (const id of ['1234', UNKNOWN]) await isNotOurs(p.release(id))
    const short = (await w.run(p.acquireMany(2, { lease: 4000 }))).map(({ id }) => id)
    const long = (await w.run(p.acquireMany(8))).map(({ id }) => id)
    assert.equal(await p.tryRelease(long.slice(0, 2)), 2)
    assert.equal(await p.available(), 2)
    await w.pass(4100)
    await isNotOurs(p.release(short))
    assert.equal(await p.tryRelease(short[0] as string), false)
    assert.equal(await p.available(), 4)
    await isNotOurs(p.release([...long.slice(2, 4), ...long.slice(0, 2)]))
    await isNotOurs(p.release([...long.slice(2, 4), '4567']))
    await isNotOurs(p.release([...long.slice(2, 4), UNKNOWN]))
    assert.equal(await p.available(), 4)
    await p.release(long.slice(2))
    assert.equal(await p.available(), 10)
    await end(w, p)
  })

  scenario('P25: expired → had again, without anybody giving it back', async (w) => {
    const p = await open(w, 10)
    await w.run(p.acquireMany(6, { lease: 2500 }))
    await w.pass(2600)
    await w.run(p.acquire({ lease: 2500 }))
    assert.equal(await p.available(), 9)
    await w.pass(2600)
    assert.equal(await p.available(), 10)
    await end(w, p)
  })

  scenario('P29, P30: two want all → one after the other', async (w) => {
    const p = await open(w, 2)
    const other = (await w.connect()).permitSemaphore(w.id)
    const take = async (from: Permits): Promise<number> => {
      const taken = await from.acquireMany(2, { wait: 30_000 })
      await w.pause(200)
      return from.tryRelease(taken.map(({ id }) => id))
    }
    assert.deepEqual(await w.run(Promise.all([take(p), take(other)])), [2, 2])
    assert.equal(await p.available(), 2)
    await end(w, p)
  })

  const visits = async (w: World, clients: number, tasks: number, rounds: number): Promise<void> => {
    const inside = new Inside(w, `${w.id}:counter`)
    const all = await Promise.all(times(clients, () => w.connect()))
    await all[0]?.permitSemaphore(w.id).trySetPermits(1)
    const task = async (index: number): Promise<void> => {
      const p = all[index % clients]?.permitSemaphore(w.id)
      for (let round = 0; round < rounds; round++) {
        const permit = await p?.acquire({ lease: 60_000 })
        await inside.visit(1)
        assert.equal(await permit?.release(), true)
      }
    }
    await w.run(Promise.all(times(tasks, task)))
    await inside.check(tasks * rounds)
    assert.equal(await all[0]?.permitSemaphore(w.id).available(), 1)
    await all[0]?.permitSemaphore(w.id).delete()
  }

  scenario('P19: one permit, 100 tasks of one process → one inside at a time', (w) => visits(w, 1, 100, 1))
  scenario('P20: one permit, 16 clients × 8 → one inside at a time', (w) => visits(w, 16, 16, 8))
}
