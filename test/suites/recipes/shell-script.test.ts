import assert from 'node:assert/strict'
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { count, firstToSay, type Recipe, recipe, root, type Running } from './recipe.js'

/** The page's script, but its work waits until there is a file `go`: so each step of a test falls into its middle. */
const gated = async ({ folder }: Recipe): Promise<void> => {
  const file = join(folder, 'backup.sh')
  const script = await readFile(file, 'utf8')
  assert.ok(script.includes('  sleep 1\n'))
  await writeFile(file, script.replace('  sleep 1\n', '  while [ ! -e go ]; do sleep 0.1; done\n'))
}

/** `holdfast` on the PATH, as a global installation has it. */
const onThePath = async ({ folder }: Recipe): Promise<string> => {
  const bin = join(folder, 'bin')
  await mkdir(bin)
  const program = join(bin, 'holdfast')
  await writeFile(program, `#!/bin/sh\nexec "${process.execPath}" "${join(root, 'dist/cli/main.js')}" "$@"\n`)
  await chmod(program, 0o755)
  return `${bin}:${process.env['PATH']}`
}

// At the same time, because each waits for the end of a lease.
void describe('the recipe of a shell script', { concurrency: true }, () => {
  void test('a script is started twice → one runs, the other ends with code 0; the result is whole', async (t) => {
    const here = await recipe(t, 'shell-script.md')
    if (here === undefined) return
    const PATH = await onThePath(here)
    await gated(here)
    const start = (): Running => here.start('backup.sh', ['out'], { PATH })
    const all = [start(), start()]
    const runs = await firstToSay(all, /backup: started, token 1\n/)
    const other = all.find((one) => one !== runs)!
    assert.deepEqual(await other.ended, { code: 0, signal: null })
    assert.doesNotMatch(runs.text(), /done/, 'the other one did not wait')
    await writeFile(join(here.folder, 'go'), '')
    assert.deepEqual(await runs.ended, { code: 0, signal: null })
    assert.equal(count(all, /backup: started/), 1)
    assert.equal(count([runs], /backup: done/), 1)
    const files = await readdir(join(here.folder, 'out'))
    assert.equal(files.length, 1, files.join())
    assert.equal(await readFile(join(here.folder, 'out', files[0]!), 'utf8'), 'customer\norder\ninvoice\n')
  })

  void test('the lock is released by force → the script is ended, code 79, nothing is written', async (t) => {
    const here = await recipe(t, 'shell-script.md')
    if (here === undefined) return
    const PATH = await onThePath(here)
    await gated(here)
    const running = here.start('backup.sh', ['out'], { PATH })
    await running.said(/backup: started/)
    assert.equal(await here.client.fencedLock('backup').forceRelease(), true)
    assert.deepEqual(await running.ended, { code: 79, signal: null })
    assert.doesNotMatch(running.text(), /done/)
    assert.deepEqual(await readdir(join(here.folder, 'out')), ['part-1'])
  })

  void test('holdfast run is killed → the script ends as well', async (t) => {
    const here = await recipe(t, 'shell-script.md')
    if (here === undefined) return
    const PATH = await onThePath(here)
    await gated(here)
    const running = here.start('backup.sh', ['out'], { PATH })
    await running.said(/backup: started/)
    running.kill('SIGKILL')
    // Its output ends when nobody is left that could write there.
    assert.deepEqual(await running.ended, { code: null, signal: 'SIGKILL' })
    assert.doesNotMatch(running.text(), /done/)
    assert.deepEqual(await readdir(join(here.folder, 'out')), ['part-1'])
  })
})
