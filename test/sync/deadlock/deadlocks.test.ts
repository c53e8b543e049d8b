import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { DeadlockError } from 'holdfast'
import { inTown } from '../../support/town.js'
import { namesIn, startRing, toldTo } from './ring.js'

void describe('deadlocks between clients', () => {
  inTown('A waits for B, B for A → the youngest is rejected with the cycle; the other goes on', async (town) => {
    const [one, two] = [
      await town.join({ deadlocks: 'break', label: 'one' }),
      await town.join({ deadlocks: 'break', label: 'two' }),
    ]
    const told = [toldTo(one), toldTo(two)]
    const { outcomes, ended } = await startRing(town, [
      { holds: [one.lock('a')], wants: one.lock('b') },
      { holds: [two.lock('b')], wants: two.lock('a'), later: 200 },
    ])
    const began = town.clock.now()
    await town.run(ended)
    assert.ok(town.clock.now() - began < 3200, String(town.clock.now() - began))
    assert.equal(outcomes[0], 'had')
    const [, error] = outcomes
    assert.ok(error instanceof DeadlockError)
    assert.equal(error.target, 'a')
    assert.deepEqual(error.cycle?.map(({ name, label, kind }) => [name, label, kind]).sort(), [
      ['a', 'two', 'lock'],
      ['b', 'one', 'lock'],
    ])
    for (const { waited } of error.cycle ?? []) assert.ok(waited >= 1000 && waited < 3500, String(waited))
    assert.deepEqual(told[1]?.map(namesIn), [['a', 'b']])
    assert.equal(told[1][0]?.cycle[told[1][0].victim ?? -1]?.client, two.id)
  })

  inTown('the default → all are told once, none is rejected', async (town) => {
    const [one, two] = [await town.join(), await town.join()]
    const told = [toldTo(one), toldTo(two)]
    const { outcomes, ended } = await startRing(town, [
      { holds: [one.lock('a')], wants: one.lock('b'), wait: 20_000 },
      { holds: [two.lock('b')], wants: two.lock('a') },
    ])
    await town.clock.advance(3000)
    assert.deepEqual(
      told.map((each) => each.map(namesIn)),
      [[['a', 'b']], [['a', 'b']]],
    )
    assert.ok(one.warnings.some((warning) => warning.includes('deadlock')))
    await town.clock.advance(10_000)
    assert.deepEqual(outcomes, [undefined, undefined])
    assert.deepEqual(
      told.map(({ length }) => length),
      [1, 1],
    )
    await town.run(ended)
  })
})
