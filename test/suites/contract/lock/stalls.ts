import assert from 'node:assert/strict'
import { LockLostError } from 'holdfast'
import { exists, isNotOwner, rejection, SHORT, held } from './kind.js'
import type { Part } from './kind.js'

const block = (ms: number): void => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

/** What a blocked event loop may and may not do to a hold. */
export const stalls: Part = ({ make }, scenario) => {
  scenario(
    'G-03: the event loop blocked for 1.5 × the watchdog time → lost is seen at once, and nothing is renewed',
    async (w) => {
      const [one, two] = [await w.connect({ watchdog: SHORT }), await w.connect()]
      const lock = make(one, w.id)
      const me = make(one, `${w.id}:owned`).for(one.owner())
      const hold = await lock.acquire()
      await me.lock()
      let lost = 0
      one.on('lost', () => (lost += 1))
      block(SHORT * 1.5)
      assert.equal(hold.state, 'lost')
      assert.equal(hold.lost, true)
      assert.equal(hold.remaining(), 0)
      await w.eventually(() => hold.signal.aborted, 2000)
      assert.ok(hold.signal.reason instanceof LockLostError)
      const next = await w.run(make(two, w.id).acquire())
      assert.equal(await w.run(hold.release()), false)
      assert.ok(isNotOwner(`${w.id}:owned`)(await rejection(w.run(me.unlock()))))
      await w.pass(SHORT)
      await held(w, next)
      assert.equal(hold.state, 'lost')
      assert.equal(await exists(w, `${w.id}:owned`), false)
      assert.ok(lost >= 1)
      assert.equal(await w.run(next.release()), true)
    },
    'real clock',
  )

  scenario(
    'a fixed lease that ended while the event loop was blocked → lost when asked, before any timer ran',
    async (w) => {
      const client = await w.connect()
      const hold = await make(client, w.id).acquire({ lease: 300 })
      block(400)
      assert.deepEqual([hold.state, hold.lost, hold.remaining()], ['lost', true, 0])
      await w.eventually(() => hold.signal.aborted, 2000)
    },
    'real clock',
  )

  scenario(
    'the event loop blocked for a third of the watchdog time, again and again → held on',
    async (w) => {
      const client = await w.connect({ watchdog: 1.5 * SHORT })
      const hold = await make(client, w.id).acquire()
      for (let round = 0; round < 3; round += 1) {
        block(SHORT / 2)
        await w.pass(60)
        await held(w, hold)
      }
      assert.equal(await w.run(hold.release()), true)
    },
    'real clock',
  )
}
