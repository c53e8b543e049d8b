import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { test } from 'node:test'
import { connect, type Lock } from 'holdfast'
import { redisEngine, started } from '../../support/engines.js'
import { type RedisCluster, startCluster } from '../../support/redis-cluster.js'
import { onServer } from '../../support/server.js'
import { LOCKS } from '../../support/surface.js'

const SENT = { release: 'sent' } as const

for (const [kind, lockOf] of Object.entries(LOCKS)) {
  onServer(`${kind}, sent: the connection is cut between the write and the answer → sent again`, async (broken) => {
    const { open, proxy, until, redis } = broken
    const client = await open({ label: 'a' })
    const lost: string[] = []
    client.on('lost', ({ name }) => lost.push(name))
    const lock: Lock = lockOf(client, 'l')
    await lock.using(SENT, () => undefined)
    const hold = await lock.acquire(SENT)
    for (const held of ['requests', 'replies'] as const) {
      const again = held === 'requests' ? hold : await lock.acquire(SENT)
      proxy.held = held
      assert.equal(await again.release(), true)
      proxy.cut()
      proxy.held = 'nothing'
      await until(async () => (await redis.exists('l', '{l}:h', 'l:2')) === 0)
    }
    assert.deepEqual(lost, [])
  })
}

onServer(
  'sent: what the same client sends next comes behind the release, whatever the script cache has',
  async (broken) => {
    const { open, proxy, redis } = broken
    const client = await open()
    const order: string[] = []
    for (const [kind, lockOf] of Object.entries(LOCKS)) {
      const lock = lockOf(client, `o:${kind}`)
      for (let turn = 0; turn < 20; turn++) {
        const hold = await lock.acquire(SENT)
        if (turn % 5 === 4) await redis.call('SCRIPT', 'FLUSH')
        proxy.onRequest = (request) => order.push(request)
        void hold.release()
        const next = await lock.tryAcquire(SENT)
        assert.ok(next !== undefined, `${kind}, turn ${turn}`)
        assert.equal(await next.release(), true)
      }
    }
    assert.ok(order.length > 0)
  },
)

onServer(
  'sent: the process exits in the tick of the release → the release has left',
  async ({ open, redis, server }) => {
    const program = fileURLToPath(new URL('exit-process.js', import.meta.url))
    for (const how of ['alone', 'several']) {
      const child = spawn(process.execPath, [program, server.url, how], { stdio: ['ignore', 'pipe', 'inherit'] })
      const [code] = (await once(child, 'exit')) as [number]
      assert.equal(code, 7)
      const client = await open()
      assert.equal(await client.lock(`exit:${how}`).isLocked(), false, how)
      assert.equal(await redis.exists(`exit:${how}`), 0)
      await client.close()
    }
  },
)

void test('sent, in a cluster: a try behind the release comes behind it on each node', async (t) => {
  let cluster: RedisCluster | undefined
  const start = async (): Promise<void> => {
    cluster = await startCluster({ replicas: false })
  }
  const reason = await started({ ...redisEngine, start })
  if (cluster === undefined) return t.skip(reason)
  try {
    const client = await connect({ url: cluster.url })
    const lost: string[] = []
    client.on('lost', ({ name }) => lost.push(name))
    for (const [kind, lockOf] of Object.entries(LOCKS)) {
      if (kind === 'multiLock') continue
      for (let turn = 0; turn < 12; turn++) {
        const lock = lockOf(client, `c:${kind}:${turn}`)
        const hold = await lock.acquire(SENT)
        void hold.release()
        const next = await lock.tryAcquire(SENT)
        assert.ok(next !== undefined, `${kind}, turn ${turn}`)
        await next.release()
      }
    }
    await client.close()
    const after = await connect({ url: cluster.url })
    for (const [kind, lockOf] of Object.entries(LOCKS))
      for (let turn = 0; turn < 12; turn++) assert.equal(await lockOf(after, `c:${kind}:${turn}`).isLocked(), false)
    assert.deepEqual(lost, [])
    await after.close()
  } finally {
    await cluster.stop()
  }
})
