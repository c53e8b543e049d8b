import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { count, recipe, root, soon } from './recipe.js'

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

/** The blocks of the page that are TypeScript, by their files, and its compiler options. */
const typescript = async (): Promise<{ files: Map<string, string>; settings: string }> => {
  const text = await readFile(join(root, 'docs/start.md'), 'utf8')
  const blocks = text.matchAll(/^```ts\n\/\/ ([\w-]+\.mts)\n(.*?)^```$/gms)
  return {
    files: new Map([...blocks].map(([, file = '', code = '']) => [file, code])),
    settings: /^```json\n(.*?)^```$/ms.exec(text)?.[1] ?? '',
  }
}

const run = promisify(execFile)

void test('docs/start.md: its TypeScript → compiles strictly with the settings of the page, and runs', async (t) => {
  const folder = await mkdtemp(join(root, '.build/start-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const { files, settings } = await typescript()
  assert.deepEqual([...files.keys()], ['worker.mts', 'block.mts', 'finally.mts'])
  await writeFile(join(folder, 'tsconfig.json'), settings)
  for (const [file, code] of files) await writeFile(join(folder, file), code)
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  await run(process.execPath, [tsc, '-p', folder]).catch((error: unknown) => {
    assert.fail((error as { stdout: string }).stdout)
  })
  for (const file of ['block.mjs', 'finally.mjs']) {
    const { stdout } = await run(process.execPath, [join(folder, file)])
    assert.equal(stdout, 'held\nfalse\n', file)
  }
})

void test('docs/start.md: its TypeScript with a mistake → does not compile', async (t) => {
  const folder = await mkdtemp(join(root, '.build/start-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const { files, settings } = await typescript()
  await writeFile(join(folder, 'tsconfig.json'), settings)
  const code = files.get('worker.mts') ?? ''
  await writeFile(join(folder, 'worker.mts'), code.replace('reasonOf(error)', 'error.cause'))
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const refused = await run(process.execPath, [tsc, '-p', folder]).catch(
    (error: unknown) => error as { stdout: string },
  )
  assert.match(refused.stdout, /'error' is of type 'unknown'/)
})

void test('docs/start.md: its worker in TypeScript → gets SIGTERM, and finishes its report', async (t) => {
  const here = await recipe(t, '../start.md')
  if (here === undefined) return
  const { files, settings } = await typescript()
  await writeFile(join(here.folder, 'tsconfig.json'), settings)
  await writeFile(join(here.folder, 'worker.mts'), files.get('worker.mts') ?? '')
  await run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', here.folder])
  const worker = here.start('worker.mjs')
  await worker.said(/done\n/)
  worker.kill('SIGTERM')
  assert.deepEqual(await worker.ended, { code: null, signal: 'SIGTERM' })
  assert.match(worker.text(), /^(writing\ndone\n)+$/)
})
