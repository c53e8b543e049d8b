import assert from 'node:assert/strict'
import { describe } from 'node:test'
import type { ClientOptions, Lock } from 'holdfast'
import { inTown, type Town } from '../../support/town.js'
import { startRing, toldTo } from './ring.js'

/** Two clients of which each holds what the other waits for. */
const twoOf = async (town: Town, options: ClientOptions = {}, other = options) => {
  const [one, two] = [await town.join(options), await town.join(other)]
  return { one, two, told: [toldTo(one), toldTo(two)] as const }
}

const lengths = (told: readonly (readonly unknown[])[]): number[] => told.map(({ length }) => length)

const until = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve()))

void describe('no deadlock', () => {
  for (const ends of [1050, 1200, 1400]) {
    inTown(`a call gives up after ${ends} ms, between two looks → nobody is told`, async (town) => {
      const { one, two, told } = await twoOf(town, { deadlocks: 'break' })
      const { outcomes, ended } = await startRing(town, [
        { holds: [one.lock('a')], wants: one.lock('b'), wait: ends },
        { holds: [two.lock('b')], wants: two.lock('a') },
      ])
      await town.run(ended)
      await town.clock.advance(3000)
      assert.equal(outcomes[1], 'had')
      assert.deepEqual(lengths(told), [0, 0])
    })
  }

  inTown('a fixed lease ends by itself → nobody is told; a lease that is renewed → both are', async (town) => {
    for (const renew of [false, true]) {
      const { one, two, told } = await twoOf(town)
      const work = (mine: Lock, theirs: Lock, options: object): Promise<unknown> =>
        mine.using(options, async () => {
          await pause(town, 50)
          await theirs.using({ wait: 5000 }, () => undefined)
        })
      const both = [
        work(one.lock('a'), one.lock('b'), { lease: 20_000, renew }),
        work(two.lock('b'), two.lock('a'), {}),
      ]
      const settled = Promise.allSettled(both)
      await town.clock.advance(4000)
      assert.deepEqual(lengths(told), renew ? [1, 1] : [0, 0])
      await town.run(settled)
    }
  })

  for (const [who, options] of [
    ['does not look', { deadlocks: 'off' }],
    ['is without presence', { presence: false }],
  ] as const) {
    inTown(`one of the clients ${who} → nobody is told`, async (town) => {
      const { one, two, told } = await twoOf(town, {}, options)
      const { ended } = await startRing(town, [
        { holds: [one.lock('a')], wants: one.lock('b'), wait: 6000 },
        { holds: [two.lock('b')], wants: two.lock('a'), wait: 6000 },
      ])
      await town.clock.advance(5000)
      assert.equal(town.raw('EXISTS', `holdfast:client:${two.id}:waits`), 0)
      assert.equal(town.raw('EXISTS', `holdfast:client:${one.id}:waits`), 1)
      assert.deepEqual(lengths(told), [0, 0])
      await town.run(ended)
    })
  }

  inTown('a call that holds nothing, or waits for less than a second → writes nothing', async (town) => {
    const { one, two } = await twoOf(town)
    const hold = await town.run(one.lock('b').acquire())
    const alone = two.lock('b').acquire({ owner: two.owner() })
    await town.clock.advance(5000)
    assert.equal(town.raw('EXISTS', `holdfast:client:${two.id}:waits`), 0)
    const nested = one.lock('c').using(() => two.lock('c').tryAcquire({ wait: 900 }))
    await town.run(nested)
    const both = one.lock('d').using(async () => {
      const old = two.lock('d').tryAcquire({ wait: 1700 })
      const [other, older] = [one.owner(), one.owner()]
      const kept = [await one.lock('e').acquire({ owner: other }), await one.lock('f').acquire({ owner: older })]
      const first = one.lock('b').tryAcquire({ wait: 1700, owner: older })
      await pause(town, 1000)
      const second = one.lock('b').tryAcquire({ wait: 600, owner: other })
      await pause(town, 500)
      assert.equal(town.raw('HLEN', `holdfast:client:${one.id}:waits`), 2, 'the older one, and the beat')
      for (const call of [old, first, second]) assert.equal(await call, undefined)
      for (const hold of kept) await hold.release()
    })
    await town.run(both)
    await town.clock.advance(2000)
    assert.equal(town.raw('EXISTS', `holdfast:client:${two.id}:waits`), 0)
    await town.run(hold.release())
    await town.run((await town.run(alone)).release())
  })

  inTown(
    'code that waits for two locks at once → nobody while one of them will come; both ways when none will',
    async (town) => {
      const { one, two, told } = await twoOf(town)
      const three = await town.join()
      const [works, stop] = [new AbortController(), new AbortController()]
      const give = { signal: stop.signal }
      const nothing = (): undefined => undefined
      const all = Promise.allSettled([
        two.lock('b').using(async () => {
          await pause(town, 100)
          await two.lock('a').using(give, nothing)
        }),
        three.lock('c').using(async () => {
          await until(works.signal)
          await three.lock('a').using(give, nothing)
        }),
        one.lock('a').using(async () => {
          await pause(town, 50)
          await Promise.race([one.lock('b').using(give, nothing), one.lock('c').using(give, nothing)])
        }),
      ])
      await town.clock.advance(4000)
      assert.deepEqual(lengths(told), [0, 0])
      works.abort()
      await town.clock.advance(4000)
      assert.deepEqual(lengths(told), [2, 1])
      stop.abort()
      await town.run(all)
    },
  )

  inTown('a semaphore in between → nobody is told: its permits have no owners', async (town) => {
    const { one, two, told } = await twoOf(town)
    const [mine, theirs] = [one.semaphore('s'), two.semaphore('s')]
    await town.run(mine.trySetPermits(1))
    const both = Promise.allSettled([
      one.lock('a').using(async () => {
        await pause(town, 50)
        await mine.tryAcquire({ wait: 5000 })
      }),
      theirs.using(async () => {
        await pause(town, 50)
        await two.lock('a').using({ wait: 5000 }, () => undefined)
      }),
    ])
    await town.clock.advance(4500)
    assert.deepEqual(lengths(told), [0, 0])
    await town.run(both)
    await town.run(mine.delete())
  })
})

const pause = (town: Town, ms: number): Promise<void> => new Promise((resolve) => void town.clock.setTimer(resolve, ms))
