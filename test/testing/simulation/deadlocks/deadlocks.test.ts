import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { simulate } from 'holdfast/testing'

const FIRST = 14_000_000_000

void describe('simulated deadlocks', () => {
  void it('none is missed after 3 s, none is reported that was not, at most one victim each', async () => {
    const sum = new Map<string, number>()
    // In the last one, a client has to ask for the server's time.
    for (const n of [...Array.from({ length: 30 }, (_, i) => 30 + i), 469]) {
      const { violations, counts, seed } = await simulate(FIRST + n)
      assert.deepEqual(violations, [], `seed ${seed}`)
      for (const what of ['deadlocks', 'reports', 'victims'])
        sum.set(what, (sum.get(what) ?? 0) + (counts.get(what) ?? 0))
    }
    const [deadlocks = 0, reports = 0, victims = 0] = sum.values()
    assert.ok(deadlocks > 35 && victims > 18 && reports > 20, JSON.stringify([...sum]))
  })

  void it('one number → the same history, to the last line', async () => {
    const [once, again] = [await simulate(FIRST + 7, { trace: true }), await simulate(FIRST + 7, { trace: true })]
    assert.ok(once.trace.length > 100)
    assert.deepEqual(again.trace, once.trace)
  })
})
