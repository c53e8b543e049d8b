import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { connect, EngineError } from 'holdfast'
import { rejection } from '../../suites/contract/lock/kind.js'
import { type Client, redisEngine, started } from '../../support/engines.js'
import { type RedisCluster, startCluster } from '../../support/redis-cluster.js'
import { until } from '../../support/until.js'

const KEYS = ['a', 'b', 'c', 'd', 'e', 'f']

describe('scripts and topics on a cluster of three nodes', () => {
  let cluster: RedisCluster
  let reason: string | undefined

  before(async () => {
    const start = async (): Promise<void> => {
      cluster = await startCluster()
    }
    reason = await started({ ...redisEngine, start })
  })

  after(async () => {
    if (reason === undefined) await cluster.stop()
  })

  const on = (name: string, body: (client: Client, other: Client) => Promise<void>): void => {
    test(name, { timeout: 60_000 }, async (t) => {
      if (reason !== undefined) {
        t.skip(reason)
        return
      }
      const clients = await Promise.all([connect({ url: cluster.url }), connect({ url: cluster.url })])
      for (const client of clients) client.on('error', () => undefined)
      try {
        await body(...clients)
      } finally {
        await Promise.all(clients.map((client) => client.close()))
        for (const { redis } of cluster.nodes) {
          assert.deepEqual(await redis.call('PUBSUB', 'CHANNELS'), [])
          assert.deepEqual(await redis.call('PUBSUB', 'SHARDCHANNELS'), [])
          assert.equal(await redis.call('PUBSUB', 'NUMPAT'), 0)
          await redis.flushall()
        }
      }
    })
  }

  on(
    'keys on every node → each script where its key is; of several slots → RangeError, nothing sent',
    async (client) => {
      const script = client.script("return redis.call('INCR', KEYS[1])")
      for (const key of KEYS) assert.equal(await script.run({ keys: [key], returns: 'integer' }), 1)
      assert.deepEqual(await client.script('return {KEYS[1], KEYS[2]}').run({ keys: ['{a}1', '{a}2'] }), [
        '{a}1',
        '{a}2',
      ])
      const error = await rejection(script.run({ keys: ['a', 'b'] }))
      assert.ok(error instanceof RangeError)
      assert.match(error.message, /one slot.*"a" and "b"/)
      assert.equal(await client.script('return 7', { readOnly: true }).run(), 7)
    },
  )

  /** A client of each node, as if it were alone. */
  const onEach = async (body: (clients: readonly Client[]) => Promise<void>): Promise<void> => {
    const clients = await Promise.all(cluster.nodes.map(({ port }) => connect({ url: `redis://127.0.0.1:${port}` })))
    try {
      await body(clients)
    } finally {
      await Promise.all(clients.map((client) => client.close()))
    }
  }

  on('SC07: a script that reads, on every master by a client of its own → the answers added up are 3', () =>
    onEach(async (clients) => {
      const answers = clients.map((client) => client.script('return 1', { readOnly: true }).run({ returns: 'integer' }))
      let sum = 0
      for (const answer of await Promise.all(answers)) sum += answer ?? 0
      assert.equal(sum, 3)
    }),
  )

  on('T01: events of keys, heard by a client of each master → those of all nodes, once each', (client) =>
    onEach(async (each) => {
      const heard: unknown[] = []
      for (const { redis } of cluster.nodes) await redis.config('SET', 'notify-keyspace-events', 'Eg')
      const topics = each.map((one) => one.patternTopic('__keyevent@*:del', { codec: 'string' }))
      await Promise.all(topics.map((topic) => topic.subscribe((message) => void heard.push(message))))
      const script = client.script("redis.call('SET', KEYS[1], 1) return redis.call('DEL', KEYS[1])")
      for (const key of KEYS) assert.equal(await script.run({ keys: [key] }), 1)
      await until(() => heard.length >= KEYS.length)
      assert.deepEqual(heard.sort(), KEYS)
      await Promise.all(topics.map((topic) => topic.unsubscribeAll()))
      for (const key of KEYS) await script.run({ keys: [key] })
      for (const one of each) await one.script('return 1').run()
      assert.equal(heard.length, KEYS.length)
      for (const { redis } of cluster.nodes) await redis.config('SET', 'notify-keyspace-events', '')
    }),
  )

  on('load, exists, flush → on all nodes', async (client) => {
    const sha = await client.scripts.load("return redis.call('EXISTS', KEYS[1])")
    for (const key of KEYS) assert.equal(await client.scripts.run(sha, { keys: [key] }), 0)
    assert.deepEqual(await client.scripts.exists(sha), [true])
    await cluster.nodes[1]?.redis.script('FLUSH')
    assert.deepEqual(await client.scripts.exists(sha), [false])
    await client.scripts.flush()
    for (const key of KEYS) {
      const error = await rejection(client.scripts.run(sha, { keys: [key] }))
      assert.ok(error instanceof EngineError && error.code === 'NOSCRIPT')
    }
    const error = await rejection(client.scripts.kill())
    assert.ok(error instanceof EngineError && error.code === 'NOTBUSY')
  })

  on(
    'T29: topics of all slots, sharded and not, and a pattern → each gets its own, in their order',
    async (client, other) => {
      const heard = new Map<string, unknown[]>()
      const listen = (key: string) => (message: unknown) => void heard.set(key, [...(heard.get(key) ?? []), message])
      for (const key of KEYS) {
        await client.topic(key).subscribe(listen(`plain ${key}`))
        await client.topic(key, { sharded: true }).subscribe(listen(`sharded ${key}`))
      }
      await client.patternTopic('?').subscribe((message, channel) => listen(`pattern ${channel}`)(message))
      assert.deepEqual(
        [await other.topic('a').subscribers(), await other.topic('a', { sharded: true }).subscribers()],
        [1, 1],
      )
      const sent = Array.from({ length: 50 }, (_, i) => i)
      await Promise.all(
        KEYS.flatMap((key) =>
          sent.flatMap((i) => [other.topic(key).publish(i), other.topic(key, { sharded: true }).publish(i)]),
        ),
      )
      await until(() => [...heard.values()].flat().length === 3 * KEYS.length * sent.length)
      for (const key of KEYS)
        for (const kind of ['plain', 'sharded', 'pattern'])
          assert.deepEqual(heard.get(`${kind} ${key}`), sent, `${kind} ${key}`)
    },
  )

  on('the connections for messages are cut → gap, and what is published then is heard', async (client, other) => {
    const gaps = new Set<string>()
    const heard = new Set<unknown>()
    for (const sharded of [false, true]) {
      const name = sharded ? 'sharded' : 'plain'
      const subscription = await client.topic(name, { sharded }).subscribe((message) => void heard.add(message))
      subscription.on('gap', () => void gaps.add(name))
    }
    for (const { redis } of cluster.nodes) await redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub')
    await until(() => gaps.size === 2)
    await until(async () => {
      await other.topic('plain').publish('p')
      await other.topic('sharded', { sharded: true }).publish('s')
      return heard.size === 2
    })
  })
})
