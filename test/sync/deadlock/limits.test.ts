import assert from 'node:assert/strict'
import { describe } from 'node:test'
import type { Client, Lock } from 'holdfast'
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

void describe('what a client publishes of its waits', () => {
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
