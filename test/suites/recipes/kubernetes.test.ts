import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { until } from '../../support/until.js'
import { count, recipe } from './recipe.js'

// At the same time, because each waits for the end of a lease.
void describe('the recipe for Kubernetes', { concurrency: true }, () => {
  void test('SIGTERM in the middle of a job → not ready, but alive; the job ends, and its lock is free at once', async (t) => {
    const here = await recipe(t, 'kubernetes.md')
    if (here === undefined) return
    const pod = here.start('worker.mjs', [], { PORT: '0' })
    const [, port] = await pod.said(/probes on (\d+)/)
    const probe = async (path: string): Promise<number> => (await fetch(`http://127.0.0.1:${port}${path}`)).status
    assert.deepEqual([await probe('/ready'), await probe('/alive')], [200, 200])

    const begun = count([pod], /job: started/)
    await until(() => count([pod], /job: started/) > begun)
    pod.kill('SIGTERM')
    await until(async () => (await probe('/ready')) === 503)
    assert.equal(await probe('/alive'), 200)
    assert.equal(count([pod], /job: done/), begun, 'in the middle of the job')

    assert.deepEqual(await pod.ended, { code: null, signal: 'SIGTERM' })
    assert.equal(count([pod], /job: started/), begun + 1)
    assert.equal(count([pod], /job: done/), begun + 1)
    assert.equal(await here.client.lock('job').isLocked(), false)
  })

  void test('the lock is released by force → the pod goes on, and works again', async (t) => {
    const here = await recipe(t, 'kubernetes.md')
    if (here === undefined) return
    const pod = here.start('worker.mjs', [], { PORT: '0' })
    await pod.said(/job: started/)
    assert.equal(await here.client.lock('job').forceRelease(), true)
    const begun = count([pod], /job: started/)
    await until(() => count([pod], /job: started/) > begun)
    pod.kill('SIGTERM')
    assert.deepEqual(await pod.ended, { code: null, signal: 'SIGTERM' })
    assert.doesNotMatch(pod.text(), /Error/)
  })
})
