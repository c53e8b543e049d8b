import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { playHistory } from './history.js'

void describe('histories of deadlocks', () => {
  void test('none is missed after 3 s, none is reported that was not, at most one victim each', async () => {
    let [cycles, victims, reports] = [0, 0, 0]
    for (let seed = 1; seed <= 30; seed++) {
      const figures = await playHistory(seed)
      assert.deepEqual(figures.violations, [], `history ${seed}`)
      cycles += figures.cycles
      victims += figures.victims
      reports += figures.reports
    }
    assert.ok(cycles > 50 && victims > 20 && reports > 50, JSON.stringify({ cycles, victims, reports }))
  })
})
