import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { type Client, connect } from 'holdfast'
import { indexKey, presenceKey, registerKey } from '#src/keys.js'
import { type ClusterNode, type RedisCluster, startCluster } from '../../support/redis-cluster.js'
import { until } from '../../support/until.js'
import { holdfast, linesOf } from '../commands/stage.js'
import { diagnosed } from './stage.js'

interface Stage {
  readonly cluster: RedisCluster
  open(): Promise<Client>
}

/** A cluster without replicas, whose masters answer although one of them is away. */
const onCluster = (name: string, body: (stage: Stage) => Promise<void>): void => {
  void test(name, { timeout: 120_000 }, async (t: TestContext) => {
    const cluster = await startCluster().catch((error: unknown) => {
      t.skip(String(error))
      return undefined
    })
    if (cluster === undefined) return
    const clients: Client[] = []
    t.after(async () => {
      for (const client of clients) await client.close({ release: false })
      await cluster.stop()
    })
    for (const { redis } of cluster.nodes) {
      await redis.config('SET', 'cluster-require-full-coverage', 'no')
      await redis.config('SET', 'appendonly', 'yes')
    }
    const open = async (): Promise<Client> => {
      const client = await connect({ url: cluster.url, watchdog: 600_000 })
      client.on('error', () => undefined)
      clients.push(client)
      return client
    }
    await body({ cluster, open })
  })
}

const nameOn = async (cluster: RedisCluster, node: ClusterNode): Promise<string> => {
  for (let i = 0; ; i++) if ((await cluster.ownerOf(`lock:${i}`)) === node) return `lock:${i}`
}

const addressOf = ({ port }: ClusterNode): string => `127.0.0.1:${port}`

/** A client of which every key that a reader needs is on other masters than this one; or of which only the label is there. */
const clientApart = async ({ cluster, open }: Stage, killed: ClusterNode, label: boolean): Promise<Client> => {
  for (;;) {
    const client = await open()
    const there = await Promise.all(
      [presenceKey(client.id), indexKey(client.id)].map(async (key) => (await cluster.ownerOf(key)) === killed),
    )
    if (there[0] === label && there[1] === false) return client
    await client.close()
  }
}

onCluster(
  'a master is killed, and nobody takes over → no-answer and what to do; the others and their locks as before; a label that was there → not dead',
  async (stage) => {
    const { cluster } = stage
    const register = await cluster.ownerOf(registerKey())
    const [killed, other] = cluster.nodes.filter((node) => node !== register) as [ClusterNode, ClusterNode]
    const readable = await clientApart(stage, killed, false)
    const unreadable = await clientApart(stage, killed, true)
    const [seen, there] = [await nameOn(cluster, other), await nameOn(cluster, register)]
    await readable.lock(seen).acquire()
    await unreadable.lock(there).acquire()
    await until(async () => (await diagnosed([], { url: cluster.url })).locks['count'] === 2)
    await cluster.kill(killed)

    for (const args of [[], ['--scan']]) {
      const { findings, servers, locks, exit } = await diagnosed(args, { url: cluster.url })
      const away = findings.filter(({ code }) => code === 'no-answer')
      assert.deepEqual(
        away.map(({ about }) => about),
        [addressOf(killed)],
      )
      assert.match(away[0]?.what ?? '', /^this master of the cluster does not answer: /)
      assert.equal(away[0]?.run[0], `redis-cli -h 127.0.0.1 -p ${killed.port} PING`)
      assert.match(away[0]?.run[1] ?? '', /^redis-cli -h 127\.0\.0\.1 -p \d+ CLUSTER NODES$/)
      assert.deepEqual(
        servers.map(({ server, software }) => [server, software !== null]).sort(),
        cluster.nodes.map((node) => [addressOf(node), node !== killed]).sort(),
      )
      assert.deepEqual([exit, locks['count'], locks['scanned']], [1, 2, args.length > 0])
      const unsure = findings.filter(({ code }) => code === 'unreadable-label')
      assert.deepEqual(
        unsure.map(({ about, run }) => [about, run.length]),
        [[there, 1]],
      )
      assert.ok(!findings.some(({ code }) => code === 'dead-holder'))
    }

    const { code, out, error } = await holdfast(['doctor'], { url: cluster.url })
    assert.deepEqual([code, error], [1, ''])
    assert.match(out, new RegExp(`^${addressOf(killed)}\n {2}does not answer$`, 'm'))
    assert.equal(linesOf(out).filter((line) => /^ {2}redis \d/.test(line)).length, 2)
    assert.match(out, /^2 locks /m)
    const ignored = ['--ignore', 'no-answer,unreadable-label,unseen,messages']
    assert.equal((await holdfast(['doctor', ...ignored], { url: cluster.url })).code, 0)
  },
)

onCluster(
  'the master that has the register is killed → the locks are not seen, and so it says; no master → 69',
  async (stage) => {
    const { cluster } = stage
    const killed = await cluster.ownerOf(registerKey())
    await cluster.kill(killed)
    const { findings, servers } = await diagnosed([], { url: cluster.url })
    assert.equal(servers.length, 3)
    assert.deepEqual(
      findings.filter(({ code }) => code === 'no-answer').map(({ about }) => about),
      [addressOf(killed)],
    )
    assert.ok(
      findings.some(
        ({ code, what }) => code === 'unseen' && /^listing the locks (was refused|got no answer): /.test(what),
      ),
    )
    for (const node of cluster.nodes) if (node !== killed) await cluster.kill(node)
    const { code, out, error } = await holdfast(['doctor'], { url: cluster.url })
    assert.deepEqual([code, out], [69, ''])
    assert.match(error, /^holdfast: /)
  },
)
