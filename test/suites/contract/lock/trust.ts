import assert from 'node:assert/strict'
import { LockLostError } from 'holdfast'
import { exists, fieldsOf, foreign, isNotOwner, pttl, rejection, SHORT, held } from './kind.js'
import type { Part } from './kind.js'

/** A lease, ms, that ends in the middle of the work. A busy machine may take a part of it for the acquisition. */
const BRIEF = 500

/** When a hold may be believed. */
export const trust: Part = (kind, scenario, excludes) => {
  const { make, channel } = kind
  excludes('G-04: an explicit lease → never renewed, and the holder is told before the next one is in', async (w) => {
    const [one, two] = [await w.connect({ watchdog: SHORT }), await w.connect({ watchdog: SHORT })]
    const lost: Error[] = []
    one.on('lost', ({ name, error }) => {
      assert.equal(name, w.id)
      lost.push(error)
    })
    const begun = w.now()
    const hold = await make(one, w.id).acquire({ lease: 800 })
    let told = NaN
    let stateWhenTold = ''
    hold.signal.addEventListener('abort', () => {
      told = w.now()
      stateWhenTold = hold.state
    })
    let stateThen = ''
    let had = NaN
    const next = make(two, w.id)
      .acquire()
      .then((other) => {
        stateThen = hold.state
        had = w.now()
        return other
      })
    const other = await w.run(next)
    assert.equal(stateThen, 'lost')
    assert.equal(stateWhenTold, 'lost')
    assert.ok(told <= had, 'told before another has it')
    // A majority of several is certain for a hundredth less, and what servers count in.
    const margin = 40 + (kind.several === true ? 10 : 0)
    assert.ok(told - begun >= 800 - margin - 2, `not before the margin: ${told - begun}`)
    assert.ok(had - begun >= 800 - 40 - 2 && had - begun <= 800 + w.slack + w.patience, `${had - begun}`)
    assert.ok(hold.signal.reason instanceof LockLostError)
    assert.equal(hold.signal.reason.target, w.id)
    // Of several, each member tells of itself as well.
    if (kind.several === true) assert.ok(lost.length > 0)
    else assert.deepEqual(lost, [hold.signal.reason])
    assert.equal(hold.remaining(), 0)
    assert.equal(await w.run(hold.release()), false)
    await w.pass(100)
    await held(w, other)
    assert.equal(await w.run(other.release()), true)
  })

  scenario(
    'G-04: a lease that ran out → the next hold through the same lock object has the watchdog time',
    async (w) => {
      const client = await w.connect({ watchdog: SHORT })
      const lock = make(client, w.id)
      const me = lock.for(client.owner())
      await me.lock(1000)
      await w.pass(1200)
      assert.equal(await exists(w, w.id), false)
      await me.lock()
      const left = await me.remainTimeToLive()
      assert.ok(left <= SHORT && left > (w.virtual ? SHORT - 100 : 0), String(left))
      await w.pass(SHORT * 1.5)
      assert.equal(await me.isHeld(), true)
      await me.unlock()
      const hold = await lock.acquire({ lease: 1000 })
      await w.pass(1200)
      assert.equal(hold.state, 'lost')
      const next = await lock.acquire()
      await w.pass(SHORT * 1.5)
      await held(w, next)
      assert.equal(await w.run(next.release()), true)
    },
  )

  scenario('the watchdog → keeps a hold three times its time, its time left never 0', async (w) => {
    const client = await w.connect({ watchdog: SHORT })
    const hold = await make(client, w.id).acquire()
    for (let step = 0; step < 15; step += 1) {
      await w.pass(SHORT / 5)
      assert.equal(hold.lost, false)
      assert.ok(hold.remaining() > 0 && hold.remaining() <= SHORT)
      assert.ok((await pttl(w, w.id)) > 0)
    }
    await held(w, hold)
    assert.equal(hold.signal.aborted, false)
    assert.equal(await w.run(hold.release()), true)
    await w.pass(SHORT / 2)
    assert.equal(await exists(w, w.id), false, 'a late renewal creates nothing')
  })

  scenario('G-02: the key deleted while held → told within a third, never created again', async (w) => {
    const client = await w.connect({ watchdog: SHORT })
    const hold = await make(client, w.id).acquire()
    await w.raw('DEL', w.id)
    const begun = w.now()
    await w.eventually(() => hold.lost)
    assert.ok(w.now() - begun <= SHORT / 3 + w.slack)
    assert.equal(hold.signal.aborted, true)
    assert.ok(hold.signal.reason instanceof LockLostError)
    await w.pass(SHORT)
    assert.equal(await exists(w, w.id), false)
    assert.equal(hold.state, 'lost')
  })

  scenario(
    'G-02 G-03: the field replaced while held → told, and the other’s key is neither renewed nor released',
    async (w) => {
      const client = await w.connect({ watchdog: SHORT })
      const lock = make(client, w.id)
      const me = lock.for(client.owner())
      const hold = await make(client, `${w.id}:b`).acquire()
      await me.lock()
      for (const name of [w.id, `${w.id}:b`]) {
        await w.raw('DEL', name)
        await foreign(kind, w, name, 20_000)
      }
      await w.pass(SHORT * 1.5)
      assert.equal(hold.state, 'lost')
      assert.equal(await w.run(hold.release()), false)
      assert.ok(isNotOwner(w.id)(await rejection(w.run(me.unlock()))))
      for (const name of [w.id, `${w.id}:b`]) {
        assert.deepEqual(await fieldsOf(w, name), { 'foreign:1': 1 })
        const left = await pttl(w, name)
        assert.ok(left <= 20_000 - SHORT && left > 10_000, String(left))
        await w.raw('DEL', name)
      }
    },
  )

  excludes(
    'G-12 G-18: the field replaced and released before anybody knew → false, the other’s key untouched',
    async (w) => {
      const client = await w.connect()
      const lock = make(client, w.id)
      const me = make(client, `${w.id}:owned`).for(client.owner())
      const fixed = await make(client, `${w.id}:fixed`).acquire({ lease: 20_000 })
      const hold = await lock.acquire()
      await me.lock()
      const names = [w.id, `${w.id}:owned`, `${w.id}:fixed`]
      const told = await Promise.all(names.map((name) => w.messages(channel(name))))
      for (const name of names) {
        await w.raw('DEL', name)
        await foreign(kind, w, name, 20_000)
      }
      assert.equal(await w.run(hold.release()), false)
      assert.equal(await w.run(fixed.release()), false)
      assert.ok(isNotOwner(`${w.id}:owned`)(await rejection(w.run(me.unlock()))))
      for (const name of names) {
        assert.deepEqual(await fieldsOf(w, name), { 'foreign:1': 1 })
        assert.ok((await pttl(w, name)) <= 20_000)
        await w.raw('DEL', name)
      }
      assert.deepEqual(told, [[], [], []])
    },
  )

  scenario('G-04: handed on within the client → the lease on the server is the next one’s', async (w) => {
    const client = await w.connect()
    const lock = make(client, w.id)
    for (const { first, next, least, most } of [
      { first: undefined, next: 9000, least: 9000 - 100 - w.slack, most: 9000 },
      { first: 12_000, next: undefined, least: 12_001, most: 30_000 },
      { first: 15_000, next: 60_000, least: 15_001, most: 60_000 },
    ]) {
      const hold = await w.run(lock.acquire({ lease: first }))
      const waiting = lock.acquire({ lease: next })
      await w.pass(20)
      assert.equal(await w.run(hold.release()), true)
      const had = await w.run(waiting)
      let left = 0
      // Others of a group may have their keys for longer.
      const ends = async (): Promise<number> =>
        kind.keys === undefined ? pttl(w, w.id) : ((await lock.remaining()) ?? 0)
      // One that starts on a grant has its whole lease when the server has been told, which another connection may see later.
      await w.eventually(async () => (left = await ends()) >= least, 2000)
      assert.ok(left <= most, `${left} after ${first} → ${next}`)
      assert.ok(had.remaining() <= left + 5)
      assert.equal(await w.run(had.release()), true)
    }
  })

  scenario('`using` whose hold was lost by the end of the work → LockLostError with the result', async (w) => {
    const client = await w.connect()
    const lock = make(client, w.id)
    let told = false
    const error = await rejection(
      w.run(
        lock.using({ lease: BRIEF }, async ({ signal }) => {
          await w.pause(2 * BRIEF)
          told = signal.aborted
          return 'result'
        }),
      ),
    )
    assert.ok(error instanceof LockLostError, String(error))
    assert.equal(error.result, 'result')
    assert.equal(error.target, w.id)
    assert.equal(told, true)
  })

  scenario('`using` whose hold was lost and whose work failed → the work’s own error', async (w) => {
    const lock = make(await w.connect(), w.id)
    const own = new Error('of the work')
    const error = await rejection(
      w.run(
        lock.using({ lease: BRIEF }, async (hold) => {
          await w.pause(2 * BRIEF)
          assert.equal(hold.lost, true)
          throw own
        }),
      ),
    )
    assert.equal(error, own)
  })

  scenario('`using` → waits for its work to end also after the loss', async (w) => {
    const lock = make(await w.connect(), w.id)
    let ended = false
    await rejection(
      w.run(
        lock.using({ lease: BRIEF }, async () => {
          await w.pause(2 * BRIEF)
          ended = true
        }),
      ),
    )
    assert.equal(ended, true)
  })

  scenario('a lost hold → lost for good, whatever is tried', async (w) => {
    const client = await w.connect({ watchdog: SHORT })
    const hold = await make(client, w.id).acquire()
    const field = Object.keys(await fieldsOf(w, w.id))[0]
    assert.ok(field !== undefined)
    await w.raw('DEL', w.id)
    await w.eventually(() => hold.lost)
    await foreign(kind, w, w.id, 5000, field)
    await w.pass(SHORT)
    assert.equal(hold.state, 'lost')
    assert.equal(hold.remaining(), 0)
    if (kind.several !== true) assert.ok((await rejection(w.run(hold.detach()))) instanceof LockLostError)
    assert.equal(await w.run(hold.release()), false)
    assert.equal(hold.state, 'lost')
    await w.raw('DEL', w.id)
  })
}
