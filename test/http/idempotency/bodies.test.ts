import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import fastify from 'fastify'
import { connect } from 'holdfast'
import { expressIdempotency, fastifyIdempotency } from 'holdfast/idempotency'
import { parsedBody } from '#src/http/idempotency/request-body.js'
import type { Client } from '../../support/engines.js'

let client: Client
before(async () => {
  client = await connect('memory:')
})
after(() => client.close())

/** It comes without types. */
interface App extends RequestListener {
  use(...handlers: unknown[]): void
}
const express = createRequire(import.meta.url)('express') as { (): App; json(): unknown }

type Send = (body: string | ReadableStream, type?: string) => Promise<Response>

const expressJson = async (name: string, body: (send: Send) => Promise<void>): Promise<void> => {
  const app = express()
  let calls = 0
  app.use(express.json())
  app.use(expressIdempotency({ client, name, scope: () => 'all' }))
  app.use((request: { body: unknown }, response: { json(body: unknown): void }) => {
    response.json({ call: ++calls, body: request.body })
  })
  app.use(
    (
      error: Error,
      _request: unknown,
      response: { status(code: number): { send(text: string): void } },
      _next: unknown,
    ) => {
      response.status(500).send(error.message)
    },
  )
  const server = createServer(app)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const send: Send = (sent, type = 'application/json') => {
    const headers = { 'idempotency-key': 'k', 'content-type': type }
    return fetch(url, { method: 'POST', headers, body: sent, duplex: 'half' })
  }
  try {
    await body(send)
  } finally {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}

/** It is sent in parts, so that nothing says beforehand that there are none. */
const noParts = (): ReadableStream => new ReadableStream({ start: (controller) => controller.close() })

void test('Express: a parsed body that is {} → a body like any other', async () => {
  for (const [name, empty] of [
    ['an object', () => '{}'],
    ['no parts', noParts],
  ] as const)
    await expressJson(name, async (send) => {
      const first = await send(empty())
      assert.deepEqual([first.status, await first.json()], [200, { call: 1, body: {} }])
      const again = await send(empty())
      assert.equal(again.headers.get('idempotent-replayed'), 'true')
      assert.deepEqual(await again.json(), { call: 1, body: {} })
      assert.equal((await send('{"a":1}')).status, 422)
    })
})

void test('Express: a body that no parser has read → an error', async () => {
  await expressJson('unread', async (send) => {
    const answer = await send('<a/>', 'text/xml')
    assert.equal(answer.status, 500)
    assert.match(await answer.text(), /not parsed: .*parser/)
  })
})

void test('Express 4: {} counts only if a parser has read the request', () => {
  const request = { headers: { 'transfer-encoding': 'chunked' }, body: {} }
  assert.throws(() => parsedBody(request, true), /not parsed/)
  for (const mark of ['_body', 'readableDidRead', 'readableEnded'])
    assert.equal(parsedBody({ ...request, [mark]: true }, true), '{}')
})

void test('a body whose JSON says nothing → an error', () => {
  for (const body of [new Map([['a', 1]]), new Set([1]), new URLSearchParams('a=1')])
    assert.throws(() => parsedBody({ headers: {}, body, readableDidRead: true }, true), /cannot be compared/)
})

const sendHttp2 = (
  session: ClientHttp2Session,
  body: object,
): Promise<{ status: unknown; replayed: unknown; text: string }> =>
  new Promise((resolve, reject) => {
    const stream = session.request({
      ...{ ':method': 'POST', ':path': '/' },
      ...{ 'content-type': 'application/json', 'idempotency-key': 'k' },
    })
    let [status, replayed, text]: [unknown, unknown, string] = [undefined, undefined, '']
    stream.setEncoding('utf8')
    stream.on('response', (headers) => {
      status = headers[':status']
      replayed = headers['idempotent-replayed']
    })
    stream.on('data', (part: string) => (text += part))
    stream.on('end', () => resolve({ status, replayed, text }))
    stream.on('error', reject)
    stream.end(JSON.stringify(body))
  })

void test('HTTP/2: a body without a length is compared, too', async () => {
  const app = fastify({ http2: true })
  let calls = 0
  app.post('/', { preHandler: fastifyIdempotency({ client, name: 'http2', scope: () => 'all' }) }, async () => ({
    call: ++calls,
  }))
  const session = connectHttp2(await app.listen({ port: 0, host: '127.0.0.1' }))
  try {
    const first = await sendHttp2(session, { euros: 10 })
    assert.deepEqual(first, { status: 200, replayed: undefined, text: '{"call":1}' })
    assert.deepEqual(await sendHttp2(session, { euros: 10 }), { ...first, replayed: 'true' })
    assert.equal((await sendHttp2(session, { euros: 11 })).status, 422)
  } finally {
    await new Promise<void>((resolve) => session.close(resolve))
    await app.close()
  }
})

void test('a body with 45,000 levels → 400, and nothing runs; a shallow one with the same key runs', async () => {
  const deep = '['.repeat(45_000) + ']'.repeat(45_000)
  await expressJson('deep', async (send) => {
    const answer = await send(deep)
    const { title } = (await answer.json()) as { title: string }
    assert.deepEqual([answer.status, title], [400, 'The body is nested too deeply'])
    assert.deepEqual(await (await send('[[]]')).json(), { call: 1, body: [[]] })
  })
  const app = fastify()
  app.post('/', { preHandler: fastifyIdempotency({ client, name: 'deep fastify', scope: () => 'all' }) }, () => 'ran')
  const headers = { 'idempotency-key': 'k', 'content-type': 'application/json' }
  assert.equal((await app.inject({ method: 'POST', url: '/', headers, payload: deep })).statusCode, 400)
  assert.equal((await app.inject({ method: 'POST', url: '/', headers, payload: '[]' })).statusCode, 200)
  await app.close()
})
