import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Hono } from 'hono'
import { connect } from 'holdfast'
import { honoIdempotency, idempotencyRun } from 'holdfast/idempotency'
import type { Client } from '../../support/engines.js'
import { until } from '../../support/until.js'
import { frameworks } from './frameworks.js'
import { type Handler, nodeServer } from './node-server.js'
import { gate, stageOf } from './stage.js'

let client: Client
before(async () => {
  client = await connect('memory:')
})
after(() => client.close())

const REPLAYED = 'idempotent-replayed'

async function* failing(): AsyncGenerator<Buffer> {
  yield Buffer.from('half')
  await sleep(30)
  throw new Error('the source is broken')
}

/** Handlers that fail before anything was sent, and answer with 500 then. */
const FAILURES: Readonly<Record<string, Handler>> = {
  'a write of null': (_, r) => r.write(null),
  'a write of nothing': (_, r) => r.write(undefined),
  'a write of a number': (_, r) => r.write(7),
  'writeHead without a status': (_, r) => r.writeHead(NaN),
  'an end with no status': (_, r) => {
    r.statusCode = undefined as unknown as number
    r.end('a body of another length')
  },
}

for (const [what, fail] of Object.entries(FAILURES))
  void test(`${what} throws → it is not recorded, and the next request runs again`, async () => {
    let calls = 0
    const handler: Handler = (request, response) => {
      if (++calls > 1) return response.end('whole')
      assert.throws(() => fail(request, response))
      response.statusCode = 500
      return response.end('no money')
    }
    await nodeServer({ client, name: what }, handler, async (ask) => {
      const failed = await ask()
      assert.deepEqual([failed.status, await failed.text()], [500, 'no money'])
      await until(async () => (await (await ask()).text()) === 'whole')
      assert.equal(calls, 2)
    })
  })

void test('a status that has no body, and a body → a replay without a body', async () => {
  for (const status of [204, 205, 304]) {
    let calls = 0
    const handler: Handler = (_, response) => {
      calls++
      response.statusCode = status
      response.end('gone')
    }
    await nodeServer({ client, name: `status ${status}` }, handler, async (ask) => {
      assert.equal((await ask()).status, status)
      const again = await ask()
      assert.deepEqual([again.status, again.headers.get(REPLAYED), calls], [status, 'true', 1])
    })
  }
})

void test('an end that throws → the connection is closed, and the process lives', async () => {
  const cannotEnd: Handler = (_, response) => {
    response.end = () => {
      throw new Error('cannot end')
    }
  }
  const handler: Handler = (_, response) => response.end('answer')
  await nodeServer({ client, name: 'end' }, handler, async (ask) => assert.rejects(ask()), cannotEnd)
})

void test('a Content-Length → its requester does not have the whole answer before it is kept', async () => {
  const { opened, open } = gate()
  let written = 0
  const handler: Handler = async (_, response) => {
    response.setHeader('content-length', '8')
    for (const part of ['half', 'HALF']) response.write(part, () => written++)
    await opened
    response.end()
  }
  await nodeServer({ client, name: 'length' }, handler, async (ask) => {
    const first = await ask()
    const reader = first.body!.getReader()
    const text = async (): Promise<string> => Buffer.from((await reader.read()).value ?? []).toString()
    assert.equal(await text(), 'half')
    const rest = text()
    assert.equal(await Promise.race([rest, sleep(100, 'waits')]), 'waits')
    assert.deepEqual([written, (await ask()).status], [2, 409])
    open()
    assert.equal(await rest, 'HALF')
    const again = await ask()
    assert.deepEqual([again.headers.get(REPLAYED), await again.text()], ['true', 'halfHALF'])
    for (const { headers } of [first, again]) assert.equal(headers.get('content-length'), '8')
  })
})

void test('a write after the end → refused, and not sent', async () => {
  const seen: unknown[] = []
  const handler: Handler = (_, response) => {
    response.end('answer')
    seen.push(response.write('late', (error) => seen.push((error as { code?: unknown } | undefined)?.code)))
  }
  await nodeServer({ client, name: 'after' }, handler, async (ask) => {
    for (const _ of [1, 2]) assert.equal(await (await ask()).text(), 'answer')
    assert.deepEqual(seen, [false, 'ERR_STREAM_WRITE_AFTER_END'])
  })
})

void test('a pipeline that breaks in the middle → the signal aborts, and the next request runs again', async () => {
  const signals: (AbortSignal | undefined)[] = []
  const handler: Handler = (request, response) => {
    if (signals.push(idempotencyRun(request)?.signal) > 1) response.end('whole')
    else void pipeline(Readable.from(failing()), response).catch(() => undefined)
  }
  await nodeServer({ client, name: 'pipeline' }, handler, async (ask) => {
    await assert.rejects(async () => (await ask()).text())
    await until(async () => (await (await ask()).text()) === 'whole')
    assert.deepEqual(
      signals.map((signal) => signal?.aborted),
      [true, false],
    )
  })
})

void test('a response that is destroyed because its requester has left → the key stays claimed', async () => {
  const { opened, open } = gate()
  const closed = gate()
  let calls = 0
  const handler: Handler = async (_, response) => {
    calls++
    response.once('close', () => {
      response.destroy(new Error('the requester has left'))
      closed.open()
    })
    await opened
    response.end('paid')
  }
  await nodeServer({ client, name: 'destroyed' }, handler, async (ask) => {
    const leaves = new AbortController()
    const asked = ask({ signal: leaves.signal })
    await until(() => calls === 1)
    leaves.abort()
    await assert.rejects(asked)
    await closed.opened
    assert.equal((await ask()).status, 409)
    open()
    await until(async () => (await (await ask()).text()) === 'paid')
    assert.equal(calls, 1)
  })
})

void describe('answers of Fastify and Hono', () => {
  const streamed = stageOf('memory', frameworks.slice(-2))

  streamed('a stream that breaks in the middle → the next request runs again', async ({ serve }) => {
    let calls = 0
    const ask = await serve({}, async () => ({ body: ++calls > 1 ? 'whole' : failing() }))
    await assert.rejects(ask())
    await until(async () => (await ask()).body.toString() === 'whole')
    assert.equal(calls, 2)
  })
})

const honoAsk = (name: string, maxRun: number, answer: () => ReadableStream): (() => Promise<Response>) => {
  const app = new Hono()
  app.use(honoIdempotency({ client, name, maxRun, scope: () => 'all' }))
  app.post('/', (c) => c.body(answer()))
  return async () => app.request('/', { method: 'POST', body: 'x', headers: { 'idempotency-key': 'k' } })
}

void test('Hono: the requester leaves a stream that does not end → its source is cancelled after maxRun', async () => {
  let cancelled = false
  let parts = 0
  const ask = honoAsk('endless', 300, () => {
    return new ReadableStream({
      pull(controller) {
        if (++parts > 1) return new Promise<void>(() => undefined)
        controller.enqueue(Buffer.from('beat'))
        return undefined
      },
      cancel: () => void (cancelled = true),
    })
  })
  const reader = (await ask()).body!.getReader()
  await reader.read()
  await reader.cancel()
  assert.equal((await ask()).status, 409)
  await until(() => cancelled)
  await until(async () => (await ask()).status === 410)
})

void test('Hono: a stream of text → sent and kept as bytes; of anything else → it breaks, and a retry runs', async () => {
  let part: unknown = 7
  const ask = honoAsk('text', 10_000, () => {
    return new ReadableStream({
      start(controller) {
        controller.enqueue(part)
        controller.close()
      },
    })
  })
  await assert.rejects(async () => (await ask()).text(), /neither bytes nor text/)
  part = 'höher'
  await until(async () => (await (await ask()).text()) === 'höher')
  const again = await ask()
  assert.deepEqual([again.headers.get(REPLAYED), await again.text()], ['true', 'höher'])
})
