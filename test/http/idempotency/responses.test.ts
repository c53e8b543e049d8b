import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Hono } from 'hono'
import { connect } from 'holdfast'
import { expressIdempotency, honoIdempotency } from 'holdfast/idempotency'
import type { Client } from '../../support/engines.js'
import { until } from '../../support/until.js'
import { type Handler, nodeServer } from './node-server.js'

type Rest = Parameters<typeof nodeServer> extends [unknown, ...infer Tail] ? Tail : never

let client: Client
before(async () => {
  client = await connect('memory:')
})
after(() => client.close())

const serving = (name: string, ...rest: Rest): Promise<void> => nodeServer({ client, name }, ...rest)

const HANDLERS: Readonly<Record<string, Handler>> = {
  'writeHead with an object': (_, r) => r.writeHead(201, { 'X-A': '1', 'Set-Cookie': ['a=1', 'b=2'] }).end('body'),
  'writeHead with a flat list': (_, r) =>
    r.writeHead(201, ['X-A', '1', 'Set-Cookie', 'a=1', 'Set-Cookie', 'b=2']).end('body'),
  'writeHead with a flat list that has a list': (_, r) =>
    r.writeHead(201, ['Set-Cookie', ['a=1', 'b=2'], 'X-A', '1']).end('body'),
  'writeHead with a reason': (_, r) =>
    r.writeHead(201, 'Made', { 'X-A': '1', 'Set-Cookie': ['a=1', 'b=2'] }).end('body'),
  'fields one by one, and two writes': (_, r) => {
    r.statusCode = 201
    r.setHeader('X-A', '1')
    r.setHeader('Set-Cookie', ['a=1', 'b=2'])
    r.write('Ym8', 'base64')
    r.end(Buffer.from('dy').subarray(0, 1), () => undefined)
  },
  'a write, and an end without a body': (_, r) => {
    r.writeHead(201, { 'X-A': '1', 'Set-Cookie': ['a=1', 'b=2'] })
    r.write('body', () => r.end())
  },
}

for (const [what, handler] of Object.entries(HANDLERS))
  void test(`${what} → the replay is the same`, async () => {
    await serving(what, handler, async (ask) => {
      const seen: unknown[] = []
      for (const replayed of [null, 'true']) {
        const answer = await ask()
        assert.equal(answer.headers.get('idempotent-replayed'), replayed)
        seen.push([answer.status, answer.headers.get('x-a'), answer.headers.getSetCookie(), await answer.text()])
      }
      assert.deepEqual(seen[1], seen[0])
      assert.deepEqual((seen[0] as unknown[]).slice(0, 3), [201, '1', ['a=1', 'b=2']])
    })
  })

void test('after its end, a response takes no more: neither fields nor another end', async () => {
  let thrown: unknown
  const handler: Handler = (_, response) => {
    response.end('first')
    assert.ok(response.writableEnded && response.headersSent)
    try {
      response.setHeader('x-late', '1')
    } catch (error) {
      thrown = error
    }
    response.end('second')
  }
  await serving('late', handler, async (ask) => {
    for (const _ of [1, 2]) {
      const answer = await ask()
      assert.deepEqual([await answer.text(), answer.headers.get('x-late')], ['first', null])
      assert.equal(answer.headers.get('content-length'), '5')
    }
    assert.equal((thrown as { code?: unknown }).code, 'ERR_HTTP_HEADERS_SENT')
  })
})

/** As compression does: it changes the fields when they are sent, and the bytes. */
const reversing: Handler = (_, response) => {
  const { writeHead, end } = response
  response.writeHead = (status: number) => {
    response.setHeader('x-encoding', 'reversed')
    return writeHead.call(response, status)
  }
  response.end = ((chunk: Buffer) => {
    if (!response.headersSent) response.writeHead(response.statusCode)
    return end.call(response, Buffer.from(chunk).reverse(), 'utf8')
  }) as never
}

void test('compression that comes first → it is applied to each replay', async () => {
  const handler: Handler = (_, response) => response.end('abc')
  const ask = async (asks: () => Promise<Response>): Promise<void> => {
    for (const _ of [1, 2]) {
      const answer = await asks()
      assert.deepEqual([await answer.text(), answer.headers.get('x-encoding')], ['cba', 'reversed'])
    }
  }
  await serving('compression', handler, ask, reversing)
})

void test('Hono: the requester leaves a stream in the middle → a retry gets all of it', async () => {
  const app = new Hono()
  let next = 0
  app.use(honoIdempotency({ client, name: 'left', scope: () => 'all', maxBytes: 5000 }))
  app.post('/', (c) => {
    const parts = new ReadableStream<Uint8Array>({
      async pull(controller) {
        await new Promise((resolve) => setTimeout(resolve, 5))
        controller.enqueue(new Uint8Array(1000).fill(++next))
        if (next === 4) controller.close()
      },
    })
    return c.body(parts)
  })
  const ask = async () => app.request('/', { method: 'POST', body: 'x', headers: { 'idempotency-key': 'k' } })
  const reader = (await ask()).body!.getReader()
  const { value } = (await reader.read()) as { value?: Uint8Array }
  assert.equal(value?.[0], 1)
  await reader.cancel()
  let answer = await ask()
  await until(async () => (answer = await ask()).status === 200)
  const bytes = new Uint8Array(await answer.arrayBuffer())
  assert.deepEqual(
    [bytes.length, bytes[0], bytes[3999], answer.headers.get('idempotent-replayed')],
    [4000, 1, 4, 'true'],
  )
})

void test('Hono: a stream that breaks → the next request runs again', async () => {
  const app = new Hono()
  let calls = 0
  app.use(honoIdempotency({ client, name: 'broken', scope: () => 'all' }))
  app.post('/', (c) => {
    if (++calls > 1) return c.text('whole')
    return c.body(new ReadableStream({ start: (controller) => controller.error(new Error('broken')) }))
  })
  const ask = async () => app.request('/', { method: 'POST', body: 'x', headers: { 'idempotency-key': 'k' } })
  await assert.rejects((await ask()).text(), /broken/)
  await until(async () => (await (await ask()).text()) === 'whole')
})

void test('functions of the user that fail → an error, and the handler does not run', async () => {
  const asked = (options: object) =>
    new Promise<unknown>((resolve) => {
      const made = expressIdempotency({ client, scope: () => 'a', name: 'user', timeout: 50, ...options })
      const headers = { 'idempotency-key': 'k', 'content-length': '4' }
      made({ method: 'POST', originalUrl: '/', headers, body: 'body' }, {} as never, resolve)
    })
  for (const [options, message] of [
    [{ scope: () => '' }, /scope\(\) must give text that is not empty/],
    [{ scope: () => undefined }, /scope\(\) must give text/],
    [{ scope: () => new Promise(() => undefined) }, /the promise of scope\(\) did not settle within 50 ms/],
    [{ fingerprint: () => 7 }, /fingerprint\(\) must give text/],
    [
      {
        scope: () => {
          throw undefined as unknown as Error
        },
      },
      /scope\(\) threw undefined/,
    ],
  ] as const)
    assert.match(String(await asked(options)), message)
})
