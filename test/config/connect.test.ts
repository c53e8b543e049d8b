import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { inspect } from 'node:util'
import { connect } from 'holdfast'
import { redisEngine, started } from '../support/engines.js'
import type { RedisCluster } from '../support/redis-cluster.js'
import { startCluster } from '../support/redis-cluster.js'
import { type Watched, startWatched } from '../support/redis-sentinel.js'
import { freePort, type RedisServer, startRedis } from '../support/redis-server.js'
import { onServer } from '../support/server.js'
import { until } from '../support/until.js'
import { told, written } from './files.js'

const SECRET = 'c4nary-5ecret'

/** All that a user could come to see of a value. */
const seen = (value: unknown): string =>
  `${String(value)} ${inspect(value, { depth: 10, showHidden: true, getters: true, maxStringLength: Infinity })}`

void describe('a file, and the server that it names', { concurrency: 1 }, () => {
  onServer(
    'user, password, database, client’s name, times → as the file says; the password is nowhere to be seen',
    async ({ server, redis }) => {
      await redis.call('ACL', 'SETUSER', 'orders', 'on', `>${SECRET}`, '~*', '&*', '+@all')
      const file = written(
        'real.yml',
        [
          'singleServerConfig:',
          `  address: "redis://127.0.0.1:${server.port}"`,
          '  database: 3',
          '  clientName: orders',
          '  timeout: 2000',
          'username: orders',
          `password: ${SECRET}`,
          'lockWatchdogTimeout: 12000',
          'threads: 16',
        ].join('\n'),
      )
      const said: string[] = []
      const log = (message: string, details?: unknown): void => void said.push(message, seen(details))
      const client = await connect({ file, logger: { debug: log, info: log, warn: log, error: log } })
      try {
        assert.ok(client.warnings.map(told).includes('real.yml:9:1: threads is not used: there are no threads here'))
        const hold = await client.lock('a').acquire()
        // Messages have a connection of their own.
        await client.topic('t').subscribe(() => undefined)
        await redis.select(3)
        assert.ok((await redis.pttl('a')) > 9000 && (await redis.pttl('a')) <= 12_000)
        const list = String(await redis.client('LIST'))
        const ours = list.split('\n').filter((line) => line.includes('name=orders'))
        assert.equal(ours.length, 2, list)
        for (const line of ours) assert.match(line, / user=orders /)
        assert.ok(ours.some((line) => line.includes(' db=3 ')))
        assert.equal(await hold.release(), true)
        for (const text of [seen(client), seen(hold), ...said]) assert.ok(!text.includes(SECRET))
      } finally {
        await client.close()
      }
      const wrong = written(
        'wrong.yml',
        readFileSync(file, 'utf8').replace(`password: ${SECRET}`, `password: ${SECRET}x`),
      )
      const error = await connect({ file: wrong }).then(
        () => assert.fail('let in'),
        (reason: unknown) => reason,
      )
      assert.match(seen(error), /WRONGPASS/)
      assert.ok(!seen(error).includes(SECRET))
    },
  )

  onServer(
    'a mapper of names, and the codec of JSON → keys and messages as the file says',
    async ({ server, redis }) => {
      const file = written(
        'names.yml',
        `singleServerConfig:\n  address: redis://127.0.0.1:${server.port}\nnameMapper: !<com.example.AppNames> {}\ncodec: !<org.redisson.codec.JsonJacksonCodec> {}\n`,
      )
      const client = await connect({ file, nameMappers: { 'com.example.AppNames': (name) => `app:${name}` } })
      const hearing = redis.duplicate()
      try {
        await client.lock('a').acquire()
        assert.equal(await redis.exists('app:a'), 1)
        const heard: string[] = []
        hearing.on('message', (_, message) => heard.push(message))
        await hearing.subscribe('app:t')
        await client.topic('t').publish(5n)
        await until(() => heard.length > 0)
        assert.deepEqual(heard, ['["java.lang.Long",5]'])
      } finally {
        hearing.disconnect()
        await client.close()
      }
    },
  )

  onServer('a codec that only Java has → locks work; a topic says what to do', async ({ server }) => {
    const file = written(
      'kryo.yml',
      `singleServerConfig:\n  address: redis://127.0.0.1:${server.port}\ncodec: !<org.redisson.codec.Kryo5Codec> {}\n`,
    )
    const client = await connect({ file })
    assert.equal(await client.lock('a').using(() => 1), 1)
    await assert.rejects(client.topic('t').publish(1), { code: 'CONFIG', message: /Kryo5Codec.*pass a codec/ })
    await client.close()
  })
})

/** Authorities and certificates for one run. */
const certificates = (folder: string): void => {
  const openssl = (...args: string[]): void => void execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' })
  const days = ['-days', '2']
  const request = ['req', '-newkey', 'rsa:2048', '-nodes']
  openssl(...request, '-x509', ...days, '-keyout', 'ca.key', '-out', 'ca.pem', '-subj', '/CN=authority')
  for (const name of ['server', 'client']) {
    openssl(...request, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', '/CN=localhost')
    openssl(
      'x509',
      '-req',
      ...days,
      '-in',
      `${name}.csr`,
      '-CA',
      'ca.pem',
      '-CAkey',
      'ca.key',
      '-CAcreateserial',
      '-out',
      `${name}.pem`,
    )
  }
  openssl(
    'pkcs12',
    '-export',
    '-in',
    'client.pem',
    '-inkey',
    'client.key',
    '-out',
    'client.p12',
    '-passout',
    `pass:${SECRET}`,
  )
}

void describe('a file with TLS', { concurrency: 1 }, () => {
  let server: RedisServer | undefined
  let folder = ''
  let port = 0
  let skip: string | undefined

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'holdfast-tls-'))
    const start = async (): Promise<void> => {
      certificates(folder)
      port = await freePort()
      const files = ['--tls-cert-file', `${folder}/server.pem`, '--tls-key-file', `${folder}/server.key`]
      server = await startRedis(['--tls-port', String(port), ...files, '--tls-ca-cert-file', `${folder}/ca.pem`])
    }
    skip = await started({ ...redisEngine, name: 'TLS', start })
  })
  after(async () => {
    await server?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  const secured = (host: string, ...lines: string[]): string =>
    written('tls.yml', [`singleServerConfig:`, `  address: "rediss://${host}:${port}"`, ...lines].join('\n'))

  const works = async (...args: Parameters<typeof secured>): Promise<readonly string[]> => {
    const client = await connect({ file: secured(...args) })
    assert.equal(await client.lock('a').using(() => 'inside'), 'inside')
    await client.close()
    return client.warnings
  }

  const tls = (name: string, body: () => Promise<unknown>): void =>
    void test(name, async (t) => {
      if (skip !== undefined) t.skip(skip)
      else await body()
    })

  const trust = () => `sslTruststore: "file:${folder}/ca.pem"`
  const key = () => [`sslKeystore: "file://${folder}/client.p12"`, `sslKeystorePassword: ${SECRET}`]

  tls('an authority and a certificate of our own, PKCS#12 and PEM → let in', async () => {
    await works('localhost', trust(), ...key())
    const pem = written(
      'client.pem',
      `${readFileSync(`${folder}/client.key`, 'utf8')}${readFileSync(`${folder}/client.pem`, 'utf8')}`,
    )
    await works(
      'localhost',
      trust(),
      `sslKeystore: ${pem}`,
      'sslProtocols: [TLSv1.2]',
      'sslCiphers: [TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384]',
    )
  })

  tls('no certificate, no authority, another name → refused', async () => {
    const connectTimeout = 3000
    for (const lines of [
      ['localhost', trust()],
      ['localhost', ...key()],
      ['127.0.0.1', trust(), ...key()],
    ])
      await assert.rejects(
        connect({ file: secured(...(lines as [string, ...string[]])), connectTimeout }),
        (error: Error) => {
          assert.ok(!seen(error).includes(SECRET))
          return 'code' in error && error.code === 'OFFLINE'
        },
      )
  })

  tls('verification of the authority alone, or none → let in by another name', async () => {
    await works('127.0.0.1', trust(), ...key(), 'sslVerificationMode: CA_ONLY')
    await works('127.0.0.1', ...key(), 'sslVerificationMode: NONE')
  })

  tls('a wrong word for the key, a store of Java’s → refused, with what to do', async () => {
    const [store = ''] = key()
    await assert.rejects(
      works('localhost', trust(), store, 'sslKeystorePassword: wrong'),
      /cannot connect|mac verify|PFX/i,
    )
    const jks = written('store.jks', Buffer.from('feedfeed00000002', 'hex'))
    await assert.rejects(
      works('localhost', trust(), `sslKeystore: ${jks}`),
      /:4:1: sslKeystore must be PKCS#12 or PEM; to convert it: keytool/,
    )
    await assert.rejects(
      works('localhost', `sslTruststore: ${jks}`),
      /:3:1: sslTruststore must be PEM; to convert it: keytool/,
    )
  })
})

void describe('a file of several servers', { concurrency: 1 }, () => {
  let watched: Watched | undefined
  let cluster: RedisCluster | undefined
  let skip: string | undefined

  before(async () => {
    const start = async (): Promise<void> => {
      watched = await startWatched(2, { server: 'main', sentinel: 'watch' })
      cluster = await startCluster()
    }
    skip = await started({ ...redisEngine, name: 'several', start })
  })
  after(async () => {
    await watched?.stop()
    await cluster?.stop()
  })

  const several = (name: string, body: (all: { watched: Watched; cluster: RedisCluster }) => Promise<void>): void =>
    void test(name, { timeout: 120_000 }, async (t) => {
      if (watched === undefined || cluster === undefined) t.skip(skip ?? 'no server')
      else await body({ watched, cluster })
    })

  const addresses = (servers: readonly { port: number }[]): string =>
    servers.map(({ port }) => `\n  - "redis://127.0.0.1:${port}"`).join('')

  several('sentinels, with a password each', async ({ watched }) => {
    const file = written(
      'sentinel.yml',
      `sentinelServersConfig:\n  sentinelAddresses:${addresses(watched.sentinels)}\n  masterName: main\n  sentinelPassword: watch\n  database: 1\npassword: main\n`,
    )
    const client = await connect({ file })
    await client.lock('by sentinels').acquire()
    const redis = watched.ask(await watched.master())
    await redis.select(1)
    assert.equal(await redis.exists('by sentinels'), 1)
    await client.close()
  })

  several('replicated: the master is found, and found again when it is another', async ({ watched }) => {
    const file = written(
      'replicated.yml',
      `replicatedServersConfig:\n  nodeAddresses:${addresses(watched.servers)}\npassword: main\n`,
    )
    const client = await connect({ file })
    client.on('error', () => undefined)
    try {
      await client.lock('a').using(() => undefined)
      const woken = await client.lock('waited for').acquire()
      await watched.failOver()
      await until(() =>
        client
          .lock('b')
          .tryAcquire()
          .then(
            (hold) => hold?.release() ?? false,
            () => false,
          ),
      )
      await woken.release()
      // Messages come from the new one, too.
      const holder = await client.lock('c').acquire()
      const waiting = client.lock('c').acquire({ wait: 10_000 })
      await holder.release()
      await (await waiting).release()
    } finally {
      await client.close()
    }
    const none = written(
      'none.yml',
      `replicatedServersConfig:\n  nodeAddresses:${addresses(watched.sentinels.slice(0, 2))}\npassword: watch\n`,
    )
    await assert.rejects(connect({ file: none, connectTimeout: 3000 }), {
      code: 'OFFLINE',
      message: /redis\+replicated:\/\/127.*none of the nodes/,
    })
  })

  several('master and slaves: all goes to the master', async ({ watched }) => {
    const master = await watched.master()
    const others = watched.servers.filter((server) => server !== master)
    const file = written(
      'masterSlave.yml',
      `masterSlaveServersConfig:\n  masterAddress: redis://127.0.0.1:${master.port}\n  slaveAddresses:${addresses(others)}\npassword: main\n`,
    )
    const client = await connect({ file })
    assert.equal(await client.lock('a').using(() => 1), 1)
    await client.close()
  })

  several('a cluster: releases are told by SPUBLISH, or not, as the file says', async ({ cluster }) => {
    for (const [mode, published] of [
      ['AUTO', 'spublish'],
      ['ON', 'spublish'],
      ['OFF', 'publish'],
    ] as const) {
      const file = written(
        `cluster-${mode}.yml`,
        `clusterServersConfig:\n  nodeAddresses:${addresses(cluster.nodes)}\n  shardedSubscriptionMode: ${mode}\n`,
      )
      const counts = async (): Promise<number> => {
        const stats = await Promise.all(cluster.nodes.map(({ redis }) => redis.info('commandstats')))
        return stats.reduce(
          (sum, text) => sum + Number(new RegExp(`cmdstat_${published}:calls=(\\d+)`).exec(text)?.[1] ?? 0),
          0,
        )
      }
      const before = await counts()
      const client = await connect({ file })
      const holder = await client.lock('told').acquire()
      const rival = await connect({ file })
      const waiting = rival.lock('told').acquire({ wait: 10_000 })
      await new Promise((resolve) => setTimeout(resolve, 100))
      await holder.release()
      await (await waiting).release()
      await Promise.all([client.close(), rival.close()])
      assert.ok((await counts()) > before, mode)
    }
  })

  several('addresses that the nodes tell → mapped', async ({ cluster }) => {
    const [first] = cluster.nodes
    const proxied = cluster.nodes.map(({ port }) => `"127.0.0.1:${port}": "localhost:${port}"`).join(', ')
    const file = written(
      'nat.yml',
      `clusterServersConfig:\n  nodeAddresses: ["redis://localhost:${first?.port}"]\n  natMapper: !<org.redisson.config.HostPortNatMapper> {hostsPortMap: {${proxied}}}\n`,
    )
    const client = await connect({ file })
    for (const name of ['a', 'b', 'c', 'd']) assert.equal(await client.lock(name).using(() => name), name)
    await client.close()
  })
})
