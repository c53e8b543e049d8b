import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { arena } from './support/arena.js'
import { checkContention, type History, nodeWork, redissonsShare } from './support/contention.js'
import type { WorkEvent, WorkOptions } from './support/java-lock.js'
import { NEWEST, now, type Redisson, startRedisson } from './support/redisson.js'

const SECONDS = Number(process.env['HOLDFAST_SOAK_SECONDS'] ?? 10)

/** What an interrupted acquire of Redisson's left behind is over some time only with a lease of its own. */
const OPTIONS: WorkOptions = {
  workers: 4,
  seconds: SECONDS,
  hold: [0, 3],
  pause: [0, 2],
  leases: [4000],
  timeouts: 0.1,
  wait: [0, 30],
  aborts: 0.05,
  abortAfter: [0, 30],
}

const javaWork = async (redisson: Redisson, options: WorkOptions): Promise<WorkEvent[]> => {
  const events: WorkEvent[] = []
  await redisson.plain('busy').work(options, (event) => events.push(event))
  return events
}

void describe(`one plain lock, two Redisson ${NEWEST} processes and two of ours`, () => {
  const enter = arena(NEWEST)

  for (const [title, more] of [
    ['fixed leases, time-outs and aborts', {}],
    ['watchdogs', { leases: [0], aborts: 0 }],
  ] as const) {
    void test(
      `${title} → one inside at a time, nobody forgotten, nothing left`,
      { timeout: 1000 * SECONDS + 60_000 },
      async (t) => {
        const here = enter(t)
        if (here === undefined) return
        const second = await startRedisson({ url: here.url })
        const options = { ...OPTIONS, ...more, startAt: now() + 1500 }
        try {
          const histories: History[] = await Promise.all([
            javaWork(here.java, { ...options, seed: 1 }).then((events) => ({ who: 'java 1', events })),
            javaWork(second, { ...options, seed: 2 }).then((events) => ({ who: 'java 2', events })),
            nodeWork(here.url, 'plain', 'busy', { ...options, seed: 3 }).then((events) => ({ who: 'node 1', events })),
            nodeWork(here.url, 'plain', 'busy', { ...options, seed: 4 }).then((events) => ({ who: 'node 2', events })),
          ])
          for (const line of [...checkContention(histories, options), redissonsShare(histories)]) t.diagnostic(line)
          for (const end = now() + 10_000; now() < end && (await here.redis.dbsize()) > 0;) await sleep(50)
          assert.deepEqual(await here.redis.keys('*'), [])
        } finally {
          await second.kill()
        }
      },
    )
  }
})
