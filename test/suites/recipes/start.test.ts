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
