import assert from 'node:assert/strict'
import { describe } from 'node:test'
import type { Hold, LockEvent } from 'holdfast'
import { forcedKey } from '#src/keys.js'
import { inTown } from '../../support/town.js'
import { brief, told, watched } from '../../support/watched.js'

const without = (events: readonly LockEvent[], type: string): readonly LockEvent[] =>
  events.filter((event) => event.type !== type)

void describe('client.watch: how a hold ended', () => {
  inTown('300 readers end between two looks, again and again → each is told soon', async (town) => {
    const [one, two] = [await town.join({ label: 'one' }), await town.join({ label: 'two' })]
    const { read } = one.readWriteLock('book')
    const first = await town.run(read.acquire())
    await town.clock.advance(2500)
    const watch = watched(two, { pattern: '*' })
    await town.clock.advance(500)
    for (let round = 1; round <= 4; round++) {
      const holds: Hold[] = []
      for (let i = 0; i < 300; i++) holds.push(await town.run(read.acquire()))
      await town.clock.advance(1000)
      for (const hold of holds) await town.run(hold.release())
      await town.clock.advance(2500)
      assert.equal(without(watch.events, 'granted').length, round * 300)
    }
    await town.run(first.release())
    await town.clock.advance(2500)
    assert.equal((await told(town, watch)).length, 2 * (4 * 300 + 1))
  })

  inTown('a key of a group is released by force, another by its owner → the note proves nothing', async (town) => {
    const [one, two, three] = [
      await town.join({ label: 'one' }),
      await town.join({ label: 'two' }),
      await town.join({ label: 'three' }),
    ]
    await town.run(one.keyedLock('g', ['a']).acquire())
    const other = await town.run(two.keyedLock('g', ['b']).acquire())
    await town.clock.advance(3000)
    const watch = watched(three, 'g')
    await town.clock.advance(2000)
    await town.run(three.keyedLock('g', ['a']).forceRelease())
    await town.run(other.release())
    await town.clock.advance(4000)
    const lines = await told(town, watch)
    assert.deepEqual(lines.slice(2).sort(), ['perhaps forced g one', 'released g two'])
  })

  inTown('a reader is released by force, another by its owner → the note proves nothing', async (town) => {
    const [one, two, three] = [
      await town.join({ label: 'one' }),
      await town.join({ label: 'two' }),
      await town.join({ label: 'three' }),
    ]
    await town.run(one.readWriteLock('book').read.acquire())
    const other = await town.run(two.readWriteLock('book').read.acquire())
    await town.clock.advance(3000)
    const watch = watched(three, 'book')
    await town.clock.advance(600)
    const owner = watch.events.find(({ label }) => label === 'one')?.owner as string
    await town.run(three.readWriteLock('book').read.forceRelease({ owner }))
    await town.run(other.release())
    await town.clock.advance(4000)
    const lines = await told(town, watch)
    assert.deepEqual(lines.slice(2).sort(), ['perhaps forced book one', 'released book two'])
  })

  inTown('the next hold is released by force before the cause is looked for → not the cause', async (town) => {
    const [one, two, three] = [
      await town.join({ label: 'one' }),
      await town.join({ label: 'two' }),
      await town.join({ label: 'three' }),
    ]
    for (const age of [3000, 1300]) {
      const hold = await town.run(one.lock('a').acquire())
      const next = two.lock('a').acquire()
      await town.clock.advance(age)
      const watch = watched(three, { pattern: '*' })
      await town.clock.advance(age === 3000 ? 100 : 2100)
      await town.run(hold.release())
      await town.run(next)
      await town.clock.advance(1400)
      await town.run(three.lock('a').forceRelease())
      await town.clock.advance(4000)
      const ends = brief(watch.events.filter(({ type }) => type === 'released' || type === 'forced'))
      assert.deepEqual(ends, ['released a one', 'forced a two'])
      await told(town, watch)
      await town.clock.advance(15_000)
    }
  })

  inTown('the same after a hold that was too short to be published → perhaps', async (town) => {
    const [one, two, three] = [
      await town.join({ label: 'one' }),
      await town.join({ label: 'two' }),
      await town.join({ label: 'three' }),
    ]
    const first = await town.run(one.lock('a').acquire())
    const calls = [two.lock('a').acquire(), one.lock('a').acquire()] as const
    await town.clock.advance(3000)
    const watch = watched(three, { pattern: '*' })
    await town.clock.advance(600)
    await town.run(first.release())
    const second = await town.run(calls[0])
    await town.clock.advance(600)
    await town.run(second.release())
    await town.run(calls[1])
    // By now it has been seen that the second hold has ended.
    await town.clock.advance(1200)
    await town.run(three.lock('a').forceRelease())
    await town.clock.advance(4000)
    const ends = (await told(town, watch)).filter((line) => line.includes('forced') || line.includes('released'))
    assert.deepEqual(ends, ['released a one', 'perhaps forced a two', 'forced a one'])
  })

  inTown('no look for longer than clients speak of it → nothing of it is certain, and all is merged', async (town) => {
    const [one, two] = [await town.join({ label: 'one' }), await town.join({ label: 'two' })]
    const [watcher, driver] = await town.joinInPart({ commandTimeout: 60_000 })
    const [lost, renewed, replaced] = [
      await town.run(two.lock('a').acquire({ lease: 60_000 })),
      await town.run(two.lock('b').acquire({ lease: 7000 })),
      await town.run(two.lock('c').acquire()),
    ]
    await town.clock.advance(3000)
    const watches = [watched(watcher, 'a'), watched(watcher, 'b'), watched(watcher, 'c')] as const
    await town.clock.advance(500)
    let goOn = (): void => undefined
    driver.until = new Promise((resolve) => {
      goOn = () => resolve(undefined)
    })
    await town.clock.advance(500)
    town.raw('DEL', 'a')
    await assert.rejects(town.run(lost.extend(20_000)))
    await town.run(renewed.extend(20_000))
    await town.run(renewed.release())
    await town.run(replaced.release())
    await town.run(one.lock('c').acquire())
    await town.run(one.lock('c').forceRelease())
    await town.clock.advance(8000)
    driver.until = undefined
    goOn()
    await town.clock.advance(4000)
    assert.deepEqual(await told(town, watches[0]), ['initial granted a two', 'perhaps released a two'])
    assert.deepEqual(await told(town, watches[1]), ['initial granted b two', 'perhaps expired b two'])
    assert.deepEqual(await told(town, watches[2]), ['initial granted c two', 'perhaps forced c two'])
    for (const { events } of watches)
      assert.deepEqual(
        events.map(({ merged }) => merged),
        [undefined, true],
      )
  })

  inTown('a place is granted within its client, and tidied away later → perhaps gave up', async (town) => {
    const [one, two, three] = [await town.join({ label: 'one' }), await town.join({ label: 'two' }), await town.join()]
    const hold = await town.run(two.fairLock('f').acquire())
    const calls = [one.fairLock('f').acquire(), one.fairLock('f').acquire()]
    await town.clock.advance(3000)
    const watch = watched(three, 'f')
    await town.clock.advance(600)
    await town.run(hold.release())
    await town.run((await town.run(calls[0] as Promise<Hold>)).release())
    const second = await town.run(calls[1] as Promise<Hold>)
    await town.clock.advance(4000)
    const gaveUp = brief(watch.events).filter((line) => line.includes('gave up'))
    assert.deepEqual(gaveUp, ['perhaps gave up f one'])
    await town.run(second.release())
    await town.clock.advance(2000)
    await told(town, watch)
  })

  inTown('the cause of one end cannot be read in a cluster → other locks go on; in the end, perhaps', async (town) => {
    const two = await town.join({ label: 'two' })
    const [watcher, driver] = await town.joinInPart()
    driver.cluster = true
    const holds = [await town.run(two.lock('a').acquire()), await town.run(two.lock('b').acquire())]
    await town.clock.advance(2500)
    const watch = watched(watcher, { pattern: '*' })
    await town.clock.advance(500)
    driver.refuses = (words) => (words.includes(forcedKey('a')) ? 'CLUSTERDOWN Hash slot not served' : undefined)
    for (const hold of holds) await town.run(hold.release())
    await town.clock.advance(4000)
    assert.deepEqual(brief(watch.events).slice(2), ['released b two'])
    await town.clock.advance(9000)
    assert.deepEqual((await told(town, watch)).slice(2), ['released b two', 'perhaps released a two'])
  })
})
