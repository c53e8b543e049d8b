import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { BusyError, ClosedError, EngineError } from 'holdfast'
import type { Scenario } from '../../support/engines.js'
import { engines, scenarios } from '../../support/engines.js'
import { exists, isBadArgument, lasted, pttl, rejection, timed, times, watch } from './lock/kind.js'

const channelOf = (name: string): string => `redisson_countdownlatch__channel__{${name}}`

/** Redisson's own tests of its latch. */
const redissonLines = (scenario: Scenario): void => {
  scenario('C01, C02: counted down within the wait → true; later → false at its time', async (w) => {
    const [one, two] = [await w.connect(), await w.connect()]
    const latch = one.countDownLatch(w.id)
    assert.equal(await latch.trySetCount(1), true)
    const early = await timed(w, () => two.countDownLatch(w.id).wait({ wait: 300 }))
    assert.equal(early.value, false)
    lasted(w, early.ms, 300)
    const counting = w.pause(300).then(() => latch.countDown())
    const { value, ms } = await timed(w, () => two.countDownLatch(w.id).wait({ wait: 20_000 }))
    assert.equal(value, true)
    lasted(w, ms, 290, 400)
    assert.equal(await w.run(counting), 0)
  })

  scenario(
    'C03, C09, C10: many wait in several processes → all are freed by the last count, none before',
    async (w) => {
      const clients = await Promise.all(times(3, () => w.connect()))
      const latch = clients[0]?.countDownLatch(w.id)
      assert.equal(await latch?.trySetCount(5), true)
      const waits = clients.flatMap((client) => times(40, () => watch(client.countDownLatch(w.id).wait())))
      await w.eventually(async () => {
        const [, told] = (await w.raw('PUBSUB', 'NUMSUB', channelOf(w.id))) as number[]
        return told === 3
      })
      for (let left = 4; left > 0; left -= 1) assert.equal(await latch?.countDown(), left)
      await w.pass(100)
      assert.ok(waits.every(({ settled }) => !settled))
      const { ms } = await timed(w, async () => {
        assert.equal(await latch?.countDown(), 0)
        return Promise.all(waits.map(({ promise }) => promise))
      })
      lasted(w, ms, 0, 500)
      assert.equal(await latch?.count(), 0)
    },
  )

  scenario('C04, C08: counted beyond none, or never set → open, and nothing is there', async (w) => {
    const latch = (await w.connect()).countDownLatch(w.id)
    assert.equal(await latch.count(), 0)
    assert.equal(await w.run(latch.wait()), true)
    assert.equal(await latch.countDown(), 0)
    assert.equal(await exists(w, w.id), false)
    await latch.trySetCount(2)
    assert.equal(await w.raw('GET', w.id), '2')
    assert.deepEqual([await latch.countDown(), await latch.count()], [1, 1])
    assert.deepEqual([await latch.countDown(), await latch.countDown(), await latch.count()], [0, 0, 0])
    assert.equal(await w.run(latch.wait({ wait: 0 })), true)
    assert.equal(await exists(w, w.id), false)
  })

  scenario('C05, C06, C07: set once; deleted, and who waits is freed', async (w) => {
    const [one, two] = [await w.connect(), await w.connect()]
    const latch = one.countDownLatch(w.id)
    assert.equal(await latch.delete(), false)
    assert.equal(await latch.trySetCount(1), true)
    assert.equal(await latch.trySetCount(2), false)
    assert.equal(await latch.count(), 1)
    const waiting = watch(two.countDownLatch(w.id).wait())
    await w.pass(200)
    assert.equal(waiting.settled, false)
    const { value, ms } = await timed(w, () => latch.delete().then(() => waiting.promise))
    assert.equal(value, true)
    lasted(w, ms, 0, 500)
  })
}

/** Messages, limits, aborts, closing. */
const waiting = (scenario: Scenario): void => {
  scenario('on the wire → 1 when it is set, 0 when it opens, 1 and 0 when it is deleted', async (w) => {
    const latch = (await w.connect()).countDownLatch(w.id)
    const heard = await w.messages(channelOf(w.id))
    await latch.trySetCount(2)
    await latch.countDown()
    await latch.countDown()
    await latch.countDown()
    await latch.trySetCount(1)
    await latch.trySetCount(1)
    await latch.delete()
    await latch.delete()
    await w.eventually(() => heard.length >= 5)
    await w.pass(30)
    assert.deepEqual(heard, ['1', '0', '1', '1', '0'])
  })

  scenario('set with an expiry → open when it is over; counting keeps it', async (w) => {
    const [one, two] = [await w.connect(), await w.connect()]
    const latch = one.countDownLatch(w.id)
    await latch.trySetCount(3)
    assert.equal(await latch.expire(60_000), true)
    await latch.countDown()
    assert.ok((await pttl(w, w.id)) > 50_000)
    assert.equal(await latch.clearExpire(), true)
    assert.equal(await pttl(w, w.id), -1)
    assert.equal(await latch.expire(400), true)
    const { value, ms } = await timed(w, () => two.countDownLatch(w.id).wait())
    assert.equal(value, true)
    lasted(w, ms, 0, 1700)
    assert.equal(await latch.expire(400), false)
  })

  scenario('counted down without a word, or a message that means nothing → found by asking', async (w) => {
    const latch = (await w.connect()).countDownLatch(w.id)
    await latch.trySetCount(2)
    const waits = watch(latch.wait())
    await w.pass(150)
    for (const word of ['0', '1', 'x']) await w.raw('PUBLISH', channelOf(w.id), word)
    await w.pass(150)
    assert.equal(waits.settled, false, 'a message alone opened it')
    await w.raw('DEL', w.id)
    const { ms } = await timed(w, () => waits.promise)
    lasted(w, ms, 0, 1300)
  })

  scenario(
    'G-09, G-19: aborted → the reason; closed → ClosedError, and calls afterwards too; nothing left',
    async (w) => {
      const [client, other] = [await w.connect(), await w.connect({ maxWaiters: 1 })]
      const latch = client.countDownLatch(w.id)
      await latch.trySetCount(1)
      const controller = new AbortController()
      const aborted = rejection(latch.wait({ signal: controller.signal }))
      const closed = rejection(latch.wait())
      const patient = other.countDownLatch(w.id).wait()
      await w.pass(100)
      assert.ok((await w.run(rejection(other.countDownLatch(w.id).wait()))) instanceof BusyError)
      assert.equal(await w.run(other.countDownLatch(w.id).wait({ wait: 0 })), false)
      controller.abort('enough')
      assert.equal(await w.run(aborted), 'enough')
      assert.equal(await rejection(latch.wait({ signal: controller.signal })), 'enough')
      const closing = client.close()
      assert.ok((await w.run(closed)) instanceof ClosedError)
      await w.run(closing)
      for (const call of [() => latch.wait(), () => latch.countDown(), () => latch.count(), () => latch.delete()]) {
        assert.ok((await rejection(call())) instanceof ClosedError)
      }
      await other.countDownLatch(w.id).countDown()
      assert.equal(await w.run(patient), true)
    },
  )

  scenario('G-15, G-23: a foreign value, counts and waits that cannot be → refused, nothing changed', async (w) => {
    const client = await w.connect()
    const latch = client.countDownLatch(w.id)
    for (const bad of [0, -1, 1.5, NaN, Infinity, 2 ** 31, '2', 2n, null]) {
      isBadArgument(await rejection(latch.trySetCount(bad as number)), 'count', bad)
    }
    isBadArgument(await rejection(latch.wait({ wait: -1 })), 'wait', -1)
    assert.throws(() => client.countDownLatch(''), TypeError)
    await w.raw('HSET', w.id, 'f', 1)
    for (const call of [() => latch.wait(), () => latch.countDown(), () => latch.count()]) {
      const error = await w.run(rejection(call()))
      assert.ok(error instanceof EngineError && error.code === 'WRONG_KIND', String(error))
    }
    assert.equal(await latch.trySetCount(1), false)
    assert.deepEqual(await w.raw('HGETALL', w.id), ['f', '1'])
    await w.raw('DEL', w.id)
  })
}

for (const engine of engines) {
  void describe(`count-down latch on ${engine.name}`, { concurrency: engine.concurrency }, () => {
    const scenario = scenarios(engine)
    for (const part of [redissonLines, waiting]) part(scenario)
  })
}
