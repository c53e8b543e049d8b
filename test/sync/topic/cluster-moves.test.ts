import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'holdfast'
import type { Client } from '../../support/engines.js'
import { redisEngine, started } from '../../support/engines.js'
import { type RedisCluster, startCluster } from '../../support/redis-cluster.js'

const until = async (what: string, condition: () => Promise<boolean> | boolean): Promise<void> => {
  for (const end = performance.now() + 40_000; !(await condition()); await sleep(50))
    assert.ok(performance.now() < end, `not so within 40 s: ${what}`)
}

/** A cluster for one test alone, whose nodes may go. */
const onCluster = (
  name: string,
  body: (cluster: RedisCluster, client: Client, other: Client) => Promise<void>,
): void => {
  void test(name, { timeout: 120_000 }, async (t) => {
    let cluster: RedisCluster | undefined
    const start = async (): Promise<void> => {
      cluster = await startCluster()
    }
    const reason = await started({ ...redisEngine, start })
    if (cluster === undefined) {
      t.skip(reason ?? 'no server')
      return
    }
    const place = cluster
    const clients = await Promise.all([connect({ url: place.url }), connect({ url: place.url })])
    for (const client of clients) client.on('error', () => undefined)
    try {
      await body(place, ...clients)
    } finally {
      await Promise.all(clients.map((client) => client.close()))
      await place.stop()
    }
  })
}

const CHANNEL = 'test{kaO}'

void describe('topics of a cluster that changes', { concurrency: 2 }, () => {
  onCluster('T14: the slot of a sharded topic goes to another node → heard from there', async (cluster, one, other) => {
    const slot = String(await cluster.nodes[0]?.redis.call('CLUSTER', 'KEYSLOT', CHANNEL))
    const heard: unknown[] = []
    let gaps = 0
    const subscription = await one.topic(CHANNEL, { sharded: true }).subscribe((message) => void heard.push(message))
    subscription.on('gap', () => (gaps += 1))
    assert.equal(await other.topic(CHANNEL, { sharded: true }).publish('before'), 1)
    await until('heard before', () => heard.includes('before'))
    const listening = await Promise.all(
      cluster.nodes.map(({ redis }) => redis.call('PUBSUB', 'SHARDNUMSUB', CHANNEL) as Promise<[string, number]>),
    )
    const from = listening.findIndex(([, count]) => count > 0)
    const target = cluster.nodes[(from + 1) % 3]
    assert.ok(from >= 0 && target !== undefined)
    const id = String(await target.redis.call('CLUSTER', 'MYID'))
    for (const { redis } of [target, ...cluster.nodes]) await redis.call('CLUSTER', 'SETSLOT', slot, 'NODE', id)
    await until('heard after', async () => {
      await other
        .topic(CHANNEL, { sharded: true })
        .publish('after')
        .catch(() => 0)
      return heard.includes('after')
    })
    assert.ok(gaps > 0, 'nobody was told of the gap')
    assert.deepEqual(await target.redis.call('PUBSUB', 'SHARDNUMSUB', CHANNEL), [CHANNEL, 1])
  })

  onCluster(
    'T32 T33 T34: a node ends → its topics and patterns are heard at another, each gets its own',
    async (cluster, one, other) => {
      const names = Array.from({ length: 30 }, (_, i) => `t${i}`)
      const heard = new Map<string, Set<unknown>>()
      const listen = (key: string) => (message: unknown) =>
        void heard.set(key, (heard.get(key) ?? new Set()).add(message))
      for (const name of names) await one.topic(name).subscribe(listen(name))
      let gaps = 0
      const pattern = await one.patternTopic('t*').subscribe((message) => listen('pattern')(message))
      pattern.on('gap', () => (gaps += 1))
      const listening = ({ redis }: RedisCluster['nodes'][number]): Promise<boolean> =>
        redis.call('PUBSUB', 'NUMPAT').then((count) => count === 1)
      const among = await Promise.all(cluster.nodes.map(listening))
      const gone = cluster.nodes[among.indexOf(true)]
      assert.ok(gone !== undefined, 'nobody listens')
      // Nobody answers that, and the connection tries on.
      gone.redis.shutdown('NOSAVE').catch(() => undefined)
      await sleep(200)
      gone.redis.disconnect()
      const left = cluster.nodes.filter((node) => node !== gone)
      await until('subscribed elsewhere', async () => (await Promise.all(left.map(listening))).includes(true))
      await until('each has its own', async () => {
        await Promise.all(
          names.map((name) =>
            other
              .topic(name)
              .publish(name)
              .catch(() => 0),
          ),
        )
        return names.every((name) => heard.get(name)?.has(name) === true && heard.get('pattern')?.has(name) === true)
      })
      for (const name of names) assert.deepEqual([...(heard.get(name) ?? [])], [name])
      assert.ok(gaps > 0, 'nobody was told of the gap')
    },
  )
})
