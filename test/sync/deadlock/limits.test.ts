import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Client, Lock } from 'holdfast'
import { BEAT_FIELD, readPublished, textOf } from '#src/core/listing/nested-wait-format.js'
import { inTown, type Town } from '../../support/town.js'
import { toldTo } from './ring.js'

const pause = (town: Town, ms: number): Promise<void> => new Promise((resolve) => void town.clock.setTimer(resolve, ms))

const nothing = (): undefined => undefined

const waitsOf = (town: Town, { id }: Client): unknown => town.raw('HLEN', `holdfast:client:${id}:waits`)

/** One owner acquires all of these, and then waits for another lock. */
const ownerOf = async (client: Client, holds: readonly Lock[], wanted: Lock, options: object): Promise<void> => {
  const owner = client.owner()
  const held = []
  for (const lock of holds) held.push(await lock.acquire({ owner }))
  await wanted.using({ ...options, owner }, nothing).catch(nothing)
  for (const hold of held) await hold.release()
}

void describe('a hold of which others do not know all calls inside it', () => {
  inTown('each of them waits for less than a second, one after the other → the code may go on', async (town) => {
    const [one, two, three] = [await town.join(), await town.join(), await town.join()]
    const told = [toldTo(one), toldTo(two)]
    const kept = await town.run(three.lock('c').acquire())
    const stop = new AbortController()
    const give = { signal: stop.signal }
    const all = Promise.allSettled([
      one.lock('a').using(async () => {
        void one.lock('b').using(give, nothing).catch(nothing)
        while (!stop.signal.aborted) await one.lock('c').tryAcquire({ wait: 900 })
      }),
      two.lock('b').using(() => two.lock('a').using(give, nothing)),
    ])
    await town.clock.advance(6000)
    assert.deepEqual(told, [[], []])
    stop.abort()
    await town.run(all)
    await town.run(kept.release())
  })

  inTown('there are more than 128 calls inside it → nobody is told, unless none can go on', async (town) => {
    const [one, two, three] = [await town.join(), await town.join(), await town.join()]
    const told = [toldTo(one), toldTo(two)]
    const kept = await town.run(three.lock('c').acquire())
    const stop = new AbortController()
    const give = { signal: stop.signal }
    const all = Promise.allSettled([
      one.lock('a').using(async () => {
        await pause(town, 50)
        const calls = Array.from({ length: 128 }, () => one.lock('b').using(give, nothing))
        await pause(town, 50)
        await one.lock('c').using(nothing)
        await Promise.allSettled(calls)
      }),
      two.lock('b').using(async () => {
        await pause(town, 50)
        await two.lock('a').using(give, nothing)
      }),
    ])
    await town.clock.advance(4000)
    assert.deepEqual(told, [[], []])
    await town.run(kept.release())
    await town.clock.advance(3000)
    assert.ok(told.every(({ length }) => length > 0))
    stop.abort()
    await town.run(all)
  })
})

const FORGED = 128

/** A client that a stranger made up: it holds this lock until all these calls have ended, as far as its hash says. */
const forge = (town: Town, i: number, holds: string, wants: (n: number) => string): string => {
  const client = `00000000-0000-4000-8000-00000000000${i}`
  town.raw('HSET', holds, `${client}:1234567891`, '1')
  const since = town.clock.now()
  const waits = Array.from({ length: FORGED }, (_, n) => [
    String(n + 1),
    JSON.stringify({ k: 'spinLock', l: wants(n), s: since, h: [[holds, 1]] }),
  ])
  town.raw('HSET', `holdfast:client:${client}:waits`, ...waits.flat())
  return client
}

void describe('more than 1000 calls', () => {
  for (const { clients, lastWants, tells } of [
    { clients: 3, lastWants: 'a', tells: true },
    { clients: 3, lastWants: 'free', tells: false },
    { clients: 7, lastWants: 'free', tells: false },
  ])
    inTown(
      `${clients * FORGED} calls, the last of them for ${lastWants} → ${tells ? '' : 'not '}told`,
      async (town) => {
        const one = await town.join()
        const told = toldTo(one)
        const work = one.lock('a').using(() => one.lock('b').tryAcquire({ wait: 6000 }))
        const last = (i: number) => (n: number) => (i === clients && n === FORGED - 1 ? lastWants : 'a')
        const all = Array.from({ length: clients }, (_, i) => forge(town, i + 1, `k${i + 1}`, last(i + 1)))
        all.push(forge(town, 0, 'b', (n) => `k${1 + (n % clients)}`))
        for (let beat = 1; beat < 20; beat++) {
          for (const client of all) town.raw('HSET', `holdfast:client:${client}:waits`, 'beat', String(beat))
          await town.clock.advance(250)
        }
        assert.equal(told.length > 0, tells)
        for (const client of all) town.raw('DEL', `holdfast:client:${client}:waits`)
        await town.run(work)
        for (const key of ['b', ...all.slice(1).map((_, i) => `k${i + 1}`)]) town.raw('DEL', key)
      },
    )
})

void describe('what a client publishes of its waits', () => {
  test('the holds of several owners, more than of one → all are read', () => {
    const holds = Array.from({ length: 2500 }, (_, i) => [`k${i}`, i + 1] as const)
    const told = { number: 7, kind: 'lock', key: 'b', name: 'b', keys: [], since: 1, breaks: true, holds }
    assert.deepEqual(readPublished([...textOf(told), BEAT_FIELD, '3']), { waits: [told], beat: 3 })
  })

  inTown('an owner with 200 holds → a deadlock through any of them is found', async (town) => {
    const [one, two] = [await town.join(), await town.join()]
    const told = [toldTo(one), toldTo(two)]
    const names = Array.from({ length: 200 }, (_, i) => one.lock(`a${i}`))
    const all = Promise.all([
      ownerOf(one, names, one.lock('b'), { wait: 6000 }),
      two.lock('b').using(async () => {
        await pause(town, 3000)
        await two.lock('a199').using({ wait: 20_000 }, nothing)
      }),
    ])
    await town.clock.advance(6500)
    assert.deepEqual(
      told.map(({ length }) => length),
      [1, 1],
    )
    await town.run(all)
  })

  inTown('names of long characters → as many waits as fit into one reply, the oldest first', async (town) => {
    const [one, two] = [await town.join(), await town.join()]
    const told = [toldTo(one), toldTo(two)]
    const long = (i: number): string => `${i}${'\u8a9e'.repeat(900)}`
    const owners = Array.from({ length: 9 }, async (_, n) => {
      await pause(town, 10 * n)
      const holds = Array.from({ length: 5 }, (_, i) => one.lock(n + i === 0 ? 'a' : long(5 * n + i)))
      await ownerOf(one, holds, one.lock('b'), { wait: 6000 })
    })
    const other = two.lock('b').using(async () => {
      await pause(town, 500)
      await two.lock('a').using({ wait: 20_000 }, nothing)
    })
    await town.clock.advance(4000)
    assert.deepEqual(
      told.map(({ length }) => length),
      [1, 1],
    )
    assert.equal(waitsOf(town, one), 7, 'six waits, and the beat')
    await town.run(Promise.all([...owners, other]))
  })
})
