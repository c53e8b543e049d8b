import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ClientOptions } from 'holdfast'
import { connect } from 'holdfast'
import type { Redis } from 'ioredis'
import { type BothSides, listened } from './actors.js'
import { arena } from './arena.js'
import { now, type Redisson } from './redisson.js'

const ROUNDS = 20
/** What a message takes is below a millisecond; what a loaded machine takes may be hundreds. */
const MOST = 1500

/** One that can hold, and one that can wait: each says when. */
interface Party {
  hold(name: string): Promise<void>
  /** When it began to give it back. */
  free(name: string): Promise<number>
  /** When it had it. */
  wait(name: string): Promise<number>
}

const javaParty = (redisson: Redisson, { kind }: BothSides): Party => ({
  async hold(name) {
    await redisson.lock(kind, name).lock(1)
  },
  async free(name) {
    return (await redisson.lock(kind, name).unlock(1).times()).start
  },
  async wait(name) {
    return (await redisson.lock(kind, name).lock(1).times()).end
  },
})

const nodeParty = async (
  url: string,
  { ours }: BothSides,
  options?: ClientOptions,
): Promise<Party & { close(): Promise<void> }> => {
  const client = await connect({ ...options, url, presence: false })
  const owner = client.owner()
  return {
    async hold(name) {
      await ours(client, name).for(owner).lock()
    },
    async free(name) {
      const start = now()
      await ours(client, name).for(owner).unlock()
      return start
    },
    async wait(name) {
      await ours(client, name).for(owner).lock()
      return now()
    },
    close: () => client.close(),
  }
}

interface Parties {
  readonly holder: Party
  readonly waiter: Party
  readonly both: BothSides
}

const latencies = async (redis: Redis, { holder, waiter, both }: Parties, prefix: string): Promise<number[]> => {
  const found: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const name = `${prefix}:${round}`
    await holder.hold(name)
    const granted = waiter.wait(name)
    await listened(() => both.listeners(redis, name), 1)
    const freed = await holder.free(name)
    found.push((await granted) - freed)
    await waiter.free(name)
  }
  return found.sort((a, b) => a - b)
}

/**
 * Who waits is woken by the other side's release, long before the next poll or the lease's end. `waits`: what it waits for,
 * where that is another lock than is held.
 */
export const wakeSuite = (version: string, both: BothSides, ours?: ClientOptions, waits = both): void => {
  const behind = waits === both ? '' : ` behind a ${both.kind}`
  void describe(`wake-ups of a ${waits.kind} lock${behind}, beside Redisson ${version}`, () => {
    const enter = arena(version)
    for (const [holding, waiting] of [
      ['java', 'java'],
      ['java', 'node'],
      ['node', 'java'],
      ['node', 'node'],
    ] as const) {
      void test(`${holding} releases → ${waiting} has it`, { timeout: 120_000 }, async (t) => {
        const here = enter(t)
        if (here === undefined) return
        const nodes = [await nodeParty(here.url, both, ours), await nodeParty(here.url, waits, ours)] as const
        const other = await here.java.another({ url: here.url })
        const holder = holding === 'java' ? javaParty(here.java, both) : nodes[0]
        const waiter = waiting === 'java' ? javaParty(other, waits) : nodes[1]
        try {
          const found = await latencies(here.redis, { holder, waiter, both }, `${holding}-${waiting}`)
          const [median = NaN, most = NaN] = [found[ROUNDS / 2], found.at(-1)]
          t.diagnostic(
            `${version}: ${holding} releases → ${waiting} has it after ${median.toFixed(2)} ms (median), ` +
              `${most.toFixed(1)} ms (most) of ${ROUNDS}`,
          )
          assert.ok(median < MOST / 5 && most < MOST, found.join())
        } finally {
          await Promise.all(nodes.map((node) => node.close()))
          await other.shutdown()
        }
      })
    }
  })
}
