import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { allWell, count, firstToSay, recipe } from './recipe.js'

const DAY = '2026-11-26'
const three = [1, 2, 3]

// At the same time, because each waits for the end of a lease.
void describe('the recipe of a cron job', { concurrency: true }, () => {
  void test('a cron job on three machines → runs once; a machine that is late does not run it again', async (t) => {
    const here = await recipe(t, 'cron-job.md')
    if (here === undefined) return
    const all = three.map(() => here.start('nightly.mjs'))
    await allWell(all)
    all.push(here.start('nightly.mjs'))
    await allWell(all)
    assert.equal(count(all, /writing, attempt 1/), 1)
    assert.equal(count(all, /: written/), 1)
    assert.equal(count(all, /not here \(ran\)/), 3)
  })

  void test('the process that runs the job is killed → one of the others takes over, with a larger token', async (t) => {
    const here = await recipe(t, 'cron-job.md')
    if (here === undefined) return
    const all = three.map(() => here.start('nightly.mjs', [DAY]))
    const dead = await firstToSay(all, /writing, attempt 1, token 1\n/)
    dead.kill('SIGKILL')
    assert.doesNotMatch(dead.text(), /: written/)
    const living = all.filter((running) => running !== dead)
    await allWell(living)
    assert.equal(count(all, /writing/), 2)
    assert.equal(count(living, /writing, attempt 2, token 2\n/), 1)
    assert.equal(count(living, /: written/), 1)
    assert.equal(count(living, /not here \(ran\)/), 1)
  })
})
