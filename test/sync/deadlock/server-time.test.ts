import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { type Clock, DeadlockError } from 'holdfast'
import { inTown } from '../../support/town.js'
import { startRing } from './ring.js'

const HOUR = 3_600_000

/** The same clock, whose wall clock is an hour behind. */
const behind = (clock: Clock): Clock => ({
  now: () => clock.now() - HOUR,
  monotonic: () => clock.monotonic(),
  setTimer: (...timer) => clock.setTimer(...timer),
  randomBytes: (count) => clock.randomBytes(count),
  random: () => clock.random(),
})

void describe('since when calls wait', () => {
  inTown(
    'a client whose clock is an hour behind, and that never heard the server’s time → its call is the youngest',
    async (town) => {
      const right = await town.join({ deadlocks: 'break' })
      const wrong = await town.join({ deadlocks: 'break', clock: behind(town.clock) })
      const { outcomes, ended } = await startRing(town, [
        { holds: [right.spinLock('a')], wants: right.spinLock('b') },
        { holds: [wrong.spinLock('b')], wants: wrong.spinLock('a'), later: 200 },
      ])
      await town.run(ended)
      assert.equal(outcomes[0], 'had')
      const [, error] = outcomes
      assert.ok(error instanceof DeadlockError)
      for (const { since, waited } of error.cycle ?? []) {
        assert.ok(Math.abs(town.clock.now() - since) < 10_000, String(since))
        assert.ok(waited >= 1000 && waited < 3500, String(waited))
      }
    },
  )
})
