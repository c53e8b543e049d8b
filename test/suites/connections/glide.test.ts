import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { ConfigError, connect, EngineError, HoldfastError } from 'holdfast'
import { rejection } from '../contract/lock/kind.js'
import { smoke } from '../contract/smoke.js'
import { rowOf } from '../../support/rows.js'
import { requireGlide } from '../../support/packages.js'
import { type Broken, onServer } from '../../support/server.js'
import { works } from '../../support/works.js'

smoke(rowOf('GLIDE, one server'))

const open = (port: number, more: object = {}) =>
  requireGlide().GlideClient.createClient({ addresses: [{ host: '127.0.0.1', port }], requestTimeout: 2000, ...more })

const connections = async ({ redis }: Broken): Promise<number> =>
  String(await redis.client('LIST'))
    .trim()
    .split('\n').length

void describe('a client of Valkey GLIDE of the caller’s own', { concurrency: 2 }, () => {
  for (const [name, defaultDecoder] of [
    ['Bytes', 0],
    ['String', 1],
  ] as const) {
    onServer(`its default decoder is ${name} → works`, async ({ server }) => {
      const glide = await open(server.port, { defaultDecoder })
      try {
        await works(glide)
      } finally {
        glide.close()
      }
    })
  }

  onServer('for a database that the server does not have → connect rejects and says so', async ({ server }) => {
    const glide = await open(server.port, { databaseId: 99, lazyConnect: true })
    try {
      const error = await rejection(connect({ connection: glide }))
      assert.ok(error instanceof ConfigError, String(error))
      assert.match(error.message, /: database 99 does not exist: .*DB index is out of range/)
    } finally {
      glide.close()
    }
  })

  onServer('closed → the caller’s is open as it was, and our own for messages is gone', async (broken) => {
    const { server, redis, until } = broken
    const glide = await open(server.port, { databaseId: 2 })
    const before = await connections(broken)
    try {
      const [one, other] = [await connect({ connection: glide }), await connect(`${server.url}/2`)]
      const hold = await other.lock('a').acquire()
      assert.equal(await one.lock('a').tryAcquire(), undefined)
      const waiting = one.lock('a').acquire()
      await until(async () => (await redis.pubsub('CHANNELS', '*')).length > 0)
      await hold.release()
      await (await waiting).release()
      await Promise.all([one.close(), other.close()])
      assert.equal(
        await (glide as unknown as { customCommand(words: string[]): Promise<unknown> }).customCommand([
          'SET',
          'theirs',
          '1',
        ]),
        'OK',
      )
      await redis.select(2)
      assert.deepEqual(await redis.keys('*'), ['theirs'])
      assert.deepEqual(await redis.pubsub('CHANNELS', '*'), [])
      await until(async () => (await connections(broken)) === before)
    } finally {
      glide.close()
    }
  })

  onServer('cut and connected again by itself → goes on, subscriptions too', async ({ server, redis, until }) => {
    const glide = await open(server.port)
    const client = await connect({ connection: glide })
    client.on('error', () => undefined)
    try {
      const hold = await client.lock('a').acquire()
      const waiting = client.lock('a').acquire()
      await sleep(100)
      await redis.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
      await redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub')
      await until(() =>
        client
          .lock('b')
          .using(() => true)
          .catch(() => false),
      )
      assert.equal(await hold.release(), true)
      assert.equal(await (await waiting).release(), true)
      const other = await connect(server.url)
      const kept = await other.lock('c').acquire({ lease: 60_000 })
      const woken = client.lock('c').acquire()
      await until(async () => (await redis.pubsub('CHANNELS', '*')).length > 0)
      await sleep(100)
      await kept.release()
      await (await woken).release()
      await other.close()
    } finally {
      await client.close()
      glide.close()
    }
  })

  const losses: Readonly<Record<string, (broken: Broken) => unknown>> = {
    'all connections cut': ({ proxy }) => proxy.cut(),
    'CLIENT KILL of the messages': ({ redis }) => redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub'),
    'the server restarted': (broken) => broken.restart(),
  }
  for (const [loss, lose] of Object.entries(losses)) {
    onServer(`${loss} → listeners get a gap; subscriptions work again, and there are no others`, async (broken) => {
      const { proxy, redis, until, after } = broken
      const glide = await open(Number(new URL(proxy.url).port))
      const client = await connect({ connection: glide })
      after(async () => {
        await client.close()
        glide.close()
      })
      client.on('error', () => undefined)
      const [heard, gaps]: [string[], string[]] = [[], []]
      const hear = (name: string) => () => void heard.push(name)
      const subscriptions = {
        a: await client.topic('a').subscribe(hear('a')),
        b: await client.topic('b').subscribe(hear('b')),
        'p*': await client.patternTopic('p*').subscribe(hear('p*')),
        'q*': await client.patternTopic('q*').subscribe(hear('q*')),
      }
      for (const [name, subscription] of Object.entries(subscriptions))
        subscription.on('gap', () => void gaps.push(name))
      await subscriptions.b.unsubscribe()
      await subscriptions['q*'].unsubscribe()
      await lose(broken)
      // GLIDE tells nobody that it was cut: the driver looks each second.
      await until(() => gaps.includes('a') && gaps.includes('p*'))
      await until(async () => {
        for (const channel of ['a', 'b', 'p', 'q']) await redis.publish(channel, '0')
        return heard.includes('a') && heard.includes('p*')
      })
      await sleep(50)
      assert.deepEqual([...new Set(heard)].sort(), ['a', 'p*'])
      assert.deepEqual([...new Set(gaps)].sort(), ['a', 'p*'])
    })
  }

  onServer('thousands of commands at once, more than it takes → each is answered', async ({ server }) => {
    const glide = await open(server.port, { inflightRequestsLimit: 50 })
    const client = await connect({ connection: glide })
    try {
      const semaphore = client.semaphore('s')
      await semaphore.trySetPermits(0)
      await Promise.all(Array.from({ length: 2000 }, () => semaphore.release()))
      assert.equal(await semaphore.available(), 2000)
      const topic = client.topic('t')
      const refused = await rejection(client.topic('t', { sharded: true }).subscribe(() => undefined))
      assert.ok(refused instanceof HoldfastError && refused.code === 'UNSUPPORTED', String(refused))
      assert.match(refused.message, /GLIDE.*sharded channels: .*ioredis or node-redis/)
      await Promise.all(Array.from({ length: 2000 }, (_, i) => topic.publish(i)))
    } finally {
      await client.close()
      glide.close()
    }
  })

  onServer(
    'a script that does not end → stopped over the second connection',
    async ({ server }) => {
      const glide = await open(server.port, { requestTimeout: 10_000 })
      const client = await connect({ connection: glide })
      const endless = rejection(client.script('while true do end').run())
      await sleep(200)
      await client.scripts.kill()
      assert.match(String(await endless), /killed/i)
      await client.close()
      glide.close()
    },
    ['--busy-reply-threshold', '50'],
  )

  onServer('ended by the caller → OFFLINE in time, and close does not hang', async ({ server }) => {
    const glide = await open(server.port)
    const client = await connect({ connection: glide, commandTimeout: 300 })
    await client.lock('a').acquire({ lease: 500 })
    glide.close()
    const error = await rejection(client.lock('b').acquire())
    assert.ok(error instanceof EngineError && error.code === 'OFFLINE', String(error))
    await client.close()
  })

  onServer(
    'one of a cluster, or one that cannot subscribe later → ConfigError that says what to pass',
    async ({ server }) => {
      const glide = await open(server.port)
      try {
        const old = Object.create(glide, { subscribe: { value: undefined } }) as object
        assert.match(String(await rejection(connect({ connection: old }))), /2\.3 or newer/)
        const cluster = Object.create(requireGlide().GlideClusterClient.prototype) as object
        const error = await rejection(connect({ connection: cluster }))
        assert.ok(error instanceof ConfigError, String(error))
        assert.match(error.message, /GlideClusterClient.*ioredis or node-redis/)
      } finally {
        glide.close()
      }
    },
  )
})
