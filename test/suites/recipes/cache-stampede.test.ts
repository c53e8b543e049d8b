import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { allWell, count, firstToSay, type Recipe, recipe, type Running } from './recipe.js'

const eight = [1, 2, 3, 4, 5, 6, 7, 8]

/** The different answers that all the calls of all the processes got. */
const answersOf = (all: readonly Running[]): string[] => [
  ...new Set(all.map((running) => /^\{.*\}$/m.exec(running.text())?.[0] ?? 'none')),
]

/** A process that stands still while it computes a month. On a busy machine, the first may be done before it is stopped. */
const stoppedComputing = async (here: Recipe): Promise<[dead: Running, month: string]> => {
  for (let day = 1; day < 20; day += 1) {
    const month = `month ${day}`
    const dead = here.start('report.mjs', [month])
    await dead.said(/computing/)
    dead.kill('SIGSTOP')
    if ((await here.client.flight('reports').inspect(month)).by !== undefined) return [dead, month]
  }
  throw new Error('always done before')
}

// At the same time, because each waits for the end of a lease.
void describe('the recipe against a cache stampede', { concurrency: true }, () => {
  void test('eight processes with 100 calls each → one computation, and one answer for all', async (t) => {
    const here = await recipe(t, 'cache-stampede.md')
    if (here === undefined) return
    const all = eight.map(() => here.start('report.mjs'))
    await allWell(all)
    const computing = await firstToSay(all, /computing/)
    assert.equal(count(all, /computing/), 1)
    assert.deepEqual(answersOf(all), [`{"month":"2026-11","total":42,"computedBy":${computing.pid}}`])
  })

  void test('the process that computes is killed → one of the others computes, and all get its answer', async (t) => {
    const here = await recipe(t, 'cache-stampede.md')
    if (here === undefined) return
    const [dead, month] = await stoppedComputing(here)
    const others = [1, 2, 3].map(() => here.start('report.mjs', [month]))
    dead.kill('SIGKILL')
    await allWell(others)
    assert.equal(count(others, /computing/), 1)
    const next = await firstToSay(others, /computing/)
    assert.deepEqual(answersOf(others), [`{"month":"${month}","total":42,"computedBy":${next.pid}}`])
  })
})
