import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
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

  void test('a machine starts the job 20 s before midnight, another one 20 s after → the same day, once', async (t) => {
    const here = await recipe(t, 'cron-job.md')
    if (here === undefined) return
    const program = await readFile(join(here.folder, 'nightly.mjs'), 'utf8')
    const now = 'await nightly.now()'
    assert.ok(program.includes(now))
    const startAt = async (time: string): Promise<string> => {
      await writeFile(join(here.folder, 'at.mjs'), program.replace(now, `Date.parse('${time}Z')`))
      const running = here.start('at.mjs')
      await allWell([running])
      return running.text()
    }
    assert.match(await startAt('2026-11-26T23:59:40'), /^2026-11-27: written$/m)
    assert.equal(await startAt('2026-11-27T00:00:20'), '2026-11-27: not here (ran)\n')
  })
})
