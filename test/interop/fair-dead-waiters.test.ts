import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { arena } from './support/arena.js'
import { untilTheLiving } from './support/dead-waiters.js'
import { NEWEST } from './support/redisson.js'

/** What an allowance may last longer on a loaded machine, and how long the lease of the holder may add to it. */
const SLACK = 3000

/** The newest version's allowance is 5 min if it is not shortened; the oldest one's is 5 s. */
for (const [version, options, allowance] of [
  [NEWEST, { fairLockWaitTimeout: 2000, lockWatchdogTimeout: 3000 }, 2000],
  ['3.8.1', { lockWatchdogTimeout: 3000 }, 5000],
] as const) {
  void describe(`dead waiters ahead in a fair queue of Redisson ${version}`, () => {
    const enter = arena(version, options)
    for (const dead of [1, 5]) {
      void test(
        `${dead} dead → the next living one after their allowances, of ${allowance} ms`,
        { timeout: 90_000 },
        async (t) => {
          const here = enter(t)
          if (here === undefined) return
          const ms = await untilTheLiving(here.redis, here.java, { url: here.url, version, options, dead })
          t.diagnostic(
            `Redisson ${version}, ${dead} dead ahead, allowance ${allowance} ms: ${(ms / 1000).toFixed(1)} s`,
          )
          assert.ok(ms > 0 && ms < 3000 + dead * allowance + SLACK)
        },
      )
    }
  })
}
