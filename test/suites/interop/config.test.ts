import assert from 'node:assert/strict'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, connect } from 'holdfast'
import { Redis } from 'ioredis'
import { type RedisCluster, startCluster } from '../../support/redis-cluster.js'
import { startWatched, type Watched } from '../../support/redis-sentinel.js'
import { type RedisServer, startRedis } from '../../support/redis-server.js'
import { until } from '../../support/until.js'
import { excuse } from './support/arena.js'
import { VERSIONS } from './support/build.js'
import { JavaProcess } from './support/java-process.js'
import { NEWEST, Redisson } from './support/redisson.js'

/** What a file of some mode names. */
interface Servers {
  readonly alone: RedisServer
  readonly watched: Watched
  readonly cluster: RedisCluster
}

interface Mode {
  readonly section: string
  /** What the section holds. */
  lines(servers: Servers): readonly string[]
  /** The server that has this key. */
  serverOf(servers: Servers, key: string): Promise<RedisServer>
  readonly database?: number
}

const WATCHDOG = 12_000
/** More than an int can hold: what it is on the way shows the codec. */
const LONG = 99_999_999_999
const MAPPER = 'holdfast.interop.AppNames'

const at = ({ port }: { readonly port: number }): string => `redis://127.0.0.1:${port}`
const all = (servers: readonly { readonly port: number }[]): string =>
  JSON.stringify(servers.map((server) => at(server)))

/** Else Redisson opens dozens. */
const FEW_CONNECTIONS = [
  'masterConnectionMinimumIdleSize: 1',
  'slaveConnectionMinimumIdleSize: 1',
  'subscriptionConnectionMinimumIdleSize: 1',
]

const masterOf = ({ watched }: Servers): Promise<RedisServer> => watched.master()

const MODES: readonly Mode[] = [
  {
    section: 'singleServerConfig',
    lines: ({ alone }) => [
      `address: "${at(alone)}"`,
      'database: 2',
      'connectionMinimumIdleSize: 1',
      'subscriptionConnectionMinimumIdleSize: 1',
    ],
    serverOf: ({ alone }) => Promise.resolve(alone),
    database: 2,
  },
  {
    section: 'sentinelServersConfig',
    lines: ({ watched }) => [
      `sentinelAddresses: ${all(watched.sentinels)}`,
      'masterName: main',
      'database: 3',
      ...FEW_CONNECTIONS,
    ],
    serverOf: masterOf,
    database: 3,
  },
  {
    section: 'clusterServersConfig',
    lines: ({ cluster }) => [`nodeAddresses: ${all(cluster.nodes)}`, 'scanInterval: 2000', ...FEW_CONNECTIONS],
    serverOf: async ({ cluster }, key) => (await cluster.ownerOf(key)).server,
  },
  {
    section: 'replicatedServersConfig',
    lines: ({ watched }) => [`nodeAddresses: ${all(watched.servers)}`, 'database: 4', ...FEW_CONNECTIONS],
    serverOf: masterOf,
    database: 4,
  },
  {
    section: 'masterSlaveServersConfig',
    lines: ({ watched: { servers } }) => [
      `masterAddress: "${at(servers[0] ?? assert.fail())}"`,
      `slaveAddresses: ${all(servers.slice(1))}`,
      'database: 5',
      ...FEW_CONNECTIONS,
    ],
    serverOf: ({ watched: { servers } }) => Promise.resolve(servers[0] ?? assert.fail()),
    database: 5,
  },
]

const textOf = ({ section, lines }: Mode, servers: Servers, ...root: string[]): string =>
  [
    `${section}:`,
    ...lines(servers).map((line) => `  ${line}`),
    `lockWatchdogTimeout: ${WATCHDOG}`,
    'codec: !<org.redisson.codec.JsonJacksonCodec> {}',
    ...root,
    '',
  ].join('\n')

/** Either side sees what the other holds, waits for it, and is woken by its release. */
const meet = async (client: Client, theirs: Redisson, name: string): Promise<void> => {
  const [ours, their] = [client.lock(name), theirs.plain(name)]
  await their.lock(1)
  const { holders, remaining = 0 } = await ours.inspect()
  assert.deepEqual(
    holders.map(({ owner }) => owner),
    [await theirs.owner(1)],
  )
  assert.ok(remaining > WATCHDOG / 2 && remaining <= WATCHDOG, `${remaining} ms: the file’s watchdog`)
  assert.equal(await ours.tryAcquire(), undefined)
  const waiting = ours.acquire({ wait: 20_000 })
  await sleep(100)
  await their.unlock(1)
  const hold = await waiting
  assert.equal(await their.tryLock(2), false)
  const left = await their.remainTimeToLive()
  assert.ok(left > WATCHDOG / 2 && left <= WATCHDOG, `${left} ms: the file’s watchdog`)
  const theyWait = their.tryLock(2, 20_000)
  await sleep(300)
  const begun = performance.now()
  assert.equal(await hold.release(), true)
  assert.equal(await theyWait, true)
  // Redisson asks again only when the lease is over.
  assert.ok(performance.now() - begun < WATCHDOG / 2, 'the message did not reach it')
  await their.unlock(2)
  assert.equal(await ours.isLocked(), false)
}

/** A message of each side is heard by the other as what it was. */
const converse = async (client: Client, theirs: Redisson, name: string): Promise<void> => {
  const [ours, their]: [unknown[], unknown[]] = [[], []]
  const over = theirs.request({ op: 'hear', kind: 'topic', name, messages: 1 }, (line) =>
    their.push((line as { message: unknown }).message),
  )
  await client.topic(name).subscribe((message) => void ours.push(message))
  await until(() => their.length === 1)
  await client.topic(name).publish({ k: [1, 'two'] })
  await over
  assert.deepEqual(their[1], { k: [1, 'two'] })
  await theirs.request({ op: 'call', kind: 'topic', name, method: 'publish', args: [LONG] })
  await until(() => ours.length === 2)
  assert.deepEqual(ours, [{ k: [1, 'two'] }, LONG])
}

void describe('one file for both sides', { concurrency: 1 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-both-'))
  const ends: (() => unknown)[] = []
  let servers: Servers
  let java: JavaProcess
  let reason: string | undefined

  before(async () => {
    try {
      java = await JavaProcess.start(NEWEST)
      ends.push(() => java.kill())
      const alone = await startRedis()
      ends.push(() => alone.stop())
      const watched = await startWatched(1)
      ends.push(() => watched.stop())
      const cluster = await startCluster()
      ends.push(() => cluster.stop())
      servers = { alone, watched, cluster }
    } catch (error) {
      reason = excuse(error)
    }
  })

  after(async () => {
    for (const end of ends.reverse()) await end()
    await rm(folder, { recursive: true, force: true })
  })

  const on = (name: string, body: () => Promise<void>): void =>
    void test(name, { timeout: 90_000 }, async (t: TestContext) => {
      if (reason === undefined) await body()
      else t.skip(reason)
    })

  const written = (name: string, text: string): string => {
    const file = join(folder, name)
    writeFileSync(file, text)
    return file
  }

  /** Both by this file; and each key is where the file says. */
  const together = async (
    process: JavaProcess,
    mode: Mode,
    file: string,
    mapName: (name: string) => string = (name) => name,
  ): Promise<void> => {
    const theirs = await Redisson.open(process, { file })
    const client = await connect({ file, nameMappers: { [MAPPER]: mapName } })
    const name = `orders of ${mode.section}`
    const redis = new Redis((await mode.serverOf(servers, mapName(name))).url, { db: mode.database ?? 0 })
    try {
      await meet(client, theirs, name)
      // The driver does not know how to listen there.
      if (theirs.version !== '3.8.1') await converse(client, theirs, `news of ${mode.section}`)
      const hold = await client.lock(name).acquire()
      assert.equal(await redis.exists(mapName(name)), 1)
      assert.equal(await hold.release(), true)
    } finally {
      redis.disconnect()
      await client.close()
      await theirs.shutdown()
    }
  }

  for (const mode of MODES) {
    on(`${mode.section} → the same server, database, keys, watchdog and messages`, () =>
      together(java, mode, written(`${mode.section}.yml`, textOf(mode, servers))),
    )

    on(`${mode.section}, written out by Redisson with every field it has → the same`, async () => {
      const file = written('short.yml', textOf(mode, servers))
      const whole = await java.request<string>({ op: 'yaml', file })
      assert.ok(whole.split('\n').length > 40, whole)
      await together(java, mode, written(`${mode.section}-whole.yml`, whole))
    })

    on(`${mode.section}, a mapper of names → the same keys`, () =>
      together(
        java,
        mode,
        written(`${mode.section}-names.yml`, textOf(mode, servers, `nameMapper: !<${MAPPER}> {}`)),
        (name) => `app:${name}`,
      ),
    )
  }

  for (const version of VERSIONS.filter((one) => one !== NEWEST)) {
    on(`Redisson ${version}: one server, as the article has it and written out → the same`, async () => {
      const [mode = assert.fail()] = MODES
      const older = await JavaProcess.start(version)
      try {
        const file = written(`article-${version}.yml`, textOf(mode, servers))
        await together(older, mode, file)
        const whole = await older.request<string>({ op: 'yaml', file })
        await together(older, mode, written(`whole-${version}.yml`, whole))
      } finally {
        await older.kill()
      }
    })
  }
})
