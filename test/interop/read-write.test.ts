import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { arena } from './support/arena.js'
import { type History, nodeWork, staysOf } from './support/contention.js'
import type { WorkEvent, WorkOptions } from './support/java-lock.js'
import { READ, READ_WRITE, READ_WRITE_PROGRAMS, sameReadWrite, WRITE } from './support/read-write.js'
import { NEWEST, now, type Redisson, startRedisson } from './support/redisson.js'
import { stateSuite } from './support/state-suite.js'
import { wakeSuite } from './support/wake-suite.js'

stateSuite(NEWEST, READ_WRITE, { programs: READ_WRITE_PROGRAMS, same: sameReadWrite })
stateSuite(NEWEST, READ_WRITE, {
  programs: { 'waited for by a reader': READ_WRITE_PROGRAMS['waited for by a reader'] ?? '' },
  same: sameReadWrite,
  names: ['a:{N}:b'],
})

wakeSuite(NEWEST, READ, undefined, WRITE)
wakeSuite(NEWEST, WRITE, undefined, READ)

const SECONDS = Number(process.env['HOLDFAST_SOAK_SECONDS'] ?? 5)

const OPTIONS: WorkOptions = {
  workers: 2,
  seconds: SECONDS,
  hold: [0, 3],
  pause: [1, 8],
  leases: [0, 4000],
  timeouts: 0.1,
  wait: [0, 30],
}

const SIDES = ['read', 'write'] as const
type Side = (typeof SIDES)[number]

const javaWork = async (redisson: Redisson, side: Side, options: WorkOptions): Promise<WorkEvent[]> => {
  const events: WorkEvent[] = []
  await redisson.lock(side, 'busy').work(options, (event) => events.push(event))
  return events
}

/** How often a writer was in together with anybody. */
const overlaps = (histories: readonly (History & { side: Side })[]): { most: number; wrong: number } => {
  const steps = histories
    .flatMap(({ side, ...history }) =>
      staysOf(history).flatMap(({ from, to }) => [
        { side, at: from, in: 1 },
        { side, at: to, in: -1 },
      ]),
    )
    .sort((a, b) => (a.at === b.at ? a.in - b.in : a.at < b.at ? -1 : 1))
  const inside = { read: 0, write: 0 }
  let [most, wrong] = [0, 0]
  for (const step of steps) {
    inside[step.side] += step.in
    most = Math.max(most, inside.read)
    if (inside.write > 1 || (inside.write > 0 && inside.read > 0)) wrong++
  }
  return { most, wrong }
}

void describe(`one read-write lock, two Redisson ${NEWEST} processes and two of ours`, () => {
  const enter = arena(NEWEST)

  void test(
    'readers and writers of both → writers alone, readers together, nobody forgotten, nothing left',
    { timeout: 1000 * SECONDS + 60_000 },
    async (t) => {
      const here = enter(t)
      if (here === undefined) return
      const second = await startRedisson({ url: here.url })
      const startAt = now() + 1500
      try {
        const histories = await Promise.all(
          SIDES.flatMap((side, i) =>
            [
              { who: 'java 1', work: (options: WorkOptions) => javaWork(here.java, side, options) },
              { who: 'java 2', work: (options: WorkOptions) => javaWork(second, side, options) },
              { who: 'node 1', work: (options: WorkOptions) => nodeWork(here.url, side, 'busy', options) },
              { who: 'node 2', work: (options: WorkOptions) => nodeWork(here.url, side, 'busy', options) },
            ].map(async ({ who, work }, j) => ({
              who: `${who}, ${side}`,
              side,
              events: await work({ ...OPTIONS, startAt, seed: 10 * i + j }),
            })),
          ),
        )
        for (const { who, events } of histories) {
          const count = (event: WorkEvent['event']): number => events.filter((one) => one.event === event).length
          t.diagnostic(`${who}: ${count('granted')} visits, ${count('refused')} refused`)
          assert.equal(count('invoke'), count('granted') + count('refused'), `${who}: a call that never ended`)
          assert.equal(count('failed') + count('lost'), 0, `${who}: a hold that was lost`)
          assert.ok(count('granted') > 0, `${who} never came in`)
        }
        const { most, wrong } = overlaps(histories)
        assert.equal(wrong, 0, 'a writer was not alone')
        assert.ok(most > 1, 'never two readers at a time')
        for (const end = now() + 10_000; now() < end && (await here.redis.dbsize()) > 0;) await sleep(50)
        assert.deepEqual(await here.redis.keys('*'), [])
      } finally {
        await second.kill()
      }
    },
  )
})
