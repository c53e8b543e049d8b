import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { admit, ANY_LINE } from '../../support/acl.js'
import { startCluster } from '../../support/redis-cluster.js'
import { startWatched } from '../../support/redis-sentinel.js'
import { startTlsServer } from '../../support/tls-server.js'
import { until } from '../../support/until.js'
import { diagnosed, GOOD, onlyOne } from './stage.js'

const PASSWORD = 'secret-of-a-test'

/** Undefined: there is no server, and the test is skipped. */
const orSkip = async <T extends { stop(): Promise<void> }>(
  t: TestContext,
  starting: Promise<T>,
): Promise<T | undefined> => {
  try {
    const there = await starting
    t.after(() => there.stop())
    return there
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'NO_REDIS') throw error
    t.skip('no server')
    return undefined
  }
}

void describe('holdfast doctor: where the server is', () => {
  test('a cluster → every master is asked; a finding names its master', { timeout: 120_000 }, async (t) => {
    const cluster = await orSkip(t, startCluster())
    if (cluster === undefined) return
    for (const { redis } of cluster.nodes) await redis.config('SET', 'appendonly', 'yes')
    const { servers, codes } = await diagnosed(['--scan'], { url: cluster.url })
    const ports = cluster.nodes.map(({ port }) => `127.0.0.1:${port}`)
    assert.deepEqual([codes, servers.map(({ server }) => server).sort()], [[], [...ports].sort()])
    const [, second] = cluster.nodes
    await second?.redis.config('SET', 'maxmemory-policy', 'allkeys-lfu')
    const { about, run } = onlyOne(await diagnosed([], { url: cluster.url }), 'eviction')
    assert.equal(about, ports[1])
    assert.deepEqual(run, [`redis-cli -h 127.0.0.1 -p ${second?.port} CONFIG SET maxmemory-policy noeviction`])
    await second?.redis.config('SET', 'maxmemory-policy', 'noeviction')
    for (const { redis } of cluster.nodes) await admit(redis, ANY_LINE, PASSWORD)
    const may = async (rule: string): Promise<void> => {
      for (const { redis } of cluster.nodes) await redis.call('ACL', 'SETUSER', 'holdfast', rule)
    }
    const url = cluster.url.replace('//', `//holdfast:${PASSWORD}@`)
    assert.deepEqual((await diagnosed([], { url })).codes, [], 'the user of SECURITY.md')
    await may('-ssubscribe')
    const { codes: lacking } = await diagnosed(['--user', 'holdfast'], { url: cluster.url })
    assert.deepEqual(lacking, ['rights', 'rights', 'rights'], 'a cluster needs it')
    await may('+ssubscribe')
    await may('-pubsub|shardnumsub')
    onlyOne(await diagnosed([], { url }), 'messages')
  })

  test('by sentinels → the master, and its replica', { timeout: 120_000 }, async (t) => {
    const watched = await orSkip(t, startWatched(1, {}, GOOD))
    if (watched === undefined) return
    const master = watched.ask(await watched.master())
    await until(async () => (await master.info('replication')).includes('state=online'))
    const { servers, codes } = await diagnosed([], { url: watched.url })
    assert.deepEqual([codes, servers.length], [[], 1])
    assert.deepEqual([servers[0]?.['role'], servers[0]?.['replicas']], ['master', 1])
    await master.config('SET', 'maxmemory-policy', 'allkeys-lru')
    const { run } = onlyOne(await diagnosed([], { url: watched.url }), 'eviction')
    assert.deepEqual(run, ["redis-cli -h 'HOST OF THE MASTER' CONFIG SET maxmemory-policy noeviction"])
  })

  test('by TLS → the same', { timeout: 60_000 }, async (t) => {
    const tls = await orSkip(t, startTlsServer([...GOOD, '--tls-auth-clients', 'no']))
    if (tls === undefined) return
    const env = { NODE_EXTRA_CA_CERTS: tls.authority.files.cert }
    const { servers, codes } = await diagnosed([], { url: `rediss://localhost:${tls.port}`, env })
    assert.deepEqual([codes, servers.length], [[], 1])
  })
})
