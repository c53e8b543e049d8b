import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { createRequire } from 'node:module'
import { type AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import limitFastify from '@fastify/rate-limit'
import fastify from 'fastify'
import { type Context, Hono, type MiddlewareHandler } from 'hono'
import { Redis } from 'ioredis'
import { type Client, connect, EngineError } from 'holdfast'
import {
  expressRateLimitStore,
  fastifyRateLimitStore,
  honoRateLimiterStore,
  type StoreOptions,
  throttlerStorage,
} from 'holdfast/stores'
import { type RedisServer, startRedis } from '../../support/redis-server.js'

type ExpressApp = RequestListener & {
  set(name: string, value: unknown): void
  use(handler: unknown): void
  get(path: string, ...handlers: unknown[]): void
}
const load = createRequire(import.meta.url)
const express = load('express') as () => ExpressApp
/** Their types need those of Express and of browsers; `scripts/check-package.mjs` compiles with them. */
const { rateLimit: limitExpress } = load('express-rate-limit') as { rateLimit(options: object): unknown }
const { rateLimiter: limitHono } = load('hono-rate-limiter') as { rateLimiter(options: object): MiddlewareHandler }

interface Served {
  readonly url: string
  end(): Promise<void>
}

interface Limit extends StoreOptions {
  readonly limit: number
  readonly window: number
  /** What the framework does about errors of its store. */
  readonly passOn?: boolean
}

const WHO = 'x-who'

const listening = async (listener: RequestListener): Promise<Served> => {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const end = () =>
    new Promise<void>((resolve) => {
      server.close(() => {
        resolve()
      })
      server.closeAllConnections()
    })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, end }
}

const quiet = { error: () => undefined, warn: () => undefined }

/** A server with `GET /`, limited by the framework's own middleware with our store. */
const frameworks: Record<string, (limit: Limit) => Promise<Served>> = {
  'express-rate-limit': async ({ limit, window, passOn, ...store }) => {
    const app = express()
    app.use(
      limitExpress({
        limit,
        windowMs: window,
        standardHeaders: 'draft-7',
        legacyHeaders: false,
        keyGenerator: (request: IncomingMessage) => String(request.headers[WHO] ?? 'nobody'),
        passOnStoreError: passOn ?? false,
        logger: quiet,
        store: expressRateLimitStore(store),
      }),
    )
    app.get('/', (_request: unknown, response: { end(text: string): void }) => {
      response.end('in')
    })
    app.use((_error: unknown, _request: unknown, response: { statusCode: number; end(): void }, _next: unknown) => {
      response.statusCode = 500
      response.end()
    })
    return listening(app)
  },
  'hono-rate-limiter': async ({ limit, window, passOn: _, ...store }) => {
    const app = new Hono()
    app.use(
      limitHono({
        limit,
        windowMs: window,
        keyGenerator: (context: Context) => context.req.header(WHO) ?? 'nobody',
        store: honoRateLimiterStore(store),
      }),
    )
    app.get('/', (context) => context.text('in'))
    app.onError((_error, context) => context.text('broken', 500))
    return listening((request, response) => {
      const headers = Object.entries(request.headers).map(([name, value]): [string, string] => [name, String(value)])
      void (async () => {
        const answer = await app.fetch(new Request('http://hono/', { headers }))
        response.writeHead(answer.status, Object.fromEntries(answer.headers))
        response.end(await answer.text())
      })()
    })
  },
  '@fastify/rate-limit': async ({ limit, window, passOn, ...store }) => {
    const app = fastify()
    await app.register(limitFastify, {
      max: limit,
      timeWindow: window,
      keyGenerator: (request) => String(request.headers[WHO] ?? 'nobody'),
      skipOnError: passOn ?? false,
      store: fastifyRateLimitStore(store),
    })
    app.get('/', () => 'in')
    return { url: await app.listen({ port: 0, host: '127.0.0.1' }), end: () => app.close() }
  },
}

const statusOf = async (url: string, who = 'me'): Promise<number> => {
  const answer = await fetch(url, { headers: { [WHO]: who } })
  await answer.arrayBuffer()
  return answer.status
}

const countOf = (all: readonly number[], one: number): number => all.filter((status) => status === one).length

/** Until `end`, after which nothing of it is left. */
const using = async (served: Promise<Served>, body: (url: string) => Promise<void>): Promise<void> => {
  const { url, end } = await served
  try {
    await body(url)
  } finally {
    await end()
  }
}

let server: RedisServer
let raw: Redis
let client: Client
let other: Client

before(async () => {
  server = await startRedis()
  raw = new Redis(server.url)
  ;[client, other] = await Promise.all([connect(server.url), connect(server.url)])
})
after(async () => {
  await Promise.all([client.close(), other.close()])
  raw.disconnect()
  await server.stop()
})

for (const [name, serve] of Object.entries(frameworks)) {
  void describe(`a store of ${name}`, () => {
    void test('80 requests at once to two processes → as many as the limit get in', async () => {
      const limit = { limit: 30, window: 60_000, name: `load-${name.replace(/\W/g, '')}` }
      await using(serve({ ...limit, client }), (one) =>
        using(serve({ ...limit, client: other }), async (two) => {
          const all = await Promise.all(Array.from({ length: 80 }, (_, i) => statusOf(i % 2 === 0 ? one : two)))
          assert.equal(countOf(all, 200), 30)
          assert.equal(countOf(all, 429), 50)
          assert.equal(await statusOf(one, 'another'), 200)
        }),
      )
    })

    void test('the window slides by the server’s clock: refused, then let in', async () => {
      await using(serve({ limit: 1, window: 700, client, name: `slide-${name.replace(/\W/g, '')}` }), async (url) => {
        assert.equal(await statusOf(url), 200)
        const refused = await fetch(url, { headers: { [WHO]: 'me' } })
        assert.equal(refused.status, 429)
        assert.equal(refused.headers.get('retry-after'), '1')
        const began = performance.now()
        while ((await statusOf(url)) !== 200) assert.ok(performance.now() - began < 10_000)
      })
    })

    void test('hostile keys: each is one limiter, with a short name without braces', async () => {
      const policy = `hostile-${name.replace(/\W/g, '')}`
      await using(serve({ limit: 1, window: 60_000, client, name: policy }), async (url) => {
        for (const key of ['a:value', '{b}:permits', '%7B', 'k'.repeat(9000), `${'k'.repeat(8999)}l`]) {
          assert.equal(await statusOf(url, key), 200, key.slice(0, 20))
          assert.equal(await statusOf(url, key), 429, key.slice(0, 20))
        }
      })
      const keys = await raw.keys(`*${policy}*`)
      assert.ok(keys.length >= 5)
      for (const key of keys) assert.ok(key.length < 300 && key.split('{').length <= 2, key)
      for (const key of keys) assert.ok((await raw.pttl(key)) > 0, key)
    })

    void test('an away server: the framework decides, or `open` lets everybody in; and it counts again afterwards', async () => {
      const own = await startRedis()
      const lost = await connect({ url: own.url })
      try {
        const limit = { limit: 1, window: 60_000, client: lost, timeout: 300 }
        await using(serve(limit), (closed) =>
          using(serve({ ...limit, whenAway: 'open', name: 'open' }), async (open) => {
            assert.equal(await statusOf(open), 200)
            process.kill(own.pid, 'SIGSTOP')
            assert.deepEqual(await Promise.all([statusOf(closed), statusOf(closed)]), [500, 500])
            assert.deepEqual(await Promise.all([statusOf(open), statusOf(open)]), [200, 200])
            process.kill(own.pid, 'SIGCONT')
            const began = performance.now()
            while ((await statusOf(open)) !== 429) assert.ok(performance.now() - began < 10_000)
          }),
        )
      } finally {
        await lost.close()
        await own.stop()
      }
    })
  })
}

void test('@nestjs/throttler: 80 at once → as many as the limit; then blocked until a permit is free', async () => {
  const [one, two] = [client, other].map((its) => throttlerStorage({ client: its, name: 'throttler' }))
  assert.ok(one && two)
  const all = await Promise.all(
    Array.from({ length: 80 }, (_, i) => (i % 2 === 0 ? one : two).increment('key', 60_000, 30, 60_000, 'default')),
  )
  const allowed = all.filter(({ isBlocked }) => !isBlocked)
  assert.deepEqual(
    allowed.map(({ totalHits }) => totalHits).sort((a, b) => a - b),
    Array.from({ length: 30 }, (_, i) => i + 1),
  )
  for (const { isBlocked, totalHits, timeToBlockExpire } of all.filter(({ totalHits }) => totalHits > 30)) {
    assert.deepEqual([isBlocked, totalHits], [true, 31])
    assert.ok(timeToBlockExpire > 50 && timeToBlockExpire <= 60)
  }
  await assert.rejects(one.increment('key', 60_000, 30, 5000, 'default'), RangeError)
  // A limit of the application that is no number is its error, and does not switch the limit off.
  const open = throttlerStorage({ client, name: 'throttler', whenAway: 'open' })
  for (const [ttl, limit] of [
    [60_000, NaN],
    [60_000, 7.5],
    [0.5, 30],
  ] as const)
    await assert.rejects(open.increment('key', ttl, limit, 0, 'default'), RangeError)
})

/** What the tests of rate-limit-redis ask of a store, asked of ours on a real server. */
void describe('a store, by the rules of express-rate-limit', () => {
  const storeOf = (name: string, windowMs = 60_000, limit: unknown = 10, permits?: number) => {
    const store = expressRateLimitStore({ client, name: `rules-${name}`, permits })
    store.init({ windowMs, limit })
    return store
  }

  void test('counts from 1 and says when the window is over', async () => {
    const store = storeOf('count')
    const before = Date.now()
    const { totalHits, resetTime } = await store.increment('a')
    assert.equal(totalHits, 1)
    assert.ok(resetTime.getTime() >= before + 60_000 && resetTime.getTime() <= Date.now() + 60_000)
    assert.equal((await store.increment('a')).totalHits, 2)
    assert.equal((await store.increment('b')).totalHits, 1)
  })

  void test('decrement takes one back, never below none', async () => {
    const store = storeOf('decrement')
    await store.increment('a')
    await store.increment('a')
    await store.decrement('a')
    assert.equal((await store.increment('a')).totalHits, 2)
    for (let i = 0; i < 5; i++) await store.decrement('b')
    assert.equal((await store.increment('b')).totalHits, 1)
  })

  void test('get looks without counting; resetKey forgets', async () => {
    const store = storeOf('get')
    assert.equal(await store.get('a'), undefined)
    await store.increment('a')
    await store.increment('a')
    assert.equal((await store.get('a'))?.totalHits, 2)
    assert.equal((await store.get('a'))?.totalHits, 2)
    await store.resetKey('a')
    assert.equal(await store.get('a'), undefined)
    assert.equal((await store.increment('a')).totalHits, 1)
  })

  void test('a limit of 0 lets nobody in, and asks no server', async () => {
    const store = storeOf('none', 60_000, 0)
    assert.equal((await store.increment('a')).totalHits, 1)
    assert.deepEqual(await raw.keys('*rules-none*'), [])
  })

  void test('a limit that is a function needs permits', async () => {
    assert.throws(() => storeOf('function', 60_000, () => 5), /needs permits/)
    const store = storeOf('function', 60_000, () => 5, 20)
    for (let i = 1; i <= 7; i++) assert.equal((await store.increment('a')).totalHits, i)
  })

  void test('a store whose init failed counts nothing, and says so', async () => {
    await assert.rejects(expressRateLimitStore({ client }).increment('a'), /its init did not succeed/)
  })

  void test('a refused request that the framework takes back frees no permit', async () => {
    const app = express()
    app.use(
      limitExpress({
        limit: 2,
        windowMs: 60_000,
        skipFailedRequests: true,
        keyGenerator: () => 'all',
        logger: quiet,
        store: expressRateLimitStore({ client, name: 'failed' }),
      }),
    )
    app.get('/', (request: IncomingMessage, response: { statusCode: number; end(): void }) => {
      response.statusCode = request.headers[WHO] === 'fails' ? 500 : 200
      response.end()
    })
    await using(listening(app), async (url) => {
      // Failed ones are taken back, after the answer: at most one is on its way when the next comes.
      for (let i = 0; i < 6; i++) assert.equal(await statusOf(url, 'fails'), 500)
      for (let i = 0; i < 2; i++) assert.equal(await statusOf(url), 200)
      for (let i = 0; i < 10; i++) assert.equal(await statusOf(url), 429)
    })
  })
})

void test('@fastify/rate-limit: routes count for themselves, a limit may be a function, and what needs refusals is refused', async () => {
  const app = fastify()
  await app.register(limitFastify, {
    max: 1,
    timeWindow: 60_000,
    keyGenerator: () => 'all',
    store: fastifyRateLimitStore({ client, name: 'routes' }),
  })
  app.get('/', () => 'in')
  app.get('/:id', { config: { rateLimit: { max: () => 2 } } }, () => 'in')
  app.get('/x/{y}', { config: { rateLimit: { max: 1 } } }, () => 'in')
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  try {
    const tried = async (path: string): Promise<number[]> => {
      const all: number[] = []
      for (let i = 0; i < 3; i++) all.push(await statusOf(`${url}${path}`))
      return all
    }
    assert.deepEqual(await tried('/'), [200, 429, 429])
    assert.deepEqual(await tried('/1'), [200, 200, 429])
    assert.deepEqual(await tried('/x/%7By%7D'), [200, 429, 429])
  } finally {
    await app.close()
  }
  for (const wrong of [{ continueExceeding: true }, { exponentialBackoff: true }, { ban: 2 }])
    assert.throws(() => new (fastifyRateLimitStore({ client }))(wrong), /does not count refused requests/)
})

void test('@fastify/rate-limit: a guard that looks before a login, and counts only failures, blocks', async () => {
  const app = fastify()
  await app.register(limitFastify, { global: false, store: fastifyRateLimitStore({ client, name: 'login' }) })
  const look = app.createRateLimit({ max: 3, timeWindow: 60_000, keyGenerator: () => 'me' })
  app.post('/login', async (request, reply) => {
    const status = await look(request, { increment: false })
    if (!status.isAllowed && status.isExceeded) return reply.code(429).send()
    if (request.headers[WHO] === 'knows') return 'in'
    await look(request)
    return reply.code(401).send()
  })
  const tried = async (who: string): Promise<number> =>
    (await app.inject({ method: 'POST', url: '/login', headers: { [WHO]: who } })).statusCode
  try {
    assert.deepEqual([await tried('knows'), await tried('knows')], [200, 200])
    assert.deepEqual([await tried('guesses'), await tried('guesses')], [401, 401])
    assert.equal(await tried('knows'), 200)
    assert.equal(await tried('guesses'), 401)
    assert.deepEqual([await tried('guesses'), await tried('knows')], [429, 429])
  } finally {
    await app.close()
  }
})

void test('resetKey rejects if nothing was deleted, with the cause', async () => {
  const cause = new EngineError('NOPERM', 'not allowed')
  const limiter = { delete: () => Promise.reject(cause), tryAcquire: () => Promise.reject(cause) }
  const refusing = { rateLimiter: () => limiter } as unknown as Client
  const store = expressRateLimitStore({ client: refusing, whenAway: 'open' })
  store.init({ windowMs: 1000, limit: 5 })
  assert.equal((await store.increment('a')).totalHits, 1)
  await assert.rejects(store.resetKey('a'), (error: Error) => error.cause === cause)
})

void test('decrement takes back the request of its key, also after a refused one of another key', async () => {
  const store = expressRateLimitStore({ client, name: 'keys' })
  store.init({ windowMs: 60_000, limit: 1 })
  await store.increment('a')
  await store.increment('b')
  assert.equal((await store.increment('b')).totalHits, 2)
  await store.decrement('a')
  assert.equal(await store.get('a'), undefined)
})

void test('misspelt and wrong options are refused', () => {
  const make = (options: object) => () => throttlerStorage(options as StoreOptions)
  assert.throws(make({ client, whenaway: 'open' }), /whenAway/)
  assert.throws(make({ client, whenAway: 'closed' }), /'open' or 'reject'/)
  assert.throws(make({}), /client.rateLimiter/)
  assert.throws(make({ client, name: 'a b' }), /letters, digits/)
  assert.throws(make({ client, timeout: 0 }), /timeout/)
})
