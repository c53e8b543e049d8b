import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, connect, type ListOptions } from 'holdfast'
import { forcedKey, indexKey, registerKey } from '#src/keys.js'
import { type ClusterNode, type RedisCluster, startCluster } from '../../support/redis-cluster.js'
import { until } from '../../support/until.js'
import { watched } from '../../support/watched.js'
import { lenders } from '../../suites/connections/lenders.js'

const names = async (client: Client, options?: ListOptions): Promise<string[]> => {
  const found: string[] = []
  for await (const { name } of client.list(options)) found.push(name)
  return found
}

interface Watching {
  readonly name: string
  readonly reader: Client
  readonly one: ReturnType<typeof watched>
  readonly all: ReturnType<typeof watched>
}

/** A name whose lock, and what is noted about it, is on this node; or not on it. */
const nameOn = async (cluster: RedisCluster, node: ClusterNode, there: boolean): Promise<string> => {
  for (let i = 0; ; i++) {
    const keys = [`lock:${i}`, forcedKey(`lock:${i}`)]
    const owners = await Promise.all(keys.map((key) => cluster.ownerOf(key)))
    if (owners.every((owner) => (owner === node) === there)) return `lock:${i}`
  }
}

test(
  'a master of a cluster is killed → list and watch go on with the locks of the others, by each client library',
  { timeout: 120_000 },
  async (t) => {
    const cluster = await startCluster().catch((error: unknown) => {
      t.skip(String(error))
      return undefined
    })
    if (cluster === undefined) return
    const opened: Client[] = []
    const ends: (() => unknown)[] = []
    t.after(async () => {
      for (const client of opened) await client.close({ release: false })
      for (const end of ends) await end()
      await cluster.stop()
    })
    const open = async (...args: Parameters<typeof connect>): Promise<Client> => {
      const client = await connect(...args)
      client.on('error', () => undefined)
      opened.push(client)
      return client
    }
    for (const { redis } of cluster.nodes) await redis.config('SET', 'cluster-require-full-coverage', 'no')
    const writer = await open(cluster.url)
    const needed = await Promise.all([registerKey(), indexKey(writer.id)].map((key) => cluster.ownerOf(key)))
    const killed = cluster.nodes.find((node) => !needed.includes(node)) as ClusterNode
    let other = await open(cluster.url)
    while ((await cluster.ownerOf(indexKey(other.id))) !== killed) other = await open(cluster.url)
    const [good, bad] = [await nameOn(cluster, killed, false), await nameOn(cluster, killed, true)]
    const hold = await writer.lock(good).acquire()
    await writer.lock(bad).acquire()
    await other.lock(`${good}:other`).acquire()
    await sleep(2500)
    const watches: Watching[] = []
    for (const { name, lend } of lenders) {
      const { place, end } = await lend.cluster(cluster)
      ends.push(end)
      const reader = await open({ ...place, presence: false })
      watches.push({ name, reader, one: watched(reader, good), all: watched(reader, { pattern: 'lock:*' }) })
    }
    await until(() => watches.every(({ one, all }) => one.events.length === 1 && all.events.length === 3))
    await cluster.kill(killed)
    await hold.release()
    await until(() => watches.every(({ one, all }) => one.events.length === 2 && all.events.length === 4))
    for (const { name, one, all } of watches)
      for (const { events } of [one, all]) {
        const last = events.at(-1)
        assert.deepEqual([last?.type, last?.name], ['released', good], name)
      }
    await writer.lock(good).acquire()
    await until(() => watches.every(({ one, all }) => one.events.length === 3 && all.events.length === 5))
    for (const { name, reader, one, all } of watches) {
      assert.deepEqual(await names(reader), [good], name)
      await assert.rejects(names(reader, { name: bad }), name)
      await Promise.all([one.stop(), all.stop()])
    }
  },
)
