import assert from 'node:assert/strict'
import { describe } from 'node:test'
import type { Client, EngineError, Hold } from 'holdfast'
import type { PartialDriver } from '../../support/partial-driver.js'
import { indexKey, registerKey } from '#src/keys.js'
import { readWriteLockInspect } from '#src/lua/scripts.gen.js'
import { inTown, type Town } from '../../support/town.js'
import { brief, told, watched } from '../../support/watched.js'

interface Cluster {
  readonly one: Client
  readonly two: Client
  readonly reader: Client
  readonly driver: PartialDriver
  readonly holds: readonly Hold[]
  /** The commands for these keys end in an error. */
  away(...keys: readonly string[]): void
}

/** `one` holds the lock `a`, `two` the lock `b`. What is away is so for `reader` alone. */
const clusterOf = async (town: Town): Promise<Cluster> => {
  const [one, two] = [await town.join({ label: 'one' }), await town.join({ label: 'two' })]
  const [reader, driver] = await town.joinInPart({ presence: false })
  driver.cluster = true
  const holds = [await town.run(one.lock('a').acquire()), await town.run(two.lock('b').acquire())]
  await town.clock.advance(3000)
  const away = (...keys: readonly string[]): void => {
    driver.refuses = (words) =>
      words.some((word) => keys.includes(word)) ? 'CLUSTERDOWN Hash slot not served' : undefined
  }
  return { one, two, reader, driver, holds, away }
}

const names = async (town: Town, reader: Client): Promise<string[]> => (await town.list(reader)).map(({ name }) => name)

void describe('a part of a cluster is away', () => {
  inTown('list → what can be read; if that is nothing, or a lock was asked for by its name, an error', async (town) => {
    const { two, reader, away } = await clusterOf(town)
    assert.deepEqual(await names(town, reader), ['a', 'b'])
    away(indexKey(two.id))
    assert.deepEqual(await names(town, reader), ['a'], 'the index of one client')
    away('b')
    assert.deepEqual(await names(town, reader), ['a'], 'a lock')
    await assert.rejects(town.list(reader, { name: 'b' }), { code: 'CLUSTERDOWN' })
    assert.deepEqual(
      (await town.list(reader, { name: 'a' })).map(({ name }) => name),
      ['a'],
    )
    for (const keys of [['a', 'b'], [registerKey()]]) {
      away(...keys)
      await assert.rejects(town.list(reader), { code: 'CLUSTERDOWN' }, keys.join())
    }
  })

  inTown('a slot moves → its lock alone is left out, and the others of that master are asked about', async (town) => {
    const { reader, driver } = await clusterOf(town)
    driver.nodeOf = () => 'the only master'
    driver.refuses = (words) =>
      words.includes('a') ? 'TRYAGAIN Multiple keys request during rehashing of slot' : undefined
    const skipped: (string | undefined)[] = []
    const rows = await town.list(reader, { onSkipped: ({ name }) => void skipped.push(name) })
    assert.deepEqual(
      rows.map(({ name }) => name),
      ['b'],
    )
    assert.deepEqual(skipped, ['a'])
  })

  for (const what of ['a', { pattern: '*' }])
    inTown(`watch(${JSON.stringify(what)}) → what happens to locks that can be asked about`, async (town) => {
      const { one, two, reader, holds, away } = await clusterOf(town)
      const three = await town.join({ label: 'three' })
      const watch = watched(reader, what)
      await town.clock.advance(1500)
      const begun = watch.events.length
      let hold = holds[0] as Hold
      for (const keys of [[indexKey(two.id)], [registerKey()], ['b', registerKey(), indexKey(two.id)]]) {
        away(...keys)
        await town.clock.advance(3000)
        const [before, next] = [watch.events.length, three.lock('a').acquire()]
        await town.clock.advance(2000)
        await town.run(hold.release())
        hold = await town.run(next)
        await town.clock.advance(3000)
        await town.run(hold.release())
        hold = await town.run(one.lock('a').acquire())
        await town.clock.advance(4000)
        assert.deepEqual(
          watch.events.slice(before).map(({ type, label }) => `${type} ${label}`),
          ['waiting three', 'released one', 'granted three', 'released three', 'granted one'],
          keys.join(),
        )
      }
      away()
      await town.clock.advance(3000)
      const lines = await told(town, watch)
      assert.equal(lines.length, begun + 3 * 5)
    })

  inTown('a watched lock is away, and changes → the change is told afterwards, as merged', async (town) => {
    const { reader, driver, holds, away } = await clusterOf(town)
    const watch = watched(reader, { pattern: '*' })
    await town.clock.advance(1500)
    away('a')
    const { refuses } = driver
    let times = 0
    driver.refuses = (words) => {
      if (words[0] === 'TIME' && words.includes('a')) times++
      return refuses(words)
    }
    await town.clock.advance(3500)
    assert.ok(times <= 2, `a node that is away was asked for its time ${times} times`)
    for (const hold of holds) await town.run(hold.release())
    await town.clock.advance(2500)
    assert.deepEqual(brief(watch.events).slice(2), ['released b two'])
    away()
    await town.clock.advance(2500)
    assert.equal((await told(town, watch)).length, 4)
    const [, ended] = watch.events.slice(2)
    assert.deepEqual([ended?.type, ended?.name, ended?.merged], ['released', 'a', true])
  })

  inTown('one kind cannot be read at the first look → it is not taken for free', async (town) => {
    const { one, reader, driver } = await clusterOf(town)
    const hold = await town.run(one.readWriteLock('book').write.acquire())
    let refused = 0
    driver.refuses = (words) =>
      words.includes(readWriteLockInspect.sha) && refused++ < 1 ? 'CLUSTERDOWN Hash slot not served' : undefined
    const watch = watched(reader, 'book')
    await town.clock.advance(1000)
    assert.deepEqual(await told(town, watch), ['initial granted book one'])
    assert.ok(refused > 1)
    await town.run(hold.release())
  })

  inTown('a key of a group, and the client that says which is away → the hold has not ended', async (town) => {
    const { two, reader, away } = await clusterOf(town)
    const hold = await town.run(two.keyedLock('g', ['k']).acquire())
    await town.clock.advance(2500)
    const watch = watched(reader, 'g')
    await town.clock.advance(500)
    away(indexKey(two.id))
    await town.clock.advance(4000)
    assert.deepEqual(brief(watch.events), ['initial granted g two'])
    away()
    await town.run(hold.release())
    await town.clock.advance(4000)
    assert.deepEqual(await told(town, watch), ['initial granted g two', 'released g two'])
  })
})

/** As a server says it. */
const REFUSED = 'NOPERM this user has no permissions to access one of the keys used as arguments'

const forbid = (driver: PartialDriver, key: string): void => {
  driver.refuses = (words) => (words.includes(key) ? REFUSED : undefined)
}

void describe('a user who may not read one of the locks', () => {
  inTown('it is the only one of a pattern → the loop goes on; asked for by its name → an error', async (town) => {
    const one = await town.join({ label: 'one' })
    const [reader, driver] = await town.joinInPart({ presence: false })
    forbid(driver, 'a')
    await town.run(one.lock('a').acquire())
    await town.clock.advance(2500)
    const [all, named] = [watched(reader, { pattern: '*' }), watched(reader, 'a')]
    await town.clock.advance(2500)
    assert.equal(((await town.run(named.ended)) as EngineError).code, 'NOPERM')
    await town.run(one.lock('b').acquire())
    await town.clock.advance(4000)
    assert.deepEqual(await told(town, all), ['granted b one'])
  })
})
