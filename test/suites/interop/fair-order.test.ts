import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ClientOptions } from 'holdfast'
import type { Redis } from 'ioredis'
import { seeded } from '../../support/random.js'
import { arena } from './support/arena.js'
import { javaProcess, type LockProcess, startJava, startNode } from './support/lock-process.js'
import { queued } from './support/names.js'
import { NEWEST, now } from './support/redisson.js'

const RUNS = Number(process.env['HOLDFAST_ORDER_RUNS'] ?? 20)
const WAITERS = 20
const SEED = Number(process.env['HOLDFAST_SEED'] ?? Date.now() % 1_000_000)
const HOLDER = 1000

/** Each process has so many waiters, drawn by lot; one comes when the one before is seen in the queue. Who came, who had it. */
const oneRun = async (
  redis: Redis,
  processes: readonly LockProcess[],
  name: string,
  random: () => number,
): Promise<{ came: string[]; entered: string[] }> => {
  const [holder] = processes as [LockProcess]
  const left = processes.flatMap((process, index) => Array.from({ length: WAITERS }, (_, i) => ({ process, index, i })))
  const came: string[] = []
  const entered: string[] = []
  const ends: Promise<void>[] = []
  await holder.lock(name, HOLDER)
  while (left.length > 0) {
    const [next] = left.splice(Math.floor(random() * left.length), 1)
    if (next === undefined) break
    const { process, index, i } = next
    const who = `${process.side} ${index}/${i}`
    came.push(who)
    const visit = async (): Promise<void> => {
      await process.lock(name, i + 1)
      entered.push(who)
      await process.unlock(name, i + 1)
    }
    ends.push(visit())
    await queued(redis, name, came.length)
  }
  await holder.unlock(name, HOLDER)
  await Promise.all(ends)
  return { came, entered }
}

const VERSIONS: readonly (readonly [version: string, ours: ClientOptions])[] = [
  [NEWEST, {}],
  ['3.17.7', { redisson: '3.17' }],
  ['3.16.8', { redisson: '3.16' }],
  ['3.8.1', { redisson: '3.8' }],
]

for (const [version, ours] of VERSIONS) {
  void describe(`order of a fair lock, beside Redisson ${version}`, () => {
    const enter = arena(version)

    void test(
      `${RUNS} times 3 processes × ${WAITERS} waiters of both sides → each has it in its turn`,
      { timeout: 240_000 },
      async (t) => {
        const here = enter(t)
        if (here === undefined) return
        const { url, redis } = here
        const java = [javaProcess(here.java), await startJava({ url, version })] as const
        const node = [await startNode(url, ours), await startNode(url, ours)] as const
        const random = seeded(SEED)
        const begun = now()
        try {
          for (let run = 0; run < RUNS; run += 1) {
            const mixes = [
              [java[0], node[0], node[1]],
              [node[0], java[0], java[1]],
            ] as const
            const { came, entered } = await oneRun(redis, mixes[run % 2] ?? [], `order:${run}`, random)
            assert.deepEqual(entered, came, `run ${run} of seed ${SEED}`)
          }
          t.diagnostic(`${RUNS} runs of ${3 * WAITERS} waiters in order, ${((now() - begun) / 1000).toFixed(1)} s`)
          assert.deepEqual(
            (await redis.keys('*')).filter((key) => !key.startsWith('redisson_unlock_latch')),
            [],
          )
        } finally {
          await Promise.all([java[1], ...node].map((process) => process.kill()))
        }
      },
    )
  })
}
