import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { lasted, pttl, timed, watch } from '../../suites/contract/lock/kind.js'
import type { World } from '../../support/engines.js'
import { engines, scenarios } from '../../support/engines.js'

const keys = async (w: World): Promise<string[]> =>
  ((await w.raw('KEYS', '*')) as string[]).filter((key) => !key.startsWith('holdfast:client:')).sort()

/** Keys, values, expiry and messages are Redisson's. */
for (const engine of engines) {
  void describe(`semaphores on the wire of ${engine.name}`, { concurrency: engine.concurrency }, () => {
    const scenario = scenarios(engine)

    scenario('semaphore → a string with the permits that are left; notes go within seconds', async (w) => {
      const s = (await w.connect()).semaphore(w.id)
      await s.trySetPermits(5, 60_000)
      assert.equal(await w.raw('GET', w.id), '5')
      await w.run(s.acquire({ permits: 2 }))
      assert.equal(await w.raw('GET', w.id), '3')
      const notes = (await keys(w)).filter((key) => key !== w.id)
      for (const note of notes) {
        assert.ok(note.startsWith(`holdfast_request:{${w.id}}:`), note)
        assert.ok((await pttl(w, note)) > 0, `${note} never goes`)
      }
      assert.ok(notes.length > 0)
      await w.eventually(async () => (await keys(w)).length === 1, 5000)
      await s.addPermits(4)
      await s.release()
      await s.drain()
      assert.ok((await pttl(w, w.id)) > 50_000, 'the expiry was lost')
      await s.delete()
    })

    scenario('semaphore → each addition tells the new value, and never one below 1', async (w) => {
      const s = (await w.connect()).semaphore(w.id)
      const heard = await w.messages(`redisson_sc:{${w.id}}`)
      const said = async (work: Promise<unknown>, ...expected: string[]): Promise<void> => {
        heard.length = 0
        await w.run(work)
        await w.eventually(() => heard.length >= expected.length)
        await w.pass(30)
        assert.deepEqual(heard, expected)
      }
      await said(s.trySetPermits(3), '3')
      await said(s.trySetPermits(4))
      await said(s.acquire({ permits: 2 }))
      await said(s.release(), '2')
      await said(s.releaseIfExists(2), '4')
      await said(s.addPermits(3), '7')
      await said(s.addPermits(-2), '5')
      await said(s.addPermits(-9))
      await said(s.release(3))
      await said(s.drain())
      await said(s.using({ permits: 0 }, () => 0))
      await said(s.addPermits(2), '2')
      await said(
        s.using(() => 0),
        '2',
      )
      await s.delete()
      await said(s.trySetPermits(0))
      await s.delete()
    })

    scenario('permits that Redisson gives back → wake who waits here; ours are had by it', async (w) => {
      const s = (await w.connect()).semaphore(`{${w.id}}:tagged`)
      const key = `{${w.id}}:tagged`
      const channel = `redisson_sc:${key}`
      await w.raw('SET', key, 1)
      await w.run(s.acquire())
      const waiting = watch(s.acquire({ permits: 2 }))
      await w.eventually(async () => ((await w.raw('PUBSUB', 'NUMSUB', channel)) as unknown[])[1] === 1)
      await w.pass(50)
      assert.equal(waiting.settled, false)
      const { ms } = await timed(w, async () => {
        await w.raw('PUBLISH', channel, await w.raw('INCRBY', key, 2).then(String))
        await waiting.promise
      })
      lasted(w, ms, 0, 500)
      assert.equal(await w.raw('GET', key), '0')
      await s.release(2)
      assert.equal(await w.raw('DECRBY', key, 2), 0)
      await s.delete()
    })

    scenario('permits given back without a word → found by asking', async (w) => {
      const s = (await w.connect()).semaphore(w.id)
      const waiting = s.acquire({ waitForSetup: true })
      await w.pass(200)
      await w.raw('SET', w.id, 1)
      const { ms } = await timed(w, () => waiting)
      lasted(w, ms, 0, 1200)
      await s.delete()
    })
  })
}
