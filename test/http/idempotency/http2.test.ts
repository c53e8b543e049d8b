import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import {
  type ClientHttp2Session,
  connect as connectHttp2,
  createServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type IncomingHttpHeaders,
} from 'node:http2'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import fastify from 'fastify'
import { Redis } from 'ioredis'
import { connect } from 'holdfast'
import { expressIdempotency, fastifyIdempotency } from 'holdfast/idempotency'
import { hashOf } from '#src/http/idempotency/key-field.js'
import { answers, type Kept } from '#src/http/idempotency/stored-answer-format.js'
import { times } from '../../suites/contract/lock/kind.js'
import { type Client, redisEngine, started } from '../../support/engines.js'
import { type RedisServer, startRedis } from '../../support/redis-server.js'

interface Answered {
  readonly headers: IncomingHttpHeaders & { ':status'?: number | undefined }
  readonly body: Buffer
}

type Ask = (key: string, body?: string) => Promise<Answered>

const asking =
  (session: ClientHttp2Session): Ask =>
  (key, body = 'ten euros') =>
    new Promise((resolve, reject) => {
      const fields = { 'content-type': 'text/plain', 'idempotency-key': key }
      const stream = session.request({ ':method': 'POST', ':path': '/pay', ...fields })
      const parts: Buffer[] = []
      let headers: Answered['headers'] = {}
      stream.on('response', (had) => (headers = had))
      stream.on('data', (part: Buffer) => parts.push(part))
      stream.on('end', () => resolve({ headers, body: Buffer.concat(parts) }))
      stream.on('error', reject)
      stream.end(body)
    })

/** How a handler answers, written for Node's own server. */
const LARGE = randomBytes(10_000_000)
const ANSWERS: readonly (readonly [name: string, status: number, answer: (response: Http2ServerResponse) => void])[] = [
  ['fields set one by one', 201, (to) => ((to.statusCode = 201), to.setHeader('x-own', 'a'), void to.end('created'))],
  ['fields given with the status', 402, (to) => void to.writeHead(402, { 'x-own': 'b' }).end('no money')],
  ['two cookies', 200, (to) => (to.setHeader('set-cookie', ['a=1', 'b=2']), void to.end('ok'))],
  ['no body', 204, (to) => void to.writeHead(204).end()],
  ['a head that is sent by the first part', 200, (to) => (to.write('one '), to.write('two '), void to.end('three'))],
  ['bytes', 200, (to) => void to.end(randomBytes(5000))],
  ['10 MB', 200, (to) => void to.end(LARGE)],
]

const fieldsOf = ({ headers }: Answered): unknown =>
  Object.fromEntries(
    Object.entries(headers).filter(([name]) => !['date', 'idempotent-replayed', 'content-length'].includes(name)),
  )

void describe('idempotency over HTTP/2', () => {
  let server: RedisServer
  let client: Client
  let skip: string | undefined
  before(async () => {
    skip = await started({ ...redisEngine, start: async () => void (server = await startRedis()) })
    if (skip === undefined) client = await connect(server.url)
  })
  after(async () => {
    await client?.close()
    await server?.stop()
  })

  const options = (name: string) => ({
    ...{ client, name, scope: () => 'all', maxBytes: 11_000_000, timeout: 20_000 },
  })

  /** Node's own server, with the middleware that takes its requests and responses. */
  const byNode = async (
    name: string,
    handler: (request: Http2ServerRequest, response: Http2ServerResponse) => unknown,
    body: (ask: Ask) => Promise<void>,
  ): Promise<void> => {
    const middleware = expressIdempotency(options(name))
    const node = createServer((request, response) => {
      const parts: Buffer[] = []
      request.on('data', (part: Buffer) => parts.push(part))
      request.on('end', () => {
        const parsed = { originalUrl: request.url, body: Buffer.concat(parts).toString() }
        middleware(Object.assign(request, parsed), response, (error) => {
          if (error === undefined) handler(request, response)
          else response.writeHead(500).end()
        })
      })
    })
    await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve))
    const session = connectHttp2(`http://127.0.0.1:${(node.address() as AddressInfo).port}`)
    try {
      await body(asking(session))
    } finally {
      await new Promise<void>((resolve) => session.close(resolve))
      await new Promise((resolve) => node.close(resolve))
    }
  }

  const keptFor = async (name: string, key: string): Promise<Kept> => {
    const hash = hashOf('all', key)
    const redis = new Redis(server.url)
    const [value = '', form] = await redis.hmget(`{${name}:${hash.slice(0, 1)}}:flight:${hash}`, 'value', 'form')
    redis.disconnect()
    return answers.decode(Buffer.from(value ?? '', form === 'base64' ? 'base64' : 'utf8')) as Kept
  }

  for (const [what, status, answer] of ANSWERS)
    void test(`${what} → the replay has its status, fields and bytes; no pseudo-header is kept`, async (t) => {
      if (skip !== undefined) return t.skip(skip)
      let calls = 0
      const handler = (_request: unknown, response: Http2ServerResponse): void => {
        calls++
        answer(response)
      }
      await byNode(what, handler, async (ask) => {
        const first = await ask('k')
        const again = await ask('k')
        assert.equal(first.headers[':status'], status)
        assert.equal(first.headers['idempotent-replayed'], undefined)
        assert.equal(again.headers['idempotent-replayed'], 'true')
        assert.deepEqual(fieldsOf(again), fieldsOf(first))
        assert.ok(again.body.equals(first.body))
        assert.equal((await ask('k', 'eleven euros')).headers[':status'], 422)
      })
      assert.equal(calls, 1)
      const { answer: kept } = await keptFor(what, 'k')
      assert.equal(kept?.status, status)
      assert.deepEqual(
        kept?.fields.filter(([name]) => name.startsWith(':')),
        [],
      )
    })

  void test('100 equal requests at once on one connection → one effect; the others get its answer, or 409', async (t) => {
    if (skip !== undefined) return t.skip(skip)
    let effects = 0
    const handler = async (_request: unknown, response: Http2ServerResponse): Promise<void> => {
      const effect = ++effects
      await sleep(50)
      response.writeHead(201).end(`payment ${effect}`)
    }
    await byNode('hundred', handler, async (ask) => {
      const all = await Promise.all(times(100, () => ask('k')))
      assert.equal(effects, 1)
      const made = all.filter(({ headers }) => headers[':status'] === 201)
      assert.equal(made.filter(({ headers }) => headers['idempotent-replayed'] === undefined).length, 1)
      assert.ok(made.every(({ body }) => body.toString() === 'payment 1'))
      const refused = all.filter(({ headers }) => headers[':status'] === 409)
      assert.equal(made.length + refused.length, 100)
      assert.ok(refused.every(({ headers }) => headers['retry-after'] === '1'))
    })
  })

  void test('Fastify: status, fields, cookies and bytes are replayed, and no pseudo-header is kept', async (t) => {
    if (skip !== undefined) return t.skip(skip)
    const app = fastify({ http2: true })
    let calls = 0
    app.post('/pay', { preHandler: fastifyIdempotency(options('fastify')) }, async (_request, reply) =>
      reply
        .code(201)
        .header('x-own', 'a')
        .header('set-cookie', ['a=1', 'b=2'])
        .send(Buffer.from(`payment ${++calls}`)),
    )
    const session = connectHttp2(await app.listen({ port: 0, host: '127.0.0.1' }))
    try {
      const ask = asking(session)
      const [first, again] = [await ask('k'), await ask('k')]
      assert.equal(again.headers['idempotent-replayed'], 'true')
      assert.deepEqual(fieldsOf(again), fieldsOf(first))
      assert.deepEqual(
        [first, again].map(({ body }) => body.toString()),
        ['payment 1', 'payment 1'],
      )
      const { answer: kept } = await keptFor('fastify', 'k')
      assert.deepEqual([kept?.status, kept?.fields.some(([name]) => name.startsWith(':'))], [201, false])
    } finally {
      await new Promise<void>((resolve) => session.close(resolve))
      await app.close()
    }
  })
})
