import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe } from 'node:test'
import { Redis } from 'ioredis'
import { written } from '../../config/files.js'
import { startRedis } from '../../support/redis-server.js'
import { type Broken, onServer } from '../../support/server.js'
import { until } from '../../support/until.js'
import { diagnosed, GOOD, onlyOne } from './stage.js'

const fileFor = ({ server }: Broken, more: string): string =>
  written('doctor.yml', `singleServerConfig: {address: "${server.url}"}\n${more}\n`)

/** A replica of the server, which ends with the test. */
const replicaOf = async ({ server, after }: Broken): Promise<{ redis: Redis; pid: number }> => {
  const other = await startRedis(['--replicaof', '127.0.0.1', String(server.port), ...GOOD])
  const redis = new Redis(other.url)
  after(async () => {
    redis.disconnect()
    await other.stop()
  })
  return { redis, pid: other.pid }
}

void describe('holdfast doctor: the server', { concurrency: 2 }, () => {
  onServer(
    'a good server → nothing; what it is, and how fast it answers',
    async ({ server }) => {
      const { findings, servers, exit } = await diagnosed(['--scan'], { url: server.url })
      assert.deepEqual([exit, findings], [0, []])
      const [{ ping, clock, software, ...rest }] = servers as [Record<string, unknown>]
      const { min, median, max } = ping as { min: number; median: number; max: number }
      assert.ok(min > 0 && min <= median && median <= max, `${min} ${median} ${max}`)
      assert.equal(clock, 0)
      assert.match(String(software), /^(redis|valkey) \d+\.\d+\.\d+$/)
      assert.deepEqual(rest, {
        ...{ type: 'server', server: server.url, role: 'master', replicas: 0, appendfsync: 'everysec', save: '' },
        ...{ user: 'default', rights: 'full', someNames: false },
      })
    },
    GOOD,
  )

  for (const policy of ['allkeys-lru', 'volatile-ttl'])
    onServer(
      `maxmemory-policy ${policy} → eviction; the command that is printed mends it`,
      async ({ server, redis }) => {
        const { what, run, about } = onlyOne(await diagnosed([], { url: server.url }), 'eviction')
        assert.deepEqual([what, about], [`maxmemory-policy is ${policy}`, server.url])
        assert.deepEqual(run, [`redis-cli -u ${server.url} CONFIG SET maxmemory-policy noeviction`])
        await redis.config('SET', 'maxmemory-policy', 'noeviction')
        assert.deepEqual((await diagnosed([], { url: server.url })).codes, [])
      },
      [...GOOD, '--maxmemory-policy', policy],
    )

  onServer(
    'memory that is nearly full → memory; half full → nothing',
    async ({ server, redis }) => {
      const used = Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1])
      await redis.config('SET', 'maxmemory', String(Math.round(used * 2)))
      assert.deepEqual((await diagnosed([], { url: server.url })).codes, [])
      await redis.config('SET', 'maxmemory', String(Math.round(used * 1.04)))
      assert.match(
        onlyOne(await diagnosed([], { url: server.url }), 'memory').what,
        /^(9\d|1\d\d) % of maxmemory are used$/,
      )
    },
    GOOD,
  )

  onServer('no append-only file → persistence, and whether there are snapshots', async ({ server, redis }) => {
    const what = async (): Promise<string> => onlyOne(await diagnosed([], { url: server.url }), 'persistence').what
    assert.equal(await what(), 'the server has no append-only file, and no snapshots')
    await redis.config('SET', 'save', '3600 1')
    assert.equal(await what(), 'the server has no append-only file, only snapshots')
  })

  onServer(
    'appendfsync no → fsync',
    async ({ server }) => {
      onlyOne(await diagnosed([], { url: server.url }), 'fsync')
    },
    [...GOOD, '--appendfsync', 'no'],
  )

  onServer(
    'a save that failed → disk',
    async ({ server, redis }) => {
      // A file cannot take the place of a folder.
      const [, folder = ''] = await redis.config('GET', 'dir')
      mkdirSync(join(folder, 'dump.rdb', 'in-the-way'), { recursive: true })
      await redis.bgsave()
      await until(async () => (await redis.info('persistence')).includes('rdb_last_bgsave_status:err'))
      assert.equal(onlyOne(await diagnosed([], { url: server.url }), 'disk').what, 'rdb_last_bgsave_status is err')
    },
    GOOD,
  )

  onServer(
    'a replica → replica, and where its master is',
    async (broken) => {
      const { redis: replica } = await replicaOf(broken)
      const { port } = replica.options
      await until(async () => (await replica.info('replication')).includes('master_link_status:up'))
      const found = onlyOne(await diagnosed([], { url: `redis://127.0.0.1:${port}` }), 'replica')
      assert.equal(found.what, `the server is a replica of 127.0.0.1:${broken.server.port}`)
    },
    GOOD,
  )

  onServer(
    'a node of a cluster behind the URL of one server → one-node; one that has no slots → also what was refused',
    async ({ server, redis }) => {
      const { codes } = await diagnosed([], { url: server.url })
      assert.deepEqual(codes, ['one-node', 'unseen', 'unseen'])
      await redis.call('CLUSTER', 'ADDSLOTSRANGE', 0, 16_383)
      await until(async () => (await redis.cluster('INFO')).includes('cluster_state:ok'))
      onlyOne(await diagnosed([], { url: server.url }), 'one-node')
    },
    [...GOOD, '--cluster-enabled', 'yes'],
  )

  onServer(
    'a replica that is not filled yet → replicas; one that is → nothing',
    async (broken) => {
      const { server, redis } = broken
      await replicaOf(broken)
      await until(async () => (await redis.info('replication')).includes('state=wait_bgsave'))
      assert.match(
        onlyOne(await diagnosed([], { url: server.url }), 'replicas').what,
        /^1 of 1 replicas are not online, or more than 10 s behind: ip=127\.0\.0\.1,port=\d+,state=wait_bgsave,/,
      )
      await redis.config('SET', 'repl-diskless-sync-delay', '0')
      await until(async () => (await redis.info('replication')).includes('state=online'), 60_000)
      const { codes, servers } = await diagnosed([], { url: server.url })
      assert.deepEqual([codes, servers[0]?.['replicas']], [[], 1])
    },
    [...GOOD, '--repl-diskless-sync-delay', '20'],
  )

  onServer(
    'a replica that stands still → replicas',
    async (broken) => {
      const { server, redis } = broken
      const { pid } = await replicaOf(broken)
      const says = (text: string | RegExp): Promise<void> =>
        until(async () => (await redis.info('replication')).search(text) >= 0, 60_000)
      await says('state=online')
      process.kill(pid, 'SIGSTOP')
      await says(/state=online.*lag=(1[2-9]|[2-9]\d)/)
      assert.match(onlyOne(await diagnosed([], { url: server.url }), 'replicas').what, /state=online,.*lag=[1-9]\d/)
    },
    [...GOOD, '--repl-diskless-sync-delay', '0'],
  )

  onServer(
    'a client that does not wait for the replicas → replicas-unawaited; without replicas → nothing',
    async (broken) => {
      const { redis } = broken
      const file = fileFor(broken, 'checkLockSyncedSlaves: false')
      assert.deepEqual((await diagnosed(['--config', file], {})).codes, [])
      await replicaOf(broken)
      await until(async () => (await redis.info('replication')).includes('state=online'), 60_000)
      onlyOne(await diagnosed(['--config', file], {}), 'replicas-unawaited')
      assert.deepEqual((await diagnosed(['--config', fileFor(broken, '')], {})).codes, [])
    },
    [...GOOD, '--repl-diskless-sync-delay', '0'],
  )

  for (const [off, word] of [
    [7200, 'behind'],
    [-7200, 'ahead of'],
  ] as const)
    onServer(
      `a clock of the server that is two hours ${word} this machine's → clock`,
      async ({ server }) => {
        const shift = `const now = Date.now; Date.now = () => now() + ${off * 1000}`
        const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(shift)}` }
        const { what } = onlyOne(await diagnosed([], { url: server.url, env }), 'clock')
        assert.match(what, new RegExp(`^the clock of the server is (7199\\d{3}|7200\\d{3}) ms ${word} this machine's$`))
      },
      GOOD,
    )

  onServer(
    'a server that answers after 150 ms → latency',
    async ({ proxy }) => {
      proxy.delay = 150
      const { what } = onlyOne(await diagnosed([], { url: proxy.url }), 'latency')
      assert.match(what, /^a ping takes (1[5-9]\d|[2-9]\d\d) ms \(median\)$/)
    },
    GOOD,
  )

  onServer(
    'a setting that is not used → setting, in the words of client.warnings',
    async (broken) => {
      const { what } = onlyOne(await diagnosed(['--config', fileFor(broken, 'threads: 16')], {}), 'setting')
      assert.match(what, /threads is not used/)
    },
    GOOD,
  )
})
