import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { allWell, recipe, soon } from './recipe.js'

const LEASE = 3000

// At the same time, because each waits for the end of a lease.
void describe('the recipe of CPU-bound work', { concurrency: true }, () => {
  void test('a computation in a worker thread → right, and one process after the other', async (t) => {
    const here = await recipe(t, 'cpu-bound.md')
    if (here === undefined) return
    const all = [1, 2].map(() => here.start('primes.mjs', ['1000000']))
    await allWell(all)
    for (const running of all) assert.match(running.text(), /^counting to 1000000\n78498 primes\n$/)
  })

  void test('it takes longer than its lease → it keeps the lock; the lock is lost → the computation ends', async (t) => {
    const here = await recipe(t, 'cpu-bound.md')
    if (here === undefined) return
    const lock = here.client.lock('lock:primes')
    const running = here.start('primes.mjs', ['1e15'])
    await running.said(/counting to/)
    const began = performance.now()
    const { owner } = (await lock.inspect()).holders[0] ?? {}
    assert.notEqual(owner, undefined)
    await soon(() => performance.now() > began + 1.5 * LEASE)
    assert.equal((await lock.inspect()).holders[0]?.owner, owner)

    assert.equal(await lock.forceRelease(), true)
    assert.deepEqual(await running.ended, { code: 1, signal: null })
    assert.match(running.text(), /stopped: /)
    assert.doesNotMatch(running.text(), /primes\n/)
  })

  void test('the worker ends without a result → code 1, and the lock is free', async (t) => {
    const here = await recipe(t, 'cpu-bound.md')
    if (here === undefined) return
    const file = join(here.folder, 'primes.mjs')
    const program = await readFile(file, 'utf8')
    const result = 'parentPort.postMessage(countPrimes(workerData))'
    assert.ok(program.includes(result))
    await writeFile(file, program.replace(result, 'process.exit(3)'))
    const running = here.start('primes.mjs', ['10'])
    assert.deepEqual(await running.ended, { code: 1, signal: null })
    assert.match(running.text(), /stopped: the worker ended with code 3\n/)
    assert.equal(await here.client.lock('lock:primes').isLocked(), false)
  })
})
