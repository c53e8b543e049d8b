import assert from 'node:assert/strict'
import { describe } from 'node:test'
import type { Client, LockEvent, Watched, WatchOptions } from 'holdfast'
import { inTown, type Town } from './town.js'

/** Collects the events of a watch. */
const watched = (client: Client, what: string | Watched, options?: WatchOptions) => {
  const events: LockEvent[] = []
  const loop = client.watch(what, options)
  const ended = (async (): Promise<unknown> => {
    try {
      for await (const event of loop) events.push(event)
      return undefined
    } catch (error) {
      return error
    }
  })()
  return { events, ended, stop: () => loop.return?.() }
}

const brief = (events: readonly LockEvent[]): string[] =>
  events.map(({ type, name, label = '?', certain, initial }) =>
    [...(initial === true ? ['initial'] : []), ...(certain ? [] : ['perhaps']), type, name, label].join(' '),
  )

/** Ends it, and returns what it has told. */
const told = async (town: Town, watch: ReturnType<typeof watched>): Promise<string[]> => {
  await town.run(Promise.resolve(watch.stop()))
  assert.equal(await town.run(watch.ended), undefined)
  return brief(watch.events)
}

void describe('client.watch', () => {
  inTown('one lock → who holds it and waits for it at first, and then each change', async (town) => {
    const [one, two, three] = [
      await town.join({ label: 'one' }),
      await town.join({ label: 'two' }),
      await town.join({ label: 'three' }),
    ]
    const hold = await town.run(one.lock('a').acquire())
    await town.clock.advance(3000)
    const watch = watched(three, 'a')
    await town.clock.advance(2000)
    const next = two.lock('a').acquire()
    await town.clock.advance(2000)
    await town.run(hold.release())
    const second = await town.run(next)
    await town.clock.advance(2000)
    await town.run(second.release())
    await town.clock.advance(3000)
    assert.deepEqual(await told(town, watch), [
      ...['initial granted a one', 'waiting a two', 'released a one', 'granted a two', 'released a two'],
    ])
    const [first, waiting, released] = watch.events
    assert.deepEqual([first?.kind, first?.client, first?.key, first?.mode], ['lock', one.id, 'a', 'exclusive'])
    assert.equal(first?.within, undefined)
    assert.equal(waiting?.within, 250)
    assert.ok(Math.abs((released?.since ?? 0) - (town.clock.now() - 12_000)) < 2000)
  })
})
