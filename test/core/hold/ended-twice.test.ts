import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { NotOwnerError } from 'holdfast'
import { LOCKS } from '../../support/surface.js'
import { rejection } from '../../suites/contract/lock/kind.js'
import { redisEngine, scenarios, virtualEngine } from '../../support/engines.js'

/** Several locks have no ticket of their own. */
const kinds = Object.entries(LOCKS).filter(([kind]) => kind !== 'multiLock' && kind !== 'redLock')

const isNotHeld = (error: unknown, text: RegExp): void => {
  assert.ok(error instanceof NotOwnerError && error.code === 'NOT_OWNER', String(error))
  assert.match(error.message, text)
}

for (const engine of [virtualEngine, redisEngine]) {
  void describe(`one hold, two calls that end it, on ${engine.name}`, () => {
    const scenario = scenarios(engine)

    for (const [kind, of] of kinds) {
      scenario(`${kind}: release(), then detach() → it is released, and detach says so`, async (w) => {
        const lock = of(await w.connect(), w.id)
        const hold = await w.run(lock.acquire())
        const [released, error] = await w.run(Promise.all([hold.release(), rejection(hold.detach())]))
        assert.equal(released, true)
        isNotHeld(error, /this hold: it was released, so it cannot be detached/)
        assert.equal(hold.lost, false)
        assert.equal(await w.run(lock.isLocked()), false)
      })

      scenario(
        `${kind}: detach(), and release() while it is on its way → it is released, and detach says so`,
        async (w) => {
          const lock = of(await w.connect(), w.id)
          const hold = await w.run(lock.acquire())
          const detaching = rejection(hold.detach())
          const [error, released] = await w.run(Promise.all([detaching, hold.release()]))
          assert.equal(released, true)
          isNotHeld(error, /this hold: it was released, so it cannot be detached/)
          assert.equal(hold.lost, false)
          assert.equal(await w.run(lock.isLocked()), false)
        },
      )

      scenario(`${kind}: detach() twice → one ticket, the other call says that it was detached`, async (w) => {
        const client = await w.connect()
        const hold = await w.run(of(client, w.id).acquire())
        const [ticket, error] = await w.run(Promise.all([hold.detach(), rejection(hold.detach())]))
        isNotHeld(error, /this hold: it was detached, so it cannot be detached/)
        assert.equal(await w.run(hold.release()), false)
        assert.equal(hold.state, 'detached')
        const adopted = await w.run(client.adopt(ticket))
        assert.equal(await w.run(adopted.release()), true)
      })
    }

    scenario('extend(), and release() while it is on its way → extend says that it was released', async (w) => {
      const hold = await w.run((await w.connect()).lock(w.id).acquire({ lease: 5000 }))
      const [error, released] = await w.run(Promise.all([rejection(hold.extend(9000)), hold.release()]))
      assert.equal(released, true)
      isNotHeld(error, /this hold: it was released, so it cannot be extended/)
    })
  })
}
