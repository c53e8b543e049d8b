import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ClientOptions } from 'holdfast'
import { FAIR, listened, PLAIN } from './support/actors.js'
import { type ClusterArena, clusterArena } from './support/cluster-arena.js'
import { SEMAPHORE } from './support/counts.js'
import { lockChannel } from './support/names.js'
import { NEWEST } from './support/redisson.js'
import { READ_WRITE } from './support/read-write.js'
import { everyDirection, inTime, WAKINGS } from './wake-ups/wakings.js'

/** How releases are told in a cluster: older ones of Redisson’s know of no sharded channels. */
const WAYS = [
  { version: NEWEST, ours: {}, way: 'SHARDCHANNELS', told: 'spublish', kinds: [PLAIN, FAIR, SEMAPHORE, READ_WRITE] },
  { version: '3.17.7', ours: { redisson: '3.17' }, way: 'CHANNELS', told: 'publish', kinds: [PLAIN, FAIR, SEMAPHORE] },
] as const satisfies readonly { ours: ClientOptions; [other: string]: unknown }[]

/** Whether somebody listens to it, in each of the two ways, on whichever node. */
const waysOf = async ({ cluster }: ClusterArena, channel: string): Promise<Record<string, string[]>> => {
  const of = async (way: string): Promise<string[]> => {
    const replies = await Promise.all(cluster.nodes.map(({ redis }) => redis.call('PUBSUB', way, channel)))
    return [...new Set((replies as string[][]).flat())]
  }
  return { CHANNELS: await of('CHANNELS'), SHARDCHANNELS: await of('SHARDCHANNELS') }
}

/** By which commands releases are told meanwhile, on whichever node. */
const publishing = async ({ cluster }: ClusterArena, work: () => Promise<void>): Promise<string[]> => {
  const monitors = await Promise.all(cluster.nodes.map(({ redis }) => redis.monitor()))
  const seen: string[] = []
  for (const monitor of monitors)
    monitor.on('monitor', (_time: string, [command = '', channel = '']: string[]) => {
      if (/^s?publish$/i.test(command)) seen.push(`${command.toLowerCase()} ${channel}`)
    })
  try {
    await work()
    // Everything is seen that was done before.
    await Promise.all(cluster.nodes.map(({ redis }) => redis.ping()))
    await new Promise((resolve) => setTimeout(resolve, 200))
  } finally {
    for (const monitor of monitors) monitor.disconnect()
  }
  return seen
}

for (const { version, ours, way, told, kinds } of WAYS) {
  void describe(`a cluster of three masters, Redisson ${version} and ours`, () => {
    const enter = clusterArena(version)

    for (const waking of WAKINGS.filter(({ both }) => (kinds as readonly unknown[]).includes(both))) {
      void test(`${waking.title} → who waits has it, in all four directions`, { timeout: 120_000 }, async (t) => {
        const here = enter(t)
        if (here === undefined) return
        await everyDirection(here, waking, ours, inTime(t))
      })
    }

    void test(`one of each waits on each node → both listen by ${way}, both tell by ${told}`, async (t) => {
      const here = enter(t)
      if (here === undefined) return
      const java = PLAIN.java(await here.java.another({ url: here.url }))
      const node = await PLAIN.node(here.url, ours)
      const holder = await PLAIN.node(here.url, ours)
      try {
        const owners = new Set<number>()
        for (const name of ['a', 'b', 'c', 'x{tag}y']) {
          owners.add((await here.cluster.ownerOf(name)).port)
          const channel = lockChannel(name)
          await holder.run(name, 'lock', [])
          const waiting = [java, node].map(async (actor) => {
            return [await actor.run(name, 'lock', []), await actor.run(name, 'unlock', [])]
          })
          await listened(() => PLAIN.listeners(here.redis, name), 2)
          assert.deepEqual(await waysOf(here, channel), { CHANNELS: [], SHARDCHANNELS: [], [way]: [channel] })
          const seen = await publishing(here, async () => {
            await holder.run(name, 'unlock', [])
            assert.deepEqual(await Promise.all(waiting), Array(2).fill(['done', 'done']))
          })
          // By the holder, and by each of the two; grants are told elsewhere.
          const releases = seen.filter((one) => !one.includes('holdfast_line_grant'))
          assert.deepEqual(releases, Array(3).fill(`${told} ${channel}`))
        }
        assert.equal(owners.size, here.cluster.nodes.length, 'a node has none of the names')
      } finally {
        for (const actor of [java, node, holder]) await actor.close()
      }
    })
  })
}
