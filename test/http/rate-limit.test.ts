import assert from 'node:assert/strict'
import { type AddressInfo } from 'node:net'
import { createServer, type RequestListener } from 'node:http'
import { createRequire } from 'node:module'
import { after, describe, test } from 'node:test'
import fastify, { type FastifyRequest } from 'fastify'
import { type Context, Hono } from 'hono'
import { Redis } from 'ioredis'
import { ClosedError, connect, EngineError } from 'holdfast'
import { rateLimit as forExpress } from 'holdfast/express'
import { rateLimit as forFastify } from 'holdfast/fastify'
import { rateLimit as forHono } from 'holdfast/hono'
import { networkOf } from '#src/http/client-address.js'
import { beside, judge } from '#src/http/rate-limit.js'
import { type Client, ownRedis } from '../support/engines.js'
import { times } from '../suites/contract/lock/kind.js'
import { until } from '../support/until.js'

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
  readonly ip?: string | undefined
  readonly headers: Record<string, string | string[] | undefined>
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

/** What gives the key: none, WHO, or a function of the test's. */
type By = 'address' | 'who' | (() => string | Promise<string>)

interface Framework {
  readonly name: string
  /** A server with `GET /` and its limit; the address to ask, and how to end it. */
  serve(settings: Settings, by: By): Promise<{ url: string; end(): Promise<void> }>
  /** One limit for all routes, another one for `GET /`. */
  serveTwo(outer: Settings, inner: Settings): Promise<{ url: string; end(): Promise<void> }>
}

const frameworks: Framework[] = [
  {
    name: 'Fastify',
    async serve(settings, by) {
      const app = fastify()
      const key = by === 'who' ? (request: FastifyRequest) => String(request.headers[WHO]) : by
      app.addHook('onRequest', key === 'address' ? forFastify(settings) : forFastify({ ...settings, key }))
      app.get('/', () => 'in')
      return { url: await app.listen({ port: 0, host: '127.0.0.1' }), end: () => app.close() }
    },
    async serveTwo(outer, inner) {
      const app = fastify()
      app.addHook('onRequest', forFastify(outer))
      app.get('/', { onRequest: forFastify(inner) }, () => 'in')
      return { url: await app.listen({ port: 0, host: '127.0.0.1' }), end: () => app.close() }
    },
  },
  {
    name: 'Fastify, one route',
    async serve(settings, by) {
      const app = fastify()
      const key = by === 'who' ? (request: FastifyRequest) => String(request.headers[WHO]) : by
      const onRequest = key === 'address' ? forFastify(settings) : forFastify({ ...settings, key })
      app.get('/', { onRequest }, () => 'in')
      return { url: await app.listen({ port: 0, host: '127.0.0.1' }), end: () => app.close() }
    },
    async serveTwo(outer, inner) {
      const app = fastify()
      app.get('/', { onRequest: [forFastify(outer), forFastify(inner)] }, () => 'in')
      return { url: await app.listen({ port: 0, host: '127.0.0.1' }), end: () => app.close() }
    },
  },
  {
    name: 'Express',
    async serve(settings, by) {
      const app = express()
      const key = by === 'who' ? (request: ExpressRequest) => String(request.headers[WHO]) : by
      app.use(key === 'address' ? forExpress(settings) : forExpress({ ...settings, key }))
      app.get('/', (_request, response) => {
        response.send('in')
      })
      app.use((_error: unknown, _request: unknown, response: ExpressResponse, _next: unknown) => {
        response.status(500).send('broken')
      })
      return listening(app)
    },
    async serveTwo(outer, inner) {
      const app = express()
      app.use(forExpress(outer))
      app.use(forExpress(inner))
      app.get('/', (_request, response) => {
        response.send('in')
      })
      return listening(app)
    },
  },
  {
    name: 'Hono',
    async serve(settings, by) {
      const app = new Hono()
      const key = by === 'who' ? (c: Context) => String(c.req.header(WHO)) : by
      app.use(forHono({ ...settings, key: key === 'address' ? () => 'the only one' : key }))
      app.get('/', (c) => c.text('in'))
      return listening(served(app))
    },
    async serveTwo(outer, inner) {
      const app = new Hono()
      app.use(forHono({ ...outer, key: () => 'the only one' }))
      app.get('/', forHono({ ...inner, key: () => 'the only one' }), (c) => c.text('in'))
      return listening(served(app))
    },
  },
]

/** Hono's own way to listen is a package of its own. */
const served =
  (app: Hono): RequestListener =>
  (request, response) => {
    const headers = new Headers(request.headers as Record<string, string>)
    const answered = async (): Promise<void> => {
      const answer = await app.fetch(new Request(`http://localhost${request.url}`, { headers }))
      response.writeHead(answer.status, Object.fromEntries(answer.headers))
      response.end(await answer.text())
    }
    answered().catch(() => response.destroy())
  }

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

const rejecting = (reason: unknown): Promise<never> => Promise.reject(reason)

const failing = (error: unknown): Pick<Client, 'rateLimiter'> =>
  ({ rateLimiter: () => ({ tryAcquire: () => rejecting(error) }) }) as unknown as Client

/** Express goes on for those that are false, and leaves the route for the last two. */
const NO_ERRORS: readonly unknown[] = [undefined, null, 0, '', false, 'no', { status: 200 }, 'route', 'router']

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
      by: By,
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
          assert.equal(answer.headers.get('retry-after'), status === 503 ? '1' : null)
        })
      }
    })

    void test('two limits on a route → the fields tell of both; whichever refuses says when to come again', async () => {
      const client = await memory()
      const outer = { client, permits: 3, interval: 60_000, name: 'all' }
      const inner = { client, permits: 1, interval: 20_000, name: 'one' }
      const { url, end } = await framework.serveTwo(outer, inner)
      try {
        const [first, second, , fourth] = [await fetch(url), await fetch(url), await fetch(url), await fetch(url)]
        assert.equal(first.status, 200)
        assert.equal(await first.text(), 'in')
        assert.equal(first.headers.get('ratelimit-policy'), '"all";q=3;w=60, "one";q=1;w=20')
        assert.equal(first.headers.get('ratelimit'), '"all";r=2, "one";r=0')
        assert.equal(second.status, 429)
        const wait = Number(second.headers.get('retry-after'))
        assert.ok(wait > 10 && wait <= 20, String(wait))
        assert.equal(second.headers.get('ratelimit-policy'), '"all";q=3;w=60, "one";q=1;w=20')
        assert.equal(second.headers.get('ratelimit'), `"all";r=1, "one";r=0;t=${wait}`)
        assert.equal(await second.text(), 'Too Many Requests')
        assert.equal(fourth.status, 429)
        assert.equal(fourth.headers.get('ratelimit-policy'), '"all";q=3;w=60')
        assert.ok(Number(fourth.headers.get('retry-after')) > 20)
      } finally {
        await end()
      }
    })

    void test('what is no trouble of the server’s → the framework’s own way with errors', async () => {
      const settings = { client: failing(new ClosedError('a')), permits: 1, interval: 1000 }
      await asking(settings, 'address', async (ask) => assert.equal((await ask()).status, 500))
    })

    void test('key or the client throws what is not an Error → 500, never let through', async () => {
      const client = await memory()
      for (const whenAway of ['open', 'closed'] as const) {
        for (const thrown of NO_ERRORS) {
          const settings: Settings = { client, permits: 1, interval: 1000, whenAway }
          const own = { ...settings, client: failing(thrown) }
          const throws = (): never => {
            throw thrown
          }
          for (const [of, by] of [
            [settings, throws],
            [settings, () => rejecting(thrown)],
            [own, 'address'],
          ] as const)
            await asking(of, by, async (ask) =>
              assert.equal((await ask()).status, 500, `${String(thrown)}, ${whenAway}`),
            )
        }
      }
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

  const limits: Readonly<Record<string, (options: never) => unknown>> = {
    ...{ express: forExpress, fastify: forFastify, hono: forHono },
  }
  for (const [framework, rateLimit] of Object.entries(limits))
    void test(`holdfast/${framework}: an option that there is not → said at once, with the one that was meant`, async () => {
      await using client = await connect('memory:')
      const good = { client, permits: 1, interval: 1000, key: () => 'ada' }
      for (const [bad, message] of [
        [{ whenaway: 'closed' }, /^TypeError: there is no option 'whenaway' \(did you mean 'whenAway'\?\)/],
        [{ timeOut: 100 }, /^TypeError: .*did you mean 'timeout'/],
        [
          { nonsense: undefined },
          /^TypeError: there is no option 'nonsense'; the options are client, permits, interval, name/,
        ],
      ] as const)
        assert.throws(() => rateLimit({ ...good, ...bad } as never), message)
      assert.throws(() => rateLimit(undefined as never), /^TypeError: client\.rateLimiter must be a function/)
      assert.throws(() => rateLimit(null as never), /^TypeError: options must be an object/)
    })

  void test('another program has stored a rate that lets nobody through → as whenAway says, and no error of the request', async (t) => {
    const server = await ownRedis(t)
    if (server === undefined) return
    const client = await connect({ url: server.url, presence: false })
    const redis = new Redis(server.port)
    t.after(async () => {
      redis.disconnect()
      await Promise.all([client.close(), server.stop()])
    })
    for (const [whenAway, status] of [
      ['open', undefined],
      ['closed', 503],
    ] as const) {
      const told: unknown[] = []
      const settings = { client, name: whenAway, permits: 5, interval: 60_000, whenAway }
      const judged = judge(
        { ...settings, key: (who) => who, onError: (error) => told.push(error) },
        (who: string) => who,
      )
      assert.equal((await judged('k')).refusal?.status, undefined)
      for (const rate of [0, -1]) {
        await redis.hset(`${whenAway}:5/60000:k`, 'rate', rate)
        assert.equal((await judged('k')).refusal?.status, status, `${whenAway}, ${rate}`)
      }
      assert.deepEqual(
        told.map((error) => (error as EngineError).code),
        ['WRONG_KIND'],
      )
    }
  })

  void test('the server stands still, or is gone → each request is answered in time; it is back → limited as before', async (t) => {
    const server = await ownRedis(t)
    if (server === undefined) return
    const client = await connect({ url: server.url, presence: false })
    t.after(() => Promise.all([client.close(), server.stop()]))
    client.on('error', () => undefined)
    const judged = judge(
      { client, permits: 1, interval: 600_000, whenAway: 'closed', timeout: 500 },
      (who: string) => who,
    )
    const ask = async (who: string): Promise<number | undefined> => {
      const begun = performance.now()
      const { refusal } = await judged(who)
      // The client's own limit for a command is three seconds, and setting a rate is tried for a minute.
      assert.ok(performance.now() - begun < 2500, `${who}: ${performance.now() - begun} ms`)
      return refusal?.status
    }
    const served = (who: string) => until(async () => (await ask(who)) !== 503)
    assert.deepEqual([await ask('ada'), await ask('ada')], [undefined, 429])
    process.kill(server.pid, 'SIGSTOP')
    assert.deepEqual(
      await Promise.all(times(20, (n) => ask(n % 2 ? 'ada' : `new ${n}`))),
      times(20, () => 503),
    )
    process.kill(server.pid, 'SIGCONT')
    await served('bob')
    assert.deepEqual([await ask('ada'), await ask('bob')], [429, 429])
    await server.stop()
    assert.deepEqual(
      await Promise.all(times(20, (n) => ask(n % 2 ? 'ada' : `other ${n}`))),
      times(20, () => 503),
    )
  })

  void test('key gives no text, throws or never settles → an error that says so, and nobody is asked', async () => {
    let asked = 0
    const client = { rateLimiter: () => ({ tryAcquire: () => Promise.resolve(asked++) }) } as unknown as Client
    const judged = judge<() => unknown>(
      { client, permits: 1, interval: 1000, name: 'api', timeout: 50, key: (of) => of() as string },
      () => undefined,
    )
    const text = /^TypeError: rate limit 'api': key\(\) must return a non-empty text for each request, not /
    for (const nothing of [undefined, null, '', 7, {}, ['a']]) {
      await assert.rejects(
        judged(() => nothing),
        text,
      )
      await assert.rejects(
        judged(() => Promise.resolve(nothing)),
        text,
      )
    }
    const own = new Error('of my own')
    await assert.rejects(
      judged(() => {
        throw own
      }),
      own,
    )
    await assert.rejects(
      judged(() => Promise.reject(own)),
      own,
    )
    await assert.rejects(
      judged(() => new Promise(() => undefined)),
      /^Error: rate limit 'api': the promise of key\(\) did not settle within 50 ms$/,
    )
    assert.equal(asked, 0)
  })

  void test('what is thrown is not an Error → an Error that says who threw what, with that as its cause', async () => {
    const options = { permits: 1, interval: 1000, name: 'api' }
    const judged = judge({ ...options, client: failing('no') }, () => undefined)
    const keyless = (reason: unknown) =>
      judge({ ...options, client: failing('no'), key: () => rejecting(reason) }, () => undefined)(undefined)
    for (const reason of NO_ERRORS) {
      const error: unknown = await keyless(reason).catch((thrown: unknown) => thrown)
      assert.ok(error instanceof Error && Object.hasOwn(error, 'cause'))
      assert.equal(error.cause, reason)
    }
    await assert.rejects(
      keyless(undefined),
      /^Error: rate limit 'api': key\(\) threw undefined, which is not an Error$/,
    )
    await assert.rejects(judged(undefined), /^Error: rate limit 'api': client threw "no", which is not an Error$/)
  })

  void test('Express: the response throws what is not an Error → told to the application as one', async () => {
    await using client = await connect('memory:')
    for (const thrown of NO_ERRORS) {
      const response = {
        statusCode: 200,
        getHeader: () => undefined,
        setHeader: () => {
          throw thrown
        },
        end: () => undefined,
      }
      const told = await new Promise((next) => {
        forExpress({ client, permits: 1, interval: 1000 })({ ip: '192.0.2.1', headers: {} }, response, next)
      })
      assert.ok(told instanceof Error)
      assert.equal(told.cause, thrown)
    }
  })

  void test('two refusals of one request → the later time', () => {
    const there = new Map([['Retry-After', '40']])
    const get = (name: string): unknown => there.get(name)
    assert.deepEqual(beside({ 'Retry-After': '9' }, get), { 'Retry-After': '40' })
    assert.deepEqual(beside({ 'Retry-After': '50' }, get), { 'Retry-After': '50' })
  })

  void test('Express: answered meanwhile by somebody else → told to the application, never thrown', async () => {
    await using client = await connect('memory:')
    const response = {
      statusCode: 200,
      getHeader: () => undefined,
      setHeader: () => {
        throw new Error('headers are sent')
      },
      end: () => undefined,
    }
    const told = await new Promise((next) => {
      forExpress({ client, permits: 1, interval: 1000 })({ ip: '192.0.2.1', headers: {} }, response, next)
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
    await using client = await connect({ url: 'memory:', clock, presence: false })
    const request = { ip: '192.0.2.1', headers: {} }
    const codes: number[] = []
    const reply = {
      getHeader: () => undefined,
      header: () => undefined,
      code: (status: number) => codes.push(status),
      send: () => undefined,
    }
    for (const permits of [1, 2]) {
      const hook = forFastify({ client, permits, interval: 5000 })
      for (let n = 0; n < 3; n += 1) await hook(request, reply)
    }
    assert.deepEqual(codes, [429, 429, 429])
    assert.equal((await client.rateLimiter('default:2/5000:192.0.2.1').rate())?.permits, 2)
    await clock.advance(61_000)
    assert.equal(await client.rateLimiter('default:2/5000:192.0.2.1').rate(), undefined)
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
    ]) {
      assert.equal(networkOf(address), network, address)
    }
  })
})
