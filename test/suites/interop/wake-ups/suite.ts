import { describe, test } from 'node:test'
import type { ClientOptions } from 'holdfast'
import { arena } from '../support/arena.js'
import { everyDirection, inTime, type Waking } from './wakings.js'

/** Who waits is woken by the other side’s release, long before the next poll or the lease’s end. */
export const wakeSuite = (version: string, wakings: readonly Waking[], ours: ClientOptions = {}): void => {
  void describe(`wake-ups beside Redisson ${version}`, () => {
    const enter = arena(version)
    for (const waking of wakings) {
      void test(`${waking.title} → who waits has it, in all four directions`, { timeout: 120_000 }, async (t) => {
        const here = enter(t)
        if (here === undefined) return
        await everyDirection(here, waking, ours, inTime(t))
      })
    }
  })
}
