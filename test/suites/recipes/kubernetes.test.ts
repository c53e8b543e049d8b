import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { startRedis } from '../../support/redis-server.js'
import { count, type Recipe, recipe, type Running, soon } from './recipe.js'

/** One that got SIGTERM and was asked for its probes before its last job was done, and how many jobs it had begun. */
const stoppedInTheMiddle = async (here: Recipe): Promise<[pod: Running, begun: number]> => {
  for (let tries = 0; tries < 10; tries += 1) {
    const pod = here.start('worker.mjs', [], { PORT: '0' })
    const [, port] = await pod.said(/probes on (\d+)/)
    const probe = async (path: string): Promise<number> => (await fetch(`http://127.0.0.1:${port}${path}`)).status
    await soon(async () => (await probe('/ready')) === 200)
    assert.equal(await probe('/alive'), 200)
    const before = count([pod], /job: started/)
    await soon(() => count([pod], /job: started/) > before)
    pod.kill('SIGTERM')
    const probes = async (): Promise<number[]> => [await probe('/ready'), await probe('/alive')]
    let seen: number[] = []
    // On a busy machine, it may have ended before it could be asked.
    await soon(async () => (seen = await probes().catch(() => []))[0] !== 200)
    const begun = count([pod], /job: started/)
    if (seen.length > 0 && count([pod], /job: done/) < begun) {
      assert.deepEqual(seen, [503, 200])
      return [pod, begun]
    }
    await pod.ended
  }
  throw new Error('always done before')
}

// At the same time, because each waits for the end of a lease.
void describe('the recipe for Kubernetes', { concurrency: true }, () => {
  void test('SIGTERM in the middle of a job → not ready, but alive; the job ends, and its lock is free at once', async (t) => {
    const here = await recipe(t, 'kubernetes.md')
    if (here === undefined) return
    const [pod, begun] = await stoppedInTheMiddle(here)
    assert.deepEqual(await pod.ended, { code: null, signal: 'SIGTERM' })
    assert.equal(count([pod], /job: started/), begun)
    assert.equal(count([pod], /job: done/), begun)
    assert.equal(await here.client.lock('lock:job').isLocked(), false)
  })

  void test('the lock is released by force → the pod goes on, and works again', async (t) => {
    const here = await recipe(t, 'kubernetes.md')
    if (here === undefined) return
    const pod = here.start('worker.mjs', [], { PORT: '0' })
    await pod.said(/job: started/)
    assert.equal(await here.client.lock('lock:job').forceRelease(), true)
    const begun = count([pod], /job: started/)
    await soon(() => count([pod], /job: started/) > begun)
    pod.kill('SIGTERM')
    assert.deepEqual(await pod.ended, { code: null, signal: 'SIGTERM' })
    assert.doesNotMatch(pod.text(), /Error/)
  })

  void test('Redis is away when the pod asks for the lock → it is alive, and works again when Redis is back', async (t) => {
    const here = await recipe(t, 'kubernetes.md')
    if (here === undefined) return
    const file = join(here.folder, 'worker.mjs')
    const program = await readFile(file, 'utf8')
    assert.ok(program.includes('wait: 60_000'))
    await writeFile(file, program.replace('wait: 60_000', 'wait: 1000'))
    const pod = here.start('worker.mjs', [], { PORT: '0' })
    const [, port] = await pod.said(/probes on (\d+)/)
    await pod.said(/job: started/)
    await here.server.stop()
    await pod.said(/could not acquire .* within 1000 ms/)
    const probe = async (path: string): Promise<number> => (await fetch(`http://127.0.0.1:${port}${path}`)).status
    assert.deepEqual([await probe('/ready'), await probe('/alive')], [200, 200])
    const begun = count([pod], /job: started/)
    const server = await startRedis(['--port', String(here.server.port)])
    t.after(() => server.stop())
    await soon(() => count([pod], /job: started/) > begun)
  })

  void test('Redis is away when the pod starts → alive, not ready; SIGTERM ends it, and it works when Redis is back', async (t) => {
    const here = await recipe(t, 'kubernetes.md')
    if (here === undefined) return
    await here.server.stop()
    const [pod, patient] = [1, 2].map(() => here.start('worker.mjs', [], { PORT: '0' })) as [Running, Running]
    const [, port] = await pod.said(/probes on (\d+)/)
    const probe = async (path: string): Promise<number> => (await fetch(`http://127.0.0.1:${port}${path}`)).status
    assert.deepEqual([await probe('/ready'), await probe('/alive')], [503, 200])
    pod.kill('SIGTERM')
    assert.deepEqual(await pod.ended, { code: 143, signal: null })
    await patient.said(/probes on/)
    const server = await startRedis(['--port', String(here.server.port)])
    t.after(() => server.stop())
    await patient.said(/job: started/)
  })

  void test('the job fails while it drains → the error is shown, and the process ends by the signal', async (t) => {
    const here = await recipe(t, 'kubernetes.md')
    if (here === undefined) return
    const file = join(here.folder, 'worker.mjs')
    const program = await readFile(file, 'utf8')
    const [loop, done] = ['step <= 20', `console.log('job: done')`]
    assert.ok(program.includes(loop) && program.includes(done))
    const failing = program.replace(loop, '!client.closing.aborted').replace(done, `throw new Error('it failed')`)
    await writeFile(file, failing)
    const pod = here.start('worker.mjs', [], { PORT: '0' })
    await pod.said(/job: started/)
    pod.kill('SIGTERM')
    assert.deepEqual(await pod.ended, { code: null, signal: 'SIGTERM' })
    assert.match(pod.text(), /Error: it failed/)
    assert.equal(await here.client.lock('lock:job').isLocked(), false)
  })
})
