import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createPrivateKey } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { redisEngine, started } from '../../support/engines.js'
import type { RedisCluster } from '../../support/redis-cluster.js'
import { startCluster } from '../../support/redis-cluster.js'
import type { Broken } from '../../support/server.js'
import { onServer } from '../../support/server.js'
import type { TlsServer } from '../../support/tls-server.js'
import { startTlsServer } from '../../support/tls-server.js'

const PROGRAM = fileURLToPath(new URL('../../support/secret-process.js', import.meta.url))

/** What must not be seen anywhere, in whatever form: neither has a character that an encoding would change. */
const SECRETS = ['canarysecret', 'kanarienvogel']
const [SECRET = '', USER = ''] = SECRETS
const PASSWORD = `${SECRET}@/:?#%ü`
const INFO = `${USER}:${encodeURIComponent(PASSWORD)}`
const WRONG = `${USER}:${SECRET}-wrong`

/** Runs a path in a process of its own. All that it printed. */
const printed = async (path: string, url: string, adminUrl = ''): Promise<string> => {
  const args = ['--unhandled-rejections=warn', PROGRAM, path, url, adminUrl]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const [out, error, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ])
  const all = `${out}\n${error}`
  assert.ok(code === 0 && out.includes('end of the path'), `${path} ended with ${code}: ${all.slice(-2000)}`)
  return all
}

const showsNothing = (all: string): void => {
  for (const secret of SECRETS) {
    const at = all.toLowerCase().indexOf(secret)
    assert.equal(at, -1, `shown: ${all.slice(Math.max(0, at - 300), at + 100)}`)
  }
  assert.ok(!all.includes('unhandled'), 'an unhandled rejection')
}

/** `signs` show that the path was really gone. */
const drive = async (path: string, url: string, signs: readonly RegExp[], adminUrl?: string): Promise<void> => {
  const all = await printed(path, url, adminUrl)
  for (const sign of signs) assert.match(all, sign)
  showsNothing(all)
}

const withUser = async ({ redis }: Broken): Promise<void> => {
  await redis.call('ACL', 'SETUSER', USER, 'on', `>${PASSWORD}`, '~*', '&*', '+@all')
}

/** With a user and password before the host. */
const at = (broken: Broken, info: string, scheme = 'redis'): string =>
  `${scheme}://${info}@127.0.0.1:${broken.server.port}`

test('a password in a hidden property of a cause → found by what these tests look with', async () => {
  assert.throws(() => showsNothing(`shown ${PASSWORD}`))
  const all = await printed('leak', `redis://${INFO}@host`)
  assert.throws(() => showsNothing(all))
})

void describe('a password where the connection cannot be had', { concurrency: 3 }, () => {
  for (const scheme of ['redis', 'valkey', 'rediss', 'valkeys', 'redis+cluster', 'rediss+cluster']) {
    test(`${scheme}: nobody listens, or no such host → not shown`, async () => {
      const refused = `${scheme}://${INFO}@127.0.0.1:1`
      await drive('plain', refused, [/OFFLINE/, new RegExp(`cannot connect to ${scheme.replace('+', '\\+')}://127`)])
      await drive('plain', `${scheme}://${INFO}@nowhere.invalid:6379`, [/OFFLINE/])
    })
  }

  test('redis+unix: no such socket → not shown', () =>
    drive('plain', `redis+unix://${INFO}@/nowhere/redis.sock`, [/ENOENT/, /OFFLINE/]))

  test('a host that accepts and never answers → not shown', async () => {
    const host = createServer((socket) => socket.on('error', () => undefined).resume()).listen(0, '127.0.0.1')
    await once(host, 'listening')
    const address = host.address()
    assert.ok(address !== null && typeof address !== 'string')
    for (const scheme of ['redis', 'rediss', 'redis+cluster']) {
      await drive('plain', `${scheme}://${INFO}@127.0.0.1:${address.port}`, [
        /OFFLINE/,
        /no answer within 1500 ms|timeout/,
      ])
    }
    host.close()
  })

  test('a connection passed in that nobody answers → not shown', async () => {
    await drive('borrowedRefused', `redis://${INFO}@127.0.0.1:1`, [/OFFLINE/])
    await drive('borrowedPrefixed', `redis://${INFO}@127.0.0.1:1`, [/keyPrefix/, /not both/])
  })
})

void describe('a password in a URL that cannot be read', { concurrency: 3 }, () => {
  const P = encodeURIComponent(PASSWORD)
  const urls = [
    `redis://${USER}:${P}@host:port`,
    `redis://${USER}:${P}@host:99999`,
    `redis://${USER}:${P}@:6379`,
    `redis://${USER}:${P}@`,
    `redis://${USER}:${P}@host/database`,
    `redis://${USER}:${SECRET}%zz@host`,
    `redis://${USER}:${SECRET}/1@host:6379`,
    `redis://${USER}:1/${SECRET}@host:6379`,
    `redis://${USER}:${SECRET}#1@host:6379`,
    `redis://${USER}:${SECRET}?1@host:port`,
    `redis://:1/${SECRET}@host:6379`,
    `redis://1/${SECRET}@host:6379`,
    `redis:${USER}:${P}@host:6379`,
    `redis:/${USER}:${P}@host:6379`,
    `rediss://${USER}:${P}@host:port`,
    `valkey://${USER}:1/${SECRET}@host`,
    `valkeys://${USER}:${P}@host/x`,
    `redis+cluster://${USER}:${P}@one:1,two:two`,
    `redis+cluster://${USER}:1/${SECRET}@one:1,two:2`,
    `rediss+cluster://${USER}:${SECRET}%@one:1`,
    `redis+sentinel://${USER}:${P}@host:1/MASTER/db?sentinelPassword=${SECRET}`,
    `redis+unix://${USER}:${P}@`,
    `redis+unix://${USER}:${P}@/path?db=x`,
    `redis+unix://${USER}:${SECRET}/x@/path`,
    `redis+unix://${USER}:${SECRET}%@/path`,
    `http://${USER}:${P}@host`,
    `${USER}:${P}@host:6379`,
    `${SECRET}:@host:6379`,
    `//${USER}:${P}@host:6379`,
    SECRET,
  ]

  test(`${urls.length} such URLs → refused without any part of it`, async () => {
    const queue = [...urls]
    const lane = async (): Promise<void> => {
      for (let url = queue.shift(); url !== undefined; url = queue.shift()) {
        await drive('refusedUrl', url, [/ConfigError|cannot connect to redis:\/\/host:6379/])
      }
    }
    await Promise.all([lane(), lane()])
  })
})

void describe('a password on a server', { concurrency: 3 }, () => {
  onServer('right: connected, used in every way, closed → not shown, and in no key', async (broken) => {
    await withUser(broken)
    await broken.redis.config('SET', 'maxmemory-policy', 'allkeys-lru')
    for (const scheme of ['redis', 'valkey']) {
      await drive('plain', at(broken, INFO, scheme), [
        /warnings.*allkeys-lru/,
        /ACQUIRE_TIMEOUT/,
        /CLOSED/,
        /channel grant/,
      ])
    }
    await broken.redis.set('theirs', 1)
    const monitor = await broken.redis.monitor()
    const sent: string[] = []
    monitor.on('monitor', (_time: string, words: string[]) => sent.push(words.join(' ')))
    await drive('plain', at(broken, INFO), [/CLOSED/])
    monitor.disconnect()
    assert.ok(sent.some((words) => words.includes('holdfast:client:')))
    showsNothing(sent.join('\n'))
  })

  onServer(
    'the right password of a server with requirepass → not shown; none, or another → NOAUTH, WRONGPASS',
    async (broken) => {
      await drive('plain', at(broken, encodeURIComponent(PASSWORD)), [/CLOSED/, /channel grant/])
      await drive('plain', at(broken, `default:${encodeURIComponent(PASSWORD)}`), [/CLOSED/, /channel grant/])
      await drive('plain', `redis://127.0.0.1:${broken.server.port}`, [/NOAUTH/])
      await drive('plain', at(broken, `default:${SECRET}`), [/WRONGPASS/])
    },
    ['--requirepass', PASSWORD],
  )

  onServer(
    'wrong → WRONGPASS, not shown; also of a passed connection, and by TLS to a server without',
    async (broken) => {
      await withUser(broken)
      await drive('plain', at(broken, WRONG), [/WRONGPASS/, /cannot connect to redis:\/\/127/])
      await drive('plain', at(broken, WRONG, 'valkey'), [/WRONGPASS/])
      await drive('plain', at(broken, INFO, 'rediss'), [/OFFLINE/])
      await drive('borrowedRefused', at(broken, WRONG), [/WRONGPASS|OFFLINE/])
    },
  )

  onServer(
    'a server that does not know AUTH and says all of what it was sent → not shown',
    (broken) => drive('plain', at(broken, INFO), [/unknown command/]),
    ['--rename-command', 'AUTH', ''],
  )

  const path = join(tmpdir(), `holdfast-${process.pid}.sock`)
  onServer(
    'through a socket, right or wrong → not shown',
    async (broken) => {
      await withUser(broken)
      await drive('plain', `redis+unix://${INFO}@${path}`, [/CLOSED/, /channel grant/])
      await drive('plain', `redis+unix://${WRONG}@${path}`, [/WRONGPASS/, /cannot connect to redis\+unix:/])
    },
    ['--unixsocket', path],
  )

  onServer('connections killed while a lock is held and waited for → not shown', async (broken) => {
    await withUser(broken)
    await drive('killed', at(broken, INFO), [/event reconnect/, /channel release/], broken.server.url)
  })

  onServer('the password changed meanwhile: connecting again is refused → not shown', async (broken) => {
    await withUser(broken)
    await drive('passwordChanged', at(broken, INFO), [/event error/, /log error/, /WRONGPASS/], broken.server.url)
  })

  onServer('one permission after the other taken away → NOPERM, not shown', async (broken) => {
    await withUser(broken)
    await drive('forbidden', at(broken, INFO), [/NOPERM/, /channel/], broken.server.url)
  })

  onServer('replies that do not come, then a cut → NO_REPLY, not shown', async (broken) => {
    await withUser(broken)
    await drive('silent', at(broken, INFO), [/NO_REPLY/, /OFFLINE|reconnect/], broken.server.url)
  })

  onServer('a connection passed in, killed → not shown, not by ioredis either', async (broken) => {
    await withUser(broken)
    await drive('borrowed', at(broken, INFO), [/event reconnect/, /CLOSED/], broken.server.url)
  })
})

test(
  'the word for the key of this client: right, wrong, none; by options and by a file → not shown',
  { timeout: 120_000 },
  async (t) => {
    const opened: TlsServer[] = []
    const start = async (): Promise<void> => void opened.push(await startTlsServer())
    const reason = await started({ ...redisEngine, start })
    const [server] = opened
    if (reason !== undefined || server === undefined) {
      t.skip(reason ?? 'no server')
      return
    }
    const { authority, client, port } = server
    const cipher = { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: PASSWORD } as const
    const key = createPrivateKey(client.key).export(cipher)
    const folder = await mkdtemp(join(tmpdir(), 'holdfast-secrets-'))
    const written = async (name: string, content: string): Promise<string> => {
      await writeFile(join(folder, name), content)
      return join(folder, name)
    }
    try {
      const store = await written('client.pem', `${key.toString()}${client.cert}`)
      const url = `rediss://127.0.0.1:${port}`
      for (const [passphrase, sign] of [
        [PASSWORD, /CLOSED/],
        [`${SECRET}-wrong`, /OFFLINE/],
        [undefined, /OFFLINE/],
      ] as const) {
        const tls = { ca: authority.cert, cert: client.cert, key, passphrase }
        await drive('secured', url, [sign], await written('tls.json', JSON.stringify(tls)))
        const lines = [
          `singleServerConfig: {address: "${url}"}`,
          `sslTruststore: ${authority.files.cert}`,
          `sslKeystore: ${store}`,
          ...(passphrase === undefined ? [] : [`sslKeystorePassword: ${JSON.stringify(passphrase)}`]),
        ]
        await drive('filed', await written('redisson.yml', lines.join('\n')), [sign])
      }
    } finally {
      await rm(folder, { recursive: true, force: true })
      await server.stop()
    }
  },
)

test('a password on a cluster: right, wrong, connections killed → not shown', { timeout: 120_000 }, async (t) => {
  const opened: RedisCluster[] = []
  const start = async (): Promise<void> => void opened.push(await startCluster())
  const reason = await started({ ...redisEngine, start })
  const [cluster] = opened
  if (reason !== undefined || cluster === undefined) {
    t.skip(reason ?? 'no cluster')
    return
  }
  try {
    for (const { redis } of cluster.nodes) {
      await redis.call('ACL', 'SETUSER', USER, 'on', `>${PASSWORD}`, '~*', '&*', '+@all')
    }
    const url = (info: string): string => cluster.url.replace('://', `://${info}@`)
    const adminUrl = `redis://127.0.0.1:${cluster.nodes[0]?.port ?? 0}`
    await drive('plain', url(INFO), [/CLOSED/, /channel grant/])
    await drive('plain', url(WRONG), [/cannot connect to redis\+cluster:/])
    await drive('killed', url(INFO), [/channel release/, /CLOSED/], adminUrl)
    await drive('forbidden', url(INFO), [/CLOSED/], adminUrl)
  } finally {
    await cluster.stop()
  }
})
