import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { DeadlockError } from 'holdfast'
import { inTown } from '../../support/town.js'
import { namesIn, startRing, toldTo } from './ring.js'

void describe('a call that is part of two deadlocks in one client', () => {
  inTown('it is the victim of one → the other ends with it, and has no victim', async (town) => {
    const client = await town.join({ deadlocks: 'break' })
    const told = toldTo(client)
    const { outcomes, ended } = await startRing(town, [
      { holds: [client.readWriteLock('rw').read], wants: client.lock('a') },
      { holds: [client.lock('a')], wants: client.readWriteLock('rw').write, later: 10 },
      { holds: [client.readWriteLock('rw').read], wants: client.lock('a'), later: 20 },
    ])
    await town.run(ended)
    assert.ok(outcomes[1] instanceof DeadlockError)
    assert.deepEqual([outcomes[0], outcomes[2]], ['had', 'had'])
    assert.deepEqual(told.map(namesIn), [['a', 'rw']])
  })

  inTown('the other was found first → the older victim ends first all the same', async (town) => {
    const client = await town.join({ deadlocks: 'break' })
    const { outcomes, ended } = await startRing(town, [
      // The oldest call, so this cycle of three is found first; its youngest call is the last one.
      { holds: [client.lock('q')], wants: client.lock('a') },
      { holds: [client.readWriteLock('rw').read], wants: client.lock('a'), later: 10 },
      { holds: [client.lock('a')], wants: client.readWriteLock('rw').write, later: 20 },
      { holds: [client.readWriteLock('rw').read], wants: client.lock('q'), later: 30 },
    ])
    await town.run(ended)
    assert.ok(outcomes[2] instanceof DeadlockError)
    assert.deepEqual(
      [0, 1, 3].map((i) => outcomes[i]),
      ['had', 'had', 'had'],
    )
  })
})
