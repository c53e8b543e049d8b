import assert from 'node:assert/strict'
import { type AddressInfo } from 'node:net'
import { createServer, type RequestListener } from 'node:http'
import { createRequire } from 'node:module'
import { after, describe, test } from 'node:test'
import fastify, { type FastifyRequest } from 'fastify'
import { type Context, Hono } from 'hono'
import { ClosedError, connect, EngineError, NotInitializedError } from 'holdfast'
import { rateLimit as forExpress } from 'holdfast/express'
import { rateLimit as forFastify } from 'holdfast/fastify'
import { rateLimit as forHono } from 'holdfast/hono'
import { judge, networkOf } from '#src/http/rate-limit.js'
import { type Client, redisEngine, started } from '../engines.js'
import { times } from '../contract/lock/kind.js'
import { type RedisServer, startRedis } from '../support/redis-server.js'

interface Settings {
  readonly client: Pick<Client, 'rateLimiter'>
  readonly permits: number
  readonly interval: number
  readonly name?: string
  readonly whenAway?: 'open' | 'closed'
  readonly timeout?: number
}

/** What is used of it here: it comes without types. */
interface ExpressRequest {
  readonly ip?: string
  readonly headers: Record<string, unknown>
}
interface ExpressResponse {
  set(headers: Record<string, string>): unknown
  status(status: number): ExpressResponse
  send(text: string): unknown
}
type ExpressApp = RequestListener & {
  use(handler: unknown): void
  get(path: string, handler: (request: ExpressRequest, response: ExpressResponse) => void): void
}
const express = createRequire(import.meta.url)('express') as () => ExpressApp

/** Whose request it is, told by the test. */
const WHO = 'x-who'

interface Framework {
  readonly name: string
  /** A server with `GET /`, limited by the address, or by WHO; the address to ask, and how to end it. */
  serve(settings: Settings, by: 'address' | 'who'): Promise<{ url: string; end(): Promise<void> }>
}

const frameworks: Framework[] = [
  {
    name: 'Fastify',
    async serve(settings, by) {
      const app = fastify()
      const key = (request: FastifyRequest): string => String(request.headers[WHO])
      app.addHook('onRequest', by === 'who' ? forFastify({ ...settings, key }) : forFastify(settings))
      app.get('/', () => 'in')
      return { url: await app.listen({ port: 0, host: '127.0.0.1' }), end: () => app.close() }
    },
  },
  {
    name: 'Fastify, one route',
    async serve(settings, by) {
      const app = fastify()
      const key = (request: FastifyRequest): string => String(request.headers[WHO])
      const onRequest = by === 'who' ? forFastify({ ...settings, key }) : forFastify(settings)
      app.get('/', { onRequest }, () => 'in')
      return { url: await app.listen({ port: 0, host: '127.0.0.1' }), end: () => app.close() }
    },
  },
  {
    name: 'Express',
    async serve(settings, by) {
      const app = express()
      const key = (request: ExpressRequest): string => String(request.headers[WHO])
      app.use(by === 'who' ? forExpress({ ...settings, key }) : forExpress(settings))
      app.get('/', (_request, response) => {
        response.send('in')
      })
      app.use((_error: unknown, _request: unknown, response: ExpressResponse, _next: unknown) => {
        response.status(500).send('broken')
      })
      return listening(app)
    },
  },
  {
    name: 'Hono',
    async serve(settings, by) {
      const app = new Hono()
      app.use(
        forHono({ ...settings, key: (c: Context) => (by === 'who' ? String(c.req.header(WHO)) : 'the only one') }),
      )
      app.get('/', (c) => c.text('in'))
      return listening((request, response) => {
        const headers = new Headers(request.headers as Record<string, string>)
        void Promise.resolve(app.fetch(new Request(`http://localhost${request.url}`, { headers }))).then(
          async (answer) => {
            response.writeHead(answer.status, Object.fromEntries(answer.headers))
            response.end(await answer.text())
          },
        )
      })
    },
  },
]

const listening = async (
  handler: Parameters<typeof createServer>[1],
): Promise<{ url: string; end(): Promise<void> }> => {
  const server = createServer(handler)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const end = async (): Promise<void> => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return { url: `http://127.0.0.1:${port}`, end }
}

/** A server that takes what it is sent and says nothing. */
const silent = {
  rateLimiter: () => ({ tryAcquire: () => new Promise(() => undefined) }),
} as unknown as Pick<Client, 'rateLimiter'>

const failing = (error: Error): Pick<Client, 'rateLimiter'> =>
  ({ rateLimiter: () => ({ tryAcquire: () => Promise.reject(error) }) }) as unknown as Client

for (const framework of frameworks) {
  void describe(`rate limit for ${framework.name}`, () => {
    const opened: Client[] = []
    after(() => Promise.all(opened.map((client) => client.close())))

    const memory = async (): Promise<Client> => {
      const client = await connect('memory:')
      opened.push(client)
      return client
    }

    const asking = async (
      settings: Settings,
      by: 'address' | 'who',
      body: (ask: (who?: string) => Promise<Response>) => Promise<void>,
    ): Promise<void> => {
      const { url, end } = await framework.serve(settings, by)
      try {
        await body((who = 'somebody') => fetch(url, { headers: { [WHO]: who } }))
      } finally {
        await end()
      }
    }

    void test('ten at once, three allowed → three in, the others 429 and when to come again', async () => {
      const client = await memory()
      await asking({ client, permits: 3, interval: 60_000, name: 'burst' }, 'address', async (ask) => {
        const answers = await Promise.all(times(10, () => ask()))
        const [inside, refused] = [200, 429].map((status) => answers.filter((answer) => answer.status === status))
        assert.deepEqual([inside?.length, refused?.length], [3, 7])
        const left: (string | null)[] = []
        for (const answer of inside ?? []) {
          assert.equal(await answer.text(), 'in')
          assert.equal(answer.headers.get('ratelimit-policy'), '"burst";q=3;w=60')
          assert.equal(answer.headers.get('retry-after'), null)
          left.push(answer.headers.get('ratelimit'))
        }
        assert.deepEqual(left.sort(), ['"burst";r=0', '"burst";r=1', '"burst";r=2'])
        for (const answer of refused ?? []) {
          const wait = Number(answer.headers.get('retry-after'))
          assert.ok(Number.isInteger(wait) && wait > 50 && wait <= 60, String(wait))
          assert.equal(answer.headers.get('ratelimit-policy'), '"burst";q=3;w=60')
          assert.equal(answer.headers.get('ratelimit'), `"burst";r=0;t=${wait}`)
          assert.equal(await answer.text(), 'Too Many Requests')
        }
      })
    })

    void test('whoever comes when told to → is let in; a part of a second is told as a whole one', async () => {
      const client = await memory()
      await asking({ client, permits: 1, interval: 950 }, 'address', async (ask) => {
        assert.equal((await ask()).status, 200)
        const refused = await ask()
        assert.equal(refused.status, 429)
        assert.equal(refused.headers.get('retry-after'), '1')
        await new Promise((resolve) => setTimeout(resolve, 1000))
        assert.equal((await ask()).status, 200)
      })
    })

    void test('a key of one’s own → each is counted for itself', async () => {
      const client = await memory()
      await asking({ client, permits: 1, interval: 60_000 }, 'who', async (ask) => {
        assert.equal((await ask('ada')).status, 200)
        assert.equal((await ask('bob')).status, 200)
        assert.equal((await ask('ada')).status, 429)
      })
    })

    void test('the server is away → all are let through, or none, as was said', async () => {
      const client = failing(new EngineError('OFFLINE', 'not connected'))
      for (const [whenAway, status] of [
        [undefined, 200],
        ['open', 200],
        ['closed', 503],
      ] as const) {
        const settings = { client, permits: 1, interval: 1000, ...(whenAway && { whenAway }) }
        await asking(settings, 'address', async (ask) => assert.equal((await ask()).status, status))
      }
    })

    void test('the server says nothing → answered in time, let through or not, as was said', async () => {
      for (const [whenAway, status] of [
        ['open', 200],
        ['closed', 503],
      ] as const) {
        const settings: Settings = { client: silent, permits: 1, interval: 1000, name: 'mute', whenAway, timeout: 60 }
        await asking(settings, 'address', async (ask) => {
          const begun = performance.now()
          const answer = await ask()
          const took = performance.now() - begun
          assert.equal(answer.status, status)
          assert.ok(took >= 55 && took < 1500, `${took} ms`)
          assert.equal(answer.headers.get('ratelimit-policy'), '"mute";q=1;w=1')
          assert.equal(answer.headers.get('ratelimit'), null)
        })
      }
    })

    void test('what is no trouble of the server’s → the framework’s own way with errors', async () => {
      const settings = { client: failing(new ClosedError('a')), permits: 1, interval: 1000 }
      await asking(settings, 'address', async (ask) => assert.equal((await ask()).status, 500))
    })
  })
}

void describe('rate limit for all frameworks', () => {
  void test('bad options → said at once', async () => {
    await using client = await connect('memory:')
    const good = { client, permits: 1, interval: 1000 }
    for (const [bad, message] of [
      [{ ...good, permits: 0 }, /permits/],
      [{ ...good, interval: -1 }, /interval/],
      [{ ...good, name: 'a "b"' }, /name/],
      [{ ...good, key: 'ip' }, /key/],
      [{ ...good, whenAway: 'ajar' }, /whenAway/],
      [{ ...good, client: {} }, /client/],
      [{ ...good, timeout: 0 }, /timeout/],
    ] as const) {
      assert.throws(() => forFastify(bad as never), message)
    }
  })

  void test('no rate is set yet, and the server falls silent → nobody waits until setting it is given up', async () => {
    let asked = 0
    const silence = new EngineError('NO_REPLY', 'no answer')
    const limiter = {
      tryAcquire: () => Promise.reject(asked++ === 0 ? new NotInitializedError('a') : silence),
      trySetRate: () => new Promise(() => undefined),
    }
    const client = { rateLimiter: () => limiter } as unknown as Client
    const { refusal } = await judge({ client, permits: 1, interval: 1000, whenAway: 'closed' }, () => '::1')({})
    assert.equal(refusal?.status, 503)
    assert.equal(asked, 2)
  })

  void test('the server stands still, or is gone → each request is answered in time; it is back → limited as before', async (t) => {
    let server = undefined as unknown as RedisServer
    const start = async (): Promise<void> => {
      server = await startRedis()
    }
    const reason = await started({ ...redisEngine, start })
    if (reason !== undefined) {
      t.skip(reason)
      return
    }
    const client = await connect({ url: server.url, presence: false })
    client.on('error', () => undefined)
    const judged = judge(
      { client, permits: 1, interval: 600_000, whenAway: 'closed', timeout: 150 },
      (who: string) => who,
    )
    const ask = async (who: string): Promise<number | undefined> => {
      const begun = performance.now()
      const { refusal } = await judged(who)
      // The client's own limit for a command is three seconds, and setting a rate is tried for a minute.
      assert.ok(performance.now() - begun < 1500, `${who}: ${performance.now() - begun} ms`)
      return refusal?.status
    }
    try {
      assert.deepEqual([await ask('ada'), await ask('ada')], [undefined, 429])
      process.kill(server.pid, 'SIGSTOP')
      assert.deepEqual(
        await Promise.all(times(20, (n) => ask(n % 2 ? 'ada' : `new ${n}`))),
        times(20, () => 503),
      )
      process.kill(server.pid, 'SIGCONT')
      while ((await ask('bob')) === 503);
      assert.deepEqual([await ask('ada'), await ask('bob')], [429, 429])
    } finally {
      await server.stop()
    }
    assert.deepEqual(
      await Promise.all(times(20, (n) => ask(n % 2 ? 'ada' : `other ${n}`))),
      times(20, () => 503),
    )
    await client.close()
  })

  void test('no rate is set yet, and setting it takes longer than asking → asked once more', async () => {
    let set: (done: boolean) => void = () => undefined
    const setting = new Promise<boolean>((resolve) => (set = resolve))
    let asked = 0
    const tryAcquire = (): Promise<unknown> => {
      if (++asked === 3) return Promise.resolve({ allowed: true, remaining: 0, retryAfter: 0 })
      if (asked === 2) setTimeout(set, 10, true)
      return Promise.reject(new NotInitializedError('a'))
    }
    const client = { rateLimiter: () => ({ tryAcquire, trySetRate: () => setting }) } as unknown as Client
    const { refusal } = await judge({ client, permits: 1, interval: 1000 }, () => '::1')({})
    assert.equal(refusal, undefined)
    assert.equal(asked, 3)
  })

  void test('Express: answered meanwhile by somebody else → told to the application, never thrown', async () => {
    await using client = await connect('memory:')
    const response = {
      set: () => {
        throw new Error('headers are sent')
      },
      status: () => ({ send: () => undefined }),
    }
    const told = await new Promise((next) => {
      forExpress({ client, permits: 1, interval: 1000 })({ ip: '192.0.2.1' }, response, next)
    })
    assert.match(String(told), /headers are sent/)
  })

  void test('braces in a key → counted as any other, and no part of the name says where it belongs', async () => {
    await using client = await connect('memory:')
    const names: string[] = []
    const limiter = client.rateLimiter.bind(client)
    client.rateLimiter = (name) => {
      names.push(name)
      return limiter(name)
    }
    const app = new Hono()
    app.use(forHono({ client, permits: 1, interval: 60_000, key: (c: Context) => String(c.req.header(WHO)) }))
    app.get('/', (c) => c.text('in'))
    const codes: number[] = []
    for (const who of ['a}b{c', 'a}b{c', 'a%7Db%7Bc'])
      codes.push((await app.request('/', { headers: { [WHO]: who } })).status)
    assert.deepEqual(codes, [200, 429, 200])
    assert.ok(
      names.every((name) => !/[{}]/.test(name)),
      names.join(' '),
    )
  })

  void test('another rate → another limiter; nobody asks → no key is left', async () => {
    const { virtualClock } = await import('holdfast/testing')
    const clock = virtualClock(1)
    const client = await connect({ url: 'memory:', clock, presence: false })
    const request = { ip: '192.0.2.1' }
    const codes: number[] = []
    const reply = {
      headers: () => undefined,
      code: (status: number) => {
        codes.push(status)
        return { send: () => undefined }
      },
    }
    for (const permits of [1, 2]) {
      const hook = forFastify({ client, permits, interval: 5000 })
      for (let n = 0; n < 3; n += 1) await hook(request, reply)
    }
    assert.deepEqual(codes, [429, 429, 429])
    assert.equal((await client.rateLimiter('default:2/5000:192.0.2.1').rate())?.permits, 2)
    await clock.advance(61_000)
    assert.equal(await client.rateLimiter('default:2/5000:192.0.2.1').rate(), undefined)
    await client.close()
  })

  void test('addresses → IPv4 each for itself, IPv6 by its network', () => {
    for (const [address, network] of [
      ['192.0.2.1', '192.0.2.1'],
      ['::ffff:192.0.2.1', '192.0.2.1'],
      ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
      ['2001:0DB8:1:2::9', '2001:db8:1:2::/64'],
      ['2001:db8::1', '2001:db8:0:0::/64'],
      ['2001:db8::3:4:5:6:7', '2001:db8:0:3::/64'],
      ['fe80::1%eth0', 'fe80:0:0:0::/64'],
      ['::1', '0:0:0:0::/64'],
      ['1:2:3::', '1:2:3:0::/64'],
      ['', ''],
    ]) {
      assert.equal(networkOf(address!), network, address)
    }
  })
})
