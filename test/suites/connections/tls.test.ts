import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { ConfigError, connect, EngineError } from 'holdfast'
import { Redis } from 'ioredis'
import { rejection } from '../contract/lock/kind.js'
import type { Client, Options } from '../../support/engines.js'
import { redisEngine, started } from '../../support/engines.js'
import { makeAuthority } from '../../support/certificates.js'
import { freePort, startSentinel } from '../../support/redis-server.js'
import type { TlsServer } from '../../support/tls-server.js'
import { startTlsServer } from '../../support/tls-server.js'
import { until } from '../../support/until.js'

type Tls = NonNullable<Options['tls']>

void describe('TLS, where the server asks for a certificate', { concurrency: 4 }, () => {
  let running: TlsServer | undefined
  let skip: string | undefined
  before(async () => {
    skip = await started({ ...redisEngine, start: async () => void (running = await startTlsServer()) })
  })
  after(() => running?.stop())

  const on = (
    name: string,
    body: (server: TlsServer, url: string, tls: Required<Pick<Tls, 'ca' | 'cert' | 'key'>>) => Promise<void>,
  ): void => {
    test(name, { timeout: 60_000 }, async (t) => {
      if (running === undefined) return t.skip(skip ?? 'no server')
      const { authority, client, port } = running
      await body(running, `rediss://127.0.0.1:${port}`, { ca: authority.cert, cert: client.cert, key: client.key })
    })
  }

  const refusal = async (url: string, tls: Tls): Promise<EngineError> => {
    const error = await rejection(connect({ url, tls, connectTimeout: 5000 }))
    assert.ok(error instanceof EngineError && error.code === 'OFFLINE', String(error))
    assert.ok(error.message.includes(url), error.message)
    assert.doesNotMatch(JSON.stringify([error.message, error.stack, error]), /PRIVATE KEY/)
    return error
  }

  /** Taken, waited for, woken by a message, given back. */
  const used = async (url: string, tls: Tls): Promise<void> => {
    const open = (): Promise<Client> => connect({ url, tls })
    const [one, other] = [await open(), await open()]
    try {
      const hold = await one.lock(url).acquire()
      assert.equal(await other.lock(url).tryAcquire(), undefined)
      let waited = 0
      let last = hold
      for (const client of [other, one, other]) {
        const waiting = client.lock(url).acquire()
        await sleep(100)
        const begun = performance.now()
        assert.equal(await last.release(), true)
        last = await waiting
        waited += performance.now() - begun
      }
      assert.ok(waited < 3 * 300, `${waited / 3} ms on average: a poll woke it`)
      assert.equal(await last.release(), true)
    } finally {
      await Promise.all([one.close(), other.close()])
    }
  }

  for (const scheme of ['rediss', 'valkeys'])
    on(`${scheme}: → used`, (_server, url, tls) => used(url.replace('rediss', scheme), tls))

  on('rediss+sentinel: → the sentinel and the server by TLS, used', async ({ authority, port }, _url, tls) => {
    const { cert, key } = authority.issue('sentinel').files
    const own = await freePort()
    const sentinel = await startSentinel([
      ...[`tls-port ${own}`, 'tls-auth-clients yes', 'tls-replication yes', `tls-ca-cert-file ${authority.files.cert}`],
      ...[`tls-cert-file ${cert}`, `tls-key-file ${key}`, `sentinel monitor main 127.0.0.1 ${port} 1`],
    ])
    try {
      await used(`rediss+sentinel://127.0.0.1:${own}/main`, tls)
    } finally {
      await sentinel.stop()
    }
  })

  test('rediss+cluster: → each node by TLS, used', { timeout: 60_000 }, async (t) => {
    if (running === undefined) return t.skip(skip ?? 'no server')
    const node = await startTlsServer([
      ...['--cluster-enabled', 'yes', '--tls-cluster', 'yes'],
      ...['--cluster-announce-ip', '127.0.0.1'],
    ])
    const redis = new Redis(node.server.url)
    try {
      await redis.call('CLUSTER', 'ADDSLOTSRANGE', 0, 16_383)
      await until(async () => (await redis.cluster('INFO')).includes('cluster_state:ok'))
      const { authority, client, port } = node
      await used(`rediss+cluster://127.0.0.1:${port}`, { ca: authority.cert, cert: client.cert, key: client.key })
    } finally {
      redis.disconnect()
      await node.stop()
    }
  })

  on('bytes instead of text → the same', async (_server, url, { ca, cert, key }) => {
    const bytes = (pem: unknown): Uint8Array => new TextEncoder().encode(String(pem))
    const client = await connect({ url, tls: { ca: [bytes(ca)], cert: bytes(cert), key: bytes(key) } })
    assert.equal(await client.lock('bytes').using(() => 'done'), 'done')
    await client.close()
  })

  on('an authority that nobody knows → OFFLINE, and why', async (_server, url, tls) => {
    const stranger = makeAuthority('stranger')
    try {
      const own = { cert: tls.cert, key: tls.key }
      for (const error of [await refusal(url, own), await refusal(url, { ...own, ca: stranger.cert })])
        assert.match(error.message, /self-signed certificate|unable to verify|unable to get .*issuer/)
    } finally {
      stranger.dispose()
    }
  })

  on('no certificate of the client, or one of a stranger → OFFLINE, and what to pass', async (_server, url, { ca }) => {
    const stranger = makeAuthority('stranger')
    try {
      assert.match((await refusal(url, { ca })).message, /certificate.*tls: \{ cert, key \}/)
      const { cert, key } = stranger.issue('client')
      assert.match((await refusal(url, { ca, cert, key })).message, /certificate/)
    } finally {
      stranger.dispose()
    }
  })

  on(
    'another host than the certificate is for → OFFLINE; `servername` says whose it must be',
    async (_server, url, tls) => {
      const { message } = await refusal(url, { ...tls, servername: 'elsewhere.example' })
      assert.match(message, /elsewhere\.example/)
      const client = await connect({ url, tls: { ...tls, servername: 'localhost' } })
      await client.close()
    },
  )

  on('without TLS to the port of TLS → rejected in time', async (_server, url) => {
    const plain = url.replace('rediss', 'redis')
    const error = await rejection(connect({ url: plain, connectTimeout: 3000 }))
    assert.ok(error instanceof EngineError && error.message.includes(plain), String(error))
  })

  test('what cannot be → told before anything is sent', async () => {
    const url = 'rediss://127.0.0.1:1'
    const pem = '-----BEGIN CERTIFICATE-----'
    for (const [tls, kind, text] of [
      [{ cert: pem }, 'ConfigError', / together$/],
      [{ key: pem }, 'ConfigError', / together$/],
      [{ ca: '/etc/ca.pem' }, 'TypeError', /tls\.ca must be the content of the PEM file/],
      [{ ca: [pem, 5] }, 'TypeError', /tls\.ca/],
      [{ cipher: 'x' }, 'TypeError', /no 'cipher'/],
      [{ rejectUnauthorized: 0 }, 'TypeError', /rejectUnauthorized/],
      [null, 'TypeError', /tls must be/],
      ['-----BEGIN EC PRIVATE KEY-----', 'TypeError', /tls must be .*, not a string$/],
    ] as const) {
      const error = await rejection(connect({ url, tls: tls as Tls }))
      assert.ok(error instanceof Error && error.name === kind && text.test(error.message), String(error))
    }
    const error = await rejection(connect({ url: 'redis://127.0.0.1:1', tls: {} }))
    assert.ok(error instanceof ConfigError && error.message.includes('rediss:'), String(error))
  })
})
