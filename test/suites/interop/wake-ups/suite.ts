import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ClientOptions } from 'holdfast'
import { arena } from '../support/arena.js'
import { everyDirection, type Waking } from './wakings.js'

/** What a message takes is below a millisecond; what a loaded machine takes may be hundreds. A poll takes a second. */
const MOST = 1500

/** Who waits is woken by the other side’s release, long before the next poll or the lease’s end. */
export const wakeSuite = (version: string, wakings: readonly Waking[], ours: ClientOptions = {}): void => {
  void describe(`wake-ups beside Redisson ${version}`, () => {
    const enter = arena(version)
    for (const waking of wakings) {
      void test(`${waking.title} → who waits has it, in all four directions`, { timeout: 120_000 }, async (t) => {
        const here = enter(t)
        if (here === undefined) return
        await everyDirection(here, waking, ours, ([frees, waits], median, most) => {
          t.diagnostic(`${frees} → ${waits}: ${median.toFixed(2)} ms (median), ${most.toFixed(1)} ms (most)`)
          assert.ok(median < MOST / 5 && most < MOST, `${frees} → ${waits}: ${median}, ${most}`)
        })
      })
    }
  })
}
