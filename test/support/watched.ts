import assert from 'node:assert/strict'
import type { Client, LockEvent, Watched, WatchOptions } from 'holdfast'
import type { Town } from './town.js'

/** Collects the events of a watch. */
export const watched = (client: Client, what: string | Watched, options?: WatchOptions) => {
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
  const lines = (): string[] => events.map(({ type, name }) => `${type} ${name}`)
  return { events, lines, ended, stop: () => loop[Symbol.asyncDispose]() }
}

/** Each event in a few words. */
export const brief = (events: readonly LockEvent[]): string[] =>
  events.map(({ type, name, label = '?', certain, initial }) =>
    [...(initial === true ? ['initial'] : []), ...(certain ? [] : ['perhaps']), type, name, label].join(' '),
  )

/** Ends it, and returns what it has told. */
export const told = async (town: Town, watch: ReturnType<typeof watched>): Promise<string[]> => {
  await town.run(Promise.resolve(watch.stop()))
  assert.equal(await town.run(watch.ended), undefined)
  return brief(watch.events)
}
