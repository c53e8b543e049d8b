import assert from 'node:assert/strict'
import { test } from 'node:test'
import { count, recipe, soon } from './recipe.js'

void test('docs/start.md: two processes take turns; the one that gets SIGTERM finishes its report, and the other goes on', async (t) => {
  const here = await recipe(t, '../start.md')
  if (here === undefined) return
  const one = here.start('worker.mjs')
  const other = here.start('worker.mjs')
  await soon(() => count([one], /done\n/) > 0 && count([other], /done\n/) > 0)
  one.kill('SIGTERM')
  assert.deepEqual(await one.ended, { code: null, signal: 'SIGTERM' })
  const done = count([other], /done\n/)
  await soon(() => count([other], /done\n/) > done)
  other.kill('SIGTERM')
  assert.deepEqual(await other.ended, { code: null, signal: 'SIGTERM' })
  for (const { text } of [one, other]) {
    const reports = text().match(/writing \w+|done/g) ?? []
    assert.equal(reports.length % 4, 0, text())
    assert.equal(reports.at(-1), 'done')
  }
})

void test('docs/start.md: the lock is released by force during a report → the process says that it lost the lock, and writes again', async (t) => {
  const here = await recipe(t, '../start.md')
  if (here === undefined) return
  const one = here.start('worker.mjs', [], { PAUSE: '6000' })
  await one.said(/writing sales/)
  assert.equal(await here.client.lock('lock:report').forceRelease(), true)
  // The watchdog asks after 10 s, and the report notices it 2 s later, between two of its steps.
  await one.said(/lost the lock/)
  await soon(() => count([one], /writing sales/) > 1)
  assert.doesNotMatch(one.text(), /done\n|AbortError/)
})
