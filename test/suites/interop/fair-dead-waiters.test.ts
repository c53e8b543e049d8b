import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ClientOptions } from 'holdfast'
import { arena } from './support/arena.js'
import { untilTheLiving } from './support/dead-waiters.js'
import { javaProcess, type LockProcess, startJava, startNode } from './support/lock-process.js'
import { NEWEST } from './support/redisson.js'

/** What an allowance may last longer on a loaded machine. */
const SLACK = 3000
const LEASE = 2000
const DEAD = [1, 5]

interface Row {
  readonly holder: LockProcess['side']
  readonly doomed: LockProcess['side']
  readonly living: LockProcess['side']
  /** The most it may take, ms; `undefined`: the dead ones' allowances. */
  readonly most?: number
}

/** Where all the living are Redisson's and the dead ours, nobody sees it: Redisson waits for their allowance, as for its own. */
const ROWS: readonly Row[] = [
  { holder: 'java', doomed: 'java', living: 'java' },
  { holder: 'java', doomed: 'java', living: 'node' },
  { holder: 'node', doomed: 'java', living: 'node' },
  { holder: 'node', doomed: 'node', living: 'node', most: 1000 },
  { holder: 'node', doomed: 'node', living: 'java', most: 1000 },
  // Redisson calls the dead one; ours behind finds that out when it polls.
  { holder: 'java', doomed: 'node', living: 'node', most: 1000 + SLACK },
]

const sidesOf = ({ holder, doomed, living }: Row): string[] => [holder, doomed, living]

/** The newest version's allowance is 5 min if it is not shortened; the oldest one's is 5 s. */
for (const { version, allowance, options, rows } of [
  {
    version: NEWEST,
    allowance: 2000,
    options: { fairLockWaitTimeout: 2000, lockWatchdogTimeout: LEASE },
    rows: ROWS,
  },
  { version: '3.8.1', allowance: 5000, options: { lockWatchdogTimeout: LEASE }, rows: ROWS.slice(0, 1) },
]) {
  void describe(`dead waiters ahead in a fair queue, beside Redisson ${version}`, () => {
    const enter = arena(version, options)
    const ours: ClientOptions = { watchdog: LEASE }

    void test('the next living one has it', { timeout: 240_000 }, async (t) => {
      const here = enter(t)
      if (here === undefined) return
      const { url, redis } = here
      const living = { java: javaProcess(here.java), node: await startNode(url, ours) }
      const start = { java: () => startJava({ url, version, options }), node: () => startNode(url, ours) }
      t.diagnostic(`seconds until the next living one, Redisson ${version}, its allowance ${allowance / 1000} s`)
      t.diagnostic(`holder  dead    living  ${DEAD.map((dead) => `${dead} dead`.padStart(8)).join('')}`)
      try {
        for (const row of rows) {
          const parties = { holder: living[row.holder], living: living[row.living], doomed: start[row.doomed] }
          const found = await Promise.all(
            DEAD.map((dead) => untilTheLiving(redis, { name: `${sidesOf(row).join(':')}:${dead}`, dead, ...parties })),
          )
          const sides = sidesOf(row)
            .map((side) => side.padEnd(8))
            .join('')
          t.diagnostic(`${sides}${found.map((ms) => (ms / 1000).toFixed(2).padStart(8)).join('')}`)
          DEAD.forEach((dead, index) => {
            const most = row.most ?? LEASE + dead * allowance + SLACK
            assert.ok((found[index] ?? NaN) < most, `${sides} ${dead} dead: ${found[index]} ms`)
          })
        }
      } finally {
        await living.node.kill()
      }
    })
  })
}
