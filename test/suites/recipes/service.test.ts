import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { recipe } from './recipe.js'

void test('docs/slots.md: SIGTERM while the service writes a report and leads → it stops leading at once, and writes the report to its end', async (t) => {
  const here = await recipe(t, '../slots.md')
  if (here === undefined) return
  const file = join(here.folder, 'service.mjs')
  const program = await readFile(file, 'utf8')
  const [cron, pause] = [`cron: '0 2 * * *'`, 'await sleep(500)\n  signal']
  assert.ok(program.includes(cron) && program.includes(pause))
  const often = program.replace(cron, `cron: '*/4 * * * * *'`)
  await writeFile(file, often.replace(pause, 'await sleep(3000)\n  signal'))
  const service = here.start('service.mjs')
  await service.said(/report of \S+Z/)
  service.kill('SIGTERM')
  assert.deepEqual(await service.ended, { code: null, signal: 'SIGTERM' })
  assert.match(service.text(), /no longer leading\nreport written\n$/)
  assert.doesNotMatch(service.text(), /report written[^]*report of/)
})
