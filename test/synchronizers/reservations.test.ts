import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { lasted, rejection, timed, watch } from '../contract/lock/kind.js'
import { engines, scenarios } from '../engines.js'
import { onStage } from './stage.js'

const RESERVATION = 'holdfast_reserved:{s}'

void describe('permits that are saved up', () => {
  onStage(
    'for a long time → never for more than 3 s at a time, and without a gap',
    async ({ clock, client, raw, run }) => {
      const s = client.semaphore('s')
      await run(s.trySetPermits(2))
      const waiting = rejection(s.acquire({ permits: 3 }))
      let [longest, began] = [0, 0]
      for (let tick = 0; tick < 1200; tick++) {
        await clock.advance(100)
        const left = Number(raw('PTTL', RESERVATION))
        assert.ok(left <= 3000, `${left} ms`)
        if (left < 0) began = clock.now()
        longest = Math.max(longest, clock.now() - began)
      }
      assert.ok(longest > 6000, `${longest} ms at most`)
      void client.close()
      await run(waiting)
    },
    ['s'],
  )

  onStage(
    'for one who is silent from now on → not for long',
    async ({ clock, driver, client, raw, run }) => {
      const s = client.semaphore('s')
      await run(s.trySetPermits(2))
      const waiting = rejection(s.acquire({ permits: 3 }))
      await clock.advance(20_000)
      while (raw('EXISTS', RESERVATION) === 0) await clock.advance(100)
      driver.up = false
      await clock.advance(3100)
      assert.equal(raw('EXISTS', RESERVATION), 0)
      driver.up = true
      await clock.advance(2000)
      void client.close()
      await run(waiting)
    },
    ['s'],
  )

  for (const engine of engines) {
    void describe(`among clients, on ${engine.name}`, { concurrency: engine.concurrency }, () => {
      const scenario = scenarios(engine)

      scenario('had, and some are over → those who stood back have them at once', async (w) => {
        const [small, big, third] = [await w.connect(), await w.connect(), await w.connect()]
        await third.semaphore(w.id).trySetPermits(0)
        const first = watch(small.semaphore(w.id).acquire())
        await w.pass(50)
        const three = big.semaphore(w.id).acquire({ permits: 3 })
        await w.eventually(async () => (await w.raw('EXISTS', `holdfast_reserved:{${w.id}}`)) === 1)
        await third.semaphore(w.id).release(5)
        await w.run(three)
        const { ms } = await timed(w, () => first.promise)
        lasted(w, ms, 0, 100)
        assert.equal(await third.semaphore(w.id).available(), 1)
        await w.raw('DEL', w.id)
      })
    })
  }
})
