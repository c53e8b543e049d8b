import assert from 'node:assert/strict'
import { once } from 'node:events'
import process from 'node:process'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'holdfast'
import { Cluster } from 'ioredis'
import { createCluster } from 'node-redis6'
import { redisEngine, started } from '../../support/engines.js'
import type { ClusterNode, RedisCluster } from '../../support/redis-cluster.js'
import { startCluster } from '../../support/redis-cluster.js'
import { until } from '../../support/until.js'
import type { Lent } from './lenders.js'

const COMMAND_TIMEOUT = 1000
/** For ioredis, as docs/connections.md advises. */
const SOCKET_TIMEOUT = 2000

const addressesOf = ({ nodes }: RedisCluster) => nodes.map(({ port }) => ({ host: '127.0.0.1', port }))

const CONNECTIONS: Readonly<Record<string, (cluster: RedisCluster) => Promise<Lent>>> = {
  'by URL': ({ url }) => Promise.resolve({ place: { url }, end: () => undefined }),
  async 'a connection of ioredis'(cluster) {
    const connection = new Cluster(addressesOf(cluster), { redisOptions: { socketTimeout: SOCKET_TIMEOUT } })
    connection.on('error', () => undefined)
    await once(connection, 'ready')
    return { place: { connection }, end: () => connection.disconnect() }
  },
  async 'a connection of node-redis'({ nodes }) {
    const connection = createCluster({
      rootNodes: nodes.map(({ server }) => ({ url: server.url })),
    })
    connection.on('error', () => undefined)
    await connection.connect()
    return { place: { connection }, end: () => connection.destroy() }
  },
}

for (const [by, open] of Object.entries(CONNECTIONS))
  void describe(`a cluster of which one master stands still, its connections open, ${by}`, () => {
    let cluster: RedisCluster
    let reason: string | undefined
    before(async () => {
      const start = async (): Promise<void> => {
        cluster = await startCluster({ replicas: true })
        // Else all of it is down until the failover.
        for (const { redis } of [...cluster.nodes, ...cluster.replicas])
          await redis.config('SET', 'cluster-require-full-coverage', 'no')
      }
      reason = await started({ ...redisEngine, start })
    })
    after(async () => {
      if (reason === undefined) await cluster.stop()
    })

    /** Those for commands and for messages; who follows it has one as well. */
    const connectionsOf = async ({ redis }: ClusterNode): Promise<string[]> =>
      [...String(await redis.client('LIST')).matchAll(/^id=(\d+) .*\bflags=[NP]\b/gm)].map(([, id]) => String(id))

    test(
      'its holds are uncertain in time; the others are worked with, on the same connections; after the failover calls go on',
      { timeout: 120_000 },
      async (t) => {
        if (reason !== undefined) {
          t.skip(reason)
          return
        }
        const { place, end } = await open(cluster)
        const client = await connect({ ...place, commandTimeout: COMMAND_TIMEOUT, watchdog: 9000 })
        client.on('error', () => undefined)
        const owners = new Map<ClusterNode, string>()
        for (let i = 0; owners.size < 3; i++) {
          const owner = await cluster.ownerOf(`name ${i}`)
          if (!owners.has(owner)) owners.set(owner, `name ${i}`)
        }
        const [[silent, lost], ...others] = [...owners] as [[ClusterNode, string], ...[ClusterNode, string][]]
        const hold = await client.lock(lost).acquire()
        const held = await Promise.all(others.map(([, name]) => client.lock(`{${name}}held`).acquire()))
        const before = await Promise.all(others.map(([node]) => connectionsOf(node)))
        process.kill(silent.server.pid, 'SIGSTOP')
        const begun = performance.now()
        let slowest = 0
        let over = false
        const asks = async (): Promise<void> => {
          while (!over) {
            for (const [, name] of others) {
              const from = performance.now()
              await client.lock(name).using(() => undefined)
              slowest = Math.max(slowest, performance.now() - from)
            }
            await sleep(20)
          }
        }
        const asking = asks()
        asking.catch(() => undefined)
        try {
          const replica = cluster.replicas[cluster.nodes.indexOf(silent)] ?? assert.fail()
          const since = async (isSo: () => boolean | Promise<boolean>): Promise<number> => {
            await until(isSo, 60_000)
            return performance.now() - begun
          }
          const [uncertainAt, promotedAt] = await Promise.all([
            since(() => hold.state !== 'held'),
            since(async () => (await replica.redis.info('replication')).includes('role:master')),
          ])
          await until(
            () =>
              client
                .lock(`{${lost}}other`)
                .using(() => true)
                .catch(() => false),
            30_000,
          )
          const recovered = performance.now() - begun - promotedAt
          over = true
          await asking
          console.log(
            `not held any more after ${uncertainAt.toFixed(0)} ms, promoted after ${promotedAt.toFixed(0)}, recovered ${recovered.toFixed(0)} later; the others: ${slowest.toFixed(0)} at most`,
          )
          assert.ok(recovered < 5000, `${recovered} ms`)
          assert.ok(uncertainAt < 3000 + 2 * COMMAND_TIMEOUT + 1000, `${uncertainAt} ms`)
          assert.ok(slowest < COMMAND_TIMEOUT, `${slowest} ms`)
          assert.ok(held.every(({ lost }) => !lost))
          const behind = await Promise.all(others.map(([node]) => connectionsOf(node)))
          for (const [i, ids] of before.entries())
            assert.deepEqual(
              ids.filter((id) => behind[i]?.includes(id) !== true),
              [],
            )
        } finally {
          over = true
          process.kill(silent.server.pid, 'SIGCONT')
          await Promise.allSettled(held.map((one) => one.release()))
          await client.close()
          end()
        }
      },
    )
  })
