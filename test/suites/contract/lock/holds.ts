import assert from 'node:assert/strict'
import { LockLostError } from 'holdfast'
import { NOT_A_DURATION, exists, fieldsOf, isBadArgument, pttl, rejection, SHORT, held } from './kind.js'
import type { Part } from './kind.js'
import type { Scenario } from '../../../support/engines.js'

const isLost = (target: string) => (error: unknown) => {
  assert.ok(error instanceof LockLostError, String(error))
  assert.equal(error.code, 'LOCK_LOST')
  assert.equal(error.target, target)
  return true
}

/** `Hold`, `detach`, `adopt` and what a lock tells about itself. */
export const holds: Part = (kind, scenario, excludes) => {
  const { make, fenced = false, several } = kind
  /** There is no ticket for several at once. */
  const withTickets: Scenario = several === true ? () => undefined : scenario
  scenario('a hold → name, owner, state, signal and time left are right from the start', async (w) => {
    const client = await w.connect()
    const hold = await make(client, w.id).acquire()
    assert.equal(hold.name, w.id)
    await held(w, hold)
    assert.equal(hold.lost, false)
    assert.equal(hold.signal.aborted, false)
    assert.ok(hold.remaining() <= 30_000 && hold.remaining() > 30_000 - 1501 - w.slack, String(hold.remaining()))
    const [first, second] = [hold.release(), hold.release()]
    assert.equal(first, second)
    assert.equal(await first, true)
    assert.equal(hold.release(), first)
    assert.equal(hold.state, 'released')
    assert.equal(hold.remaining(), 0)
    assert.equal(hold.lost, false)
    assert.equal(hold.signal.aborted, false)
  })

  scenario('a released hold → its signal never fires', async (w) => {
    const client = await w.connect({ watchdog: SHORT })
    const lock = make(client, w.id)
    const released = [await lock.acquire(), await make(client, `${w.id}:b`).acquire({ lease: 2000 })]
    for (const hold of released) assert.equal(await w.run(hold.release()), true)
    await w.pass(SHORT * 1.5)
    for (const hold of released) {
      assert.equal(hold.signal.aborted, false)
      assert.equal(hold.state, 'released')
    }
  })

  scenario('`await using` → released at the end of the block', async (w) => {
    const lock = make(await w.connect(), w.id)
    {
      await using hold = await lock.acquire()
      await held(w, hold)
      assert.equal(await lock.isLocked(), true)
    }
    assert.equal(await exists(w, w.id), false)
  })

  scenario('time left → goes down with time, never above the lease', async (w) => {
    const client = await w.connect()
    const hold = await make(client, w.id).acquire({ lease: 5000 })
    const first = hold.remaining()
    assert.ok(first <= 5000 && first > 4700 - w.slack, String(first))
    assert.ok((await pttl(w, w.id)) <= 5000)
    await w.pass(200)
    const second = hold.remaining()
    assert.ok(second <= first - 190 && second > 0, `${first} → ${second}`)
    assert.ok(second <= (await pttl(w, w.id)) + 5, 'never more than the server knows')
    assert.equal(await hold.release(), true)
  })

  scenario('G-04: `extend` → a longer time left, never a shorter one, default as taken', async (w) => {
    const client = await w.connect()
    const hold = await make(client, w.id).acquire({ lease: 5000 })
    await hold.extend(20_000)
    assert.ok(hold.remaining() > 10_000)
    const server = await pttl(w, w.id)
    assert.ok(server > 15_000 && server <= 20_000, String(server))
    await hold.extend(100)
    assert.ok(hold.remaining() > 10_000, 'not shortened')
    assert.ok((await pttl(w, w.id)) > 10_000)
    await hold.extend()
    assert.ok((await pttl(w, w.id)) > 10_000)
    assert.equal(await hold.release(), true)
    const short = await make(client, w.id).acquire({ lease: 4000 })
    await w.pass(300)
    await short.extend()
    assert.ok((await pttl(w, w.id)) > 3750 - w.slack)
    assert.equal(await short.release(), true)
  })

  scenario('`extend` → outlives the first lease, and is lost at the end of the second', async (w) => {
    const client = await w.connect()
    const hold = await make(client, w.id).acquire({ lease: 2000 })
    await hold.extend(5000)
    await w.pass(2500)
    await held(w, hold)
    assert.equal(await exists(w, w.id), true)
    await w.pass(2600)
    assert.equal(hold.state, 'lost')
  })

  scenario('`extend` on a hold that the watchdog renews → RangeError; with a bad time → names it', async (w) => {
    const client = await w.connect()
    const renewed = await make(client, w.id).acquire()
    assert.ok((await rejection(renewed.extend(1000))) instanceof RangeError)
    assert.ok((await rejection(renewed.extend())) instanceof RangeError)
    const fixed = await make(client, `${w.id}:fixed`).acquire({ lease: 9000 })
    for (const bad of NOT_A_DURATION) {
      isBadArgument(await rejection(fixed.extend(bad as number)), 'lease', bad)
    }
    assert.equal(await renewed.release(), true)
    assert.equal(await fixed.release(), true)
  })

  excludes('`extend` on a lost hold → LockLostError, and never takes the lock again', async (w) => {
    const client = await w.connect()
    const late = await make(client, w.id).acquire({ lease: 300 })
    await w.pass(400)
    isLost(w.id)(await rejection(w.run(late.extend(5000))))
    const deleted = await make(client, `${w.id}:b`).acquire({ lease: 5000 })
    await w.raw('DEL', `${w.id}:b`)
    isLost(`${w.id}:b`)(await rejection(w.run(deleted.extend(9000))))
    assert.equal(deleted.state, 'lost')
    assert.equal(deleted.signal.aborted, true)
    for (const name of [w.id, `${w.id}:b`]) assert.equal(await exists(w, name), false)
  })

  withTickets('`detach` → a full lease, no renewal; `adopt` by another client → renewed, released', async (w) => {
    const [one, two] = [await w.connect({ watchdog: SHORT }), await w.connect({ watchdog: SHORT })]
    const hold = await make(one, w.id).acquire()
    await w.pass(200)
    const ticket = await hold.detach()
    assert.equal(typeof ticket, 'string')
    assert.equal(hold.state, 'detached')
    assert.equal(hold.remaining(), 0)
    const left = await pttl(w, w.id)
    assert.ok(left > SHORT - 150 - w.slack && left <= SHORT, String(left))
    await w.run(one.close())
    assert.equal(await exists(w, w.id), true, 'closing leaves what was detached')
    const adopted = await two.adopt(ticket)
    assert.equal(adopted.name, w.id)
    await held(w, adopted)
    await w.pass(SHORT * 1.6)
    await held(w, adopted)
    assert.equal(await exists(w, w.id), true)
    assert.deepEqual(Object.values(await fieldsOf(w, w.id)), [1])
    assert.equal(hold.state, 'detached')
    assert.equal(hold.signal.aborted, false)
    assert.equal(await w.run(adopted.release()), true)
    assert.equal(await exists(w, w.id), false)
  })

  withTickets('`detach` and nobody adopts → gone at the end of its lease', async (w) => {
    const client = await w.connect({ watchdog: SHORT })
    const hold = await make(client, w.id).acquire()
    const ticket = await hold.detach()
    await w.pass(SHORT * 0.5)
    assert.equal(await exists(w, w.id), true)
    await w.pass(SHORT * 0.8)
    assert.equal(await exists(w, w.id), false)
    isLost(w.id)(await rejection(w.run(client.adopt(ticket))))
    assert.equal(await exists(w, w.id), false, 'adopting never takes it again')
  })

  withTickets('`detach` of a fixed lease → full again; of a lost hold → LockLostError', async (w) => {
    const client = await w.connect()
    const hold = await make(client, w.id).acquire({ lease: 5000 })
    await w.pass(300)
    const ticket = await hold.detach()
    assert.ok((await pttl(w, w.id)) > 4750 - w.slack)
    const adopted = await w.run(client.adopt(ticket))
    assert.equal(await w.run(adopted.release()), true)
    const lost = await make(client, w.id).acquire({ lease: 1000 })
    await w.pass(1100)
    isLost(w.id)(await rejection(w.run(lost.detach())))
    assert.equal(await exists(w, w.id), false)
  })

  scenario('`adopt` of what is no ticket → TypeError or RangeError that names it', async (w) => {
    const client = await w.connect()
    // Each part of a ticket replaced by what cannot stand there, and a ticket of which the end is missing.
    const parts = ['lock', w.id, 'a:1', 30_000, true]
    const altered = (at: number, part: unknown): unknown[] => Object.assign([...parts], { [at]: part })
    const madeUp = [
      ...parts.map((part, at) => altered(at, typeof part === 'string' ? 5 : '5')),
      ...[altered(3, 0.5), parts.slice(0, -1), { parts }],
    ].map((ticket) => `holdfast1.${Buffer.from(JSON.stringify(ticket)).toString('base64url')}`)
    for (const bad of [...madeUp, '', 'no ticket', '{}', 5, null, undefined, {}]) {
      const error = await rejection(client.adopt(bad as string))
      assert.ok(error instanceof TypeError || error instanceof RangeError, String(error))
      assert.ok(error.message.includes('ticket'), error.message)
    }
  })

  scenario('G-12: forced open by another → told within a third of the watchdog time', async (w) => {
    const [one, two] = [await w.connect({ watchdog: SHORT }), await w.connect()]
    const lost: string[] = []
    one.on('lost', ({ name }) => lost.push(name))
    const hold = await make(one, w.id).acquire()
    assert.equal(await make(two, w.id).forceRelease(), true)
    const begun = w.now()
    await w.eventually(() => hold.signal.aborted)
    assert.ok(w.now() - begun <= SHORT / 3 + w.slack)
    isLost(w.id)(hold.signal.reason)
    assert.equal(hold.state, 'lost')
    assert.deepEqual(lost, [w.id])
    assert.equal(await w.run(hold.release()), false)
  })

  if (kind.several !== true)
    scenario('one owner is released by force → only if it is the holder', async (w) => {
      const [one, two] = [await w.connect({ watchdog: SHORT }), await w.connect()]
      const hold = await make(one, w.id).acquire()
      const lock = make(two, w.id)
      const owner = (await lock.inspect()).holders[0]?.owner ?? assert.fail()
      assert.equal(await lock.forceRelease({ owner: owner.slice(0, -1) }), false)
      assert.equal(await lock.isLocked(), true)
      assert.equal(await lock.forceRelease({ owner }), true)
      assert.equal(await lock.isLocked(), false)
      const next = await w.run(lock.acquire())
      assert.equal(await lock.forceRelease({ owner }), false)
      await w.eventually(() => hold.signal.aborted)
      isLost(w.id)(hold.signal.reason)
      assert.equal(await w.run(next.release()), true)
    })

  if (kind.several !== true)
    scenario('one owner is extended by force → only if it is the holder, and never shortened', async (w) => {
      const [one, two] = [await w.connect({ watchdog: SHORT }), await w.connect()]
      const hold = await make(one, w.id).acquire()
      const lock = make(two, w.id)
      const owner = (await lock.inspect()).holders[0]?.owner ?? assert.fail()
      const left = async () => (await lock.remaining()) ?? assert.fail()
      assert.equal(await lock.forceExtend({ owner: owner.slice(0, -1), lease: 600_000 }), false)
      assert.ok((await left()) <= SHORT)
      assert.equal(await lock.forceExtend({ owner, lease: 600_000 }), true)
      assert.equal(await lock.forceExtend({ owner, lease: 1000 }), true)
      assert.ok((await left()) > 500_000)
      // Its own client neither counts longer than it was told, nor shortens it.
      assert.ok(hold.remaining() <= SHORT)
      assert.equal(hold.state, 'held')
      assert.equal(await w.run(hold.release()), true)
      assert.equal(await lock.forceExtend({ owner, lease: 600_000 }), false)
      assert.equal(await lock.isLocked(), false)
      await assert.rejects(lock.forceExtend({ owner: 'x', lease: 0 }), RangeError)
      await assert.rejects(lock.forceExtend({ owner: '', lease: 1000 }))
    })

  scenario('`inspect` → holders with owner, client, label and count; nothing when free', async (w) => {
    const [one, two] = [await w.connect({ label: 'worker "7" <b>' }), await w.connect({ presence: false })]
    const lock = make(two, w.id)
    assert.deepEqual((await lock.inspect()).holders, [])
    assert.equal((await lock.inspect()).remaining, undefined)
    const hold = await make(one, w.id).acquire({ lease: 9000 })
    await w.eventually(async () => (await lock.inspect()).holders[0]?.label !== undefined)
    const state = await lock.inspect()
    assert.equal(state.holders.length, 1)
    const [holder] = state.holders
    assert.equal(holder?.client, one.id)
    assert.ok(holder.owner.includes(one.id) || holder.owner.length > 0)
    assert.equal(holder.label, 'worker "7" <b>')
    assert.equal(holder.count, 1)
    assert.equal(holder.mode, kind.mode ?? 'exclusive')
    assert.deepEqual(state.waiting, [])
    assert.equal(state.token, fenced ? 1n : undefined)
    assert.ok(state.remaining !== undefined && state.remaining <= 9000 && state.remaining > 8900 - w.slack)
    assert.equal(await hold.release(), true)
    const nameless = await lock.acquire()
    const [other] = (await make(one, w.id).inspect()).holders
    assert.equal(other?.client, two.id)
    assert.equal(other.label, undefined)
    assert.equal(await nameless.release(), true)
  })
}
