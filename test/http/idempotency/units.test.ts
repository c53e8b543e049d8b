import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, createServer, type OutgoingHttpHeaders, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, connect, type Flight } from 'holdfast'
import { expressIdempotency } from 'holdfast/idempotency'
import { type Answer, answers } from '#src/http/idempotency/stored-answer-format.js'
import { parsedBody } from '#src/http/idempotency/request-body.js'
import { hashOf, keyIn } from '#src/http/idempotency/key-field.js'
import { type ExpressRequest, type ExpressResponse, packageOf } from './frameworks.js'
import { Recording } from '#src/http/idempotency/response-recording.js'

void test('keys: in quotes as in the draft, or bare', () => {
  const keys: [string, string | undefined][] = [
    ['"a b"', 'a b'],
    ['"a"', 'a'],
    [' a ', 'a'],
    [String.raw`"a\"b\\"`, String.raw`a"b\ `.trim()],
    ['8e03978e-40d5-43e8-bc93-6894a57f9324', '8e03978e-40d5-43e8-bc93-6894a57f9324'],
    ...['', '""', '"', 'a"b', '"a"b"', '"a";x=1', String.raw`"a\b"`, 'a\tb', 'é', 'a b', 'x'.repeat(256)].map(
      (field): [string, undefined] => [field, undefined],
    ),
  ]
  for (const [field, key] of keys) assert.equal(keyIn(field), key, field)
})

void test('a hash says where its parts end', () => {
  assert.notEqual(hashOf('ab', 'c'), hashOf('a', 'bc'))
  assert.notEqual(hashOf('a', ''), hashOf('a'))
})

void test('an answer is read as it was written; random bytes are no answer', () => {
  for (const body of [Buffer.alloc(0), Buffer.from('text ü \n \0'), randomBytes(5000)]) {
    const answer: Answer = { status: 201, fields: [['set-cookie', 'a=\u00fc']], body }
    const data = answers.encode({ fingerprint: 'f', answer })
    const read = answers.decode(typeof data === 'string' ? Buffer.from(data) : data) as { answer: Answer }
    assert.deepEqual({ ...read.answer, body: Buffer.from(read.answer.body) }, answer)
  }
  const none = answers.encode({ fingerprint: 'f', answer: undefined })
  assert.deepEqual(answers.decode(Buffer.from(none)), { fingerprint: 'f', answer: undefined })
  for (let round = 0; round < 500; round++) assert.equal(answers.decode(randomBytes(round)), undefined)
})

void test('a body that nobody has parsed → an error that says what to do', () => {
  const asked = (body: unknown, headers = {}) => ({ body, headers: { 'content-length': '9', ...headers } })
  const multipart = { 'content-type': 'multipart/form-data; boundary=x' }
  for (const [request, marks] of [
    [asked(undefined), true],
    [asked(undefined), false],
    [asked({}), true],
    [asked({ pipe: () => 1 }), false],
    [asked({ a: 1 }, multipart), true],
  ] as const)
    assert.throws(() => parsedBody(request, marks), /not parsed: .*parser.*fingerprint/)
  assert.equal(parsedBody({ ...asked({}), _body: true }, true), '{}')
  assert.equal(parsedBody(asked({ a: [1] }), true), '{"a":[1]}')
  assert.equal(parsedBody(asked('text'), false), 'text')
  assert.equal(parsedBody({ headers: {} }, true), '')
})

void test('what is kept: the fields of the handler, and no answer that asks to come again', () => {
  const before = new Map([
    ['x-a', ['1']],
    ['set-cookie', ['s=1']],
  ])
  const recording = new Recording(100, before)
  const fields = new Map([
    ...[...before].map(([name, values]): [string, string[]] => [name, [...values, 'c=2']]),
    ['x-b', ['2']] as [string, string[]],
  ])
  recording.begin(200, fields)
  const { fields: kept } = recording.outcome(true) as Answer
  assert.deepEqual(kept, [
    ['x-a', '1'],
    ['x-a', 'c=2'],
    ['set-cookie', 'c=2'],
    ['x-b', '2'],
  ])
  for (const status of [401, 408, 425, 429, 500, 503]) {
    const retried = new Recording(100, new Map())
    retried.begin(status, new Map())
    assert.equal(retried.outcome(true), 'retry')
  }
  assert.equal(new Recording(100, before).outcome(true), 'retry')
  // What could not be read is not written.
  for (const status of [101, NaN]) {
    const unreadable = new Recording(100, new Map())
    unreadable.begin(status, new Map())
    assert.equal(unreadable.outcome(true), undefined)
  }
})

void test('options that make no sense → an error that names them', async () => {
  const client = await connect('memory:')
  const good = { client, scope: () => 'a' }
  for (const [name, bad] of Object.entries({
    ...{ client: {}, scope: 'a', name: '', required: 1, methods: ['GET'], fingerprint: 1, ttl: 0 },
    ...{ lease: -1, maxRun: 0, maxBytes: 2e7, whenAway: 'pass', timeout: 0 },
  }))
    assert.throws(() => expressIdempotency({ ...good, [name]: bad }), new RegExp(name))
  assert.throws(() => expressIdempotency({ client } as never), /scope/)
  assert.throws(() => expressIdempotency({ ...good, methods: [] }), /methods/)
  await client.close()
})

void test('the application answers before the answer to a retry is there → its connection stays', async () => {
  const client = await connect('memory:')
  const app = packageOf('express')()
  app.use((request: ExpressRequest, response: ExpressResponse, next: () => void) => {
    if (request.headers['x-impatient'] !== undefined) setTimeout(() => response.status(503).send('late'), 50)
    next()
  })
  app.use(expressIdempotency({ client, scope: () => sleep(150, 'ada') }))
  let reached: (response: ExpressResponse) => void = () => undefined
  const held = new Promise<ExpressResponse>((resolve) => (reached = resolve))
  app.all('/', (_: unknown, response: ExpressResponse) => reached(response))
  const server = createServer(app).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const { port } = server.address() as AddressInfo
  const post = (more: OutgoingHttpHeaders, over: Agent | false): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const headers = { 'idempotency-key': '"k"', ...more }
      const request = httpRequest({ port, host: '127.0.0.1', method: 'POST', headers, agent: over }, (response) => {
        response.resume().once('end', () => resolve(response.statusCode))
      })
      request.once('error', reject).end()
    })
  const first = post({}, false)
  const response = await held
  // This one would be answered with 409.
  assert.equal(await post({ 'x-impatient': '1' }, agent), 503)
  await sleep(300)
  assert.equal(Object.values(agent.freeSockets).flat().length, 1, 'its connection is gone')
  response.send('paid')
  assert.equal(await first, 200)
  agent.destroy()
  server.close()
  await client.close()
})

void test('a client that throws while it is not ready → that request fails, and the server does not count as away', async () => {
  const real = await connect('memory:')
  let ready = false
  const flight = (...args: Parameters<Client['flight']>): Flight => {
    if (!ready) throw new Error('not connected yet')
    return real.flight(...args)
  }
  const app = packageOf('express')()
  app.use(expressIdempotency({ client: { flight }, scope: () => 'ada', timeout: 50 }))
  app.use((error: Error, _request: unknown, response: ExpressResponse, _next: unknown) => {
    response.status(500).send(error.message)
  })
  app.all('/', (_: unknown, response: ExpressResponse) => response.send('paid'))
  const server = createServer(app).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const post = async (key: string): Promise<number> =>
    (await fetch(url, { method: 'POST', headers: { 'idempotency-key': key } })).status
  assert.equal(await post('one'), 500)
  ready = true
  await sleep(52)
  assert.deepEqual(await Promise.all(['two', 'three', 'four'].map(post)), [200, 200, 200])
  server.close()
  await real.close()
})

void test('the client is closed → 503, also with whenAway: open, and the handler does not run', async () => {
  for (const whenAway of ['closed', 'open'] as const) {
    const client = await connect('memory:')
    const app = packageOf('express')()
    app.use(expressIdempotency({ client, scope: () => 'ada', whenAway }))
    let ran = 0
    app.all('/', (_: unknown, response: ExpressResponse) => {
      ran++
      response.send('paid')
    })
    const server = createServer(app).listen(0, '127.0.0.1')
    await once(server, 'listening')
    await client.close()
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const response = await fetch(url, { method: 'POST', headers: { 'idempotency-key': 'k' } })
    assert.deepEqual([response.status, response.headers.get('retry-after'), ran], [503, '1', 0])
    server.close()
  }
})
