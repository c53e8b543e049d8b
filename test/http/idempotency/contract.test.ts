import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { describe } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { times } from '../../suites/contract/lock/kind.js'
import { until } from '../../support/until.js'
import type { Handler, Reply } from './frameworks.js'
import { type Answered, gate, placeOf, stageOf } from './stage.js'

/** How it is sent, or when, and what other middleware sets for each response. */
const OTHERS = ['date', 'connection', 'keep-alive', 'transfer-encoding', 'content-length', 'x-outer', 'set-cookie']

const plain = ({ status, headers, body }: Answered): unknown => ({
  status,
  fields: [...headers].filter(([name]) => !OTHERS.includes(name) && name !== 'idempotent-replayed').sort(),
  cookies: headers.getSetCookie().filter((cookie) => !cookie.startsWith('outer=')),
  body: createHash('sha256').update(body).digest('hex'),
})

const isReplay = ({ headers }: Answered): boolean => headers.get('idempotent-replayed') === 'true'

const titleOf = ({ body }: Answered): string => (JSON.parse(body.toString()) as { title: string }).title

/** Counts its calls, and answers with the count. */
const counting = (reply: Partial<Reply> = {}): { readonly handler: Handler; readonly count: () => number } => {
  let count = 0
  return { handler: async () => ({ status: 201, body: `payment ${++count}`, ...reply }), count: () => count }
}

async function* parts(...chunks: readonly (Buffer | Promise<unknown>)[]): AsyncGenerator<Buffer> {
  for (const chunk of chunks)
    if (chunk instanceof Promise) await chunk
    else yield chunk
}

const anyReply = (round: number): Reply => {
  const bytes = randomBytes(round * 37)
  const statuses = [200, 201, 202, 301, 400, 402, 404, 409, 422, 204]
  const status = statuses[round % statuses.length] as number
  const fields: [string, string][] = [
    [
      'content-type',
      ['application/octet-stream', 'application/json; charset=utf-8', 'text/x-own'][round % 3] as string,
    ],
    ['x-own', `höher ${round}`.replace('ö', '\u00f6')],
    ...times(round % 4, (i): [string, string] => ['set-cookie', `c${i}=${round}, x; Path=/`]),
    ['etag', `"${round}"`],
  ]
  if (status === 204) return { status, fields: fields.slice(1) }
  const body = [bytes, bytes.toString('base64'), parts(bytes, Buffer.from('more')), ''][round % 4] as Reply['body']
  return { status, fields, body: body! }
}

for (const engine of ['memory', 'redis'] as const) {
  void describe(`idempotency on ${engine}`, () => {
    const test = stageOf(engine)

    test('100 equal requests at once → one effect; the others get its answer, or 409', async ({
      client,
      other,
      serve,
    }) => {
      let effects = 0
      const handler: Handler = async () => {
        const effect = ++effects
        await sleep(50)
        return { status: 201, body: `payment ${effect}` }
      }
      const servers = [await serve({ client }, handler), await serve({ client: other }, handler)]
      const answers = await Promise.all(times(100, (i) => servers[i % 2]!()))
      assert.equal(effects, 1)
      const [made, refused] = [201, 409].map((status) => answers.filter((answer) => answer.status === status))
      assert.equal(made!.length + refused!.length, 100)
      assert.equal(made!.filter((answer) => !isReplay(answer)).length, 1)
      for (const answer of made!) assert.equal(answer.body.toString(), 'payment 1')
      for (const answer of refused!) {
        assert.equal(answer.headers.get('retry-after'), '1')
        assert.equal(answer.headers.get('content-type'), 'application/problem+json')
        assert.match(titleOf(answer), /running/)
      }
      const later = await Promise.all(servers.map((ask) => ask()))
      assert.ok(later.every(isReplay))
    })

    test('any answer → the replay has its status, its header fields and cookies, and its bytes', async ({ serve }) => {
      for (const round of times(24, (i) => i)) {
        const ask = await serve({}, async () => anyReply(round))
        const first = await ask({ key: `any-${round}` })
        const again = await ask({ key: `any-${round}` })
        assert.ok(!isReplay(first) && isReplay(again))
        assert.deepEqual(plain(again), plain(first))
        assert.equal(first.headers.getSetCookie().length, 1 + (round % 4))
        // What belongs to this response only is its own.
        assert.notEqual(again.headers.get('x-outer'), first.headers.get('x-outer'))
        assert.equal(again.headers.getSetCookie().filter((cookie) => cookie.startsWith('outer=')).length, 1)
      }
    })

    test('another body or path → 422; another user → a request of its own', async ({ serve }) => {
      const { handler, count } = counting()
      const ask = await serve({}, handler)
      await ask()
      for (const asked of [{ body: 'eleven euros' }, { path: '/refund' }, { path: '/pay?x' }, { method: 'PATCH' }]) {
        const answer = await ask(asked)
        assert.equal(answer.status, 422, JSON.stringify(asked))
        assert.match(titleOf(answer), /already used/)
      }
      assert.equal(count(), 1)
      const bob = await ask({ user: 'bob' })
      assert.deepEqual([bob.status, bob.body.toString(), isReplay(bob)], [201, 'payment 2', false])
      assert.equal((await ask({ key: 'k1' })).body.toString(), 'payment 1')
    })

    test('other methods, and requests without a key → they go on, unless a key is required', async ({ serve }) => {
      const { handler, count } = counting()
      const ask = await serve({}, handler)
      for (const asked of [{ method: 'GET' }, { method: 'PUT' }, { method: 'DELETE' }, { key: '' }]) {
        assert.equal((await ask(asked)).status, 201)
        assert.equal((await ask(asked)).status, 201)
      }
      assert.equal((await ask({ method: 'HEAD', body: undefined })).status, 201)
      const strict = await serve({ required: true }, handler)
      const before = count()
      assert.equal((await strict({ method: 'GET' })).status, 201)
      const missing = await strict({ key: '' })
      assert.deepEqual([missing.status, titleOf(missing)], [400, 'Idempotency-Key is missing'])
      assert.equal(count(), before + 1)
    })

    test('a key that is none → 400', async ({ serve }) => {
      const { handler, count } = counting()
      const ask = await serve({}, handler)
      for (const key of ['""', '"a', 'a b', 'x'.repeat(256), `"${'x'.repeat(256)}"`, 'a, b', '"a", "b"', 'ü'])
        assert.equal((await ask({ key })).status, 400, key)
      assert.equal(count(), 0)
      assert.equal((await ask({ key: 'x'.repeat(255) })).status, 201)
    })

    test('a failure, and a handler that throws → the next request runs again', async ({ serve }) => {
      for (const status of [500, 503, 401, 429]) {
        const { handler, count } = counting({ status })
        const ask = await serve({}, handler)
        for (const _ of [1, 2]) {
          await until(async () => (await ask({ key: `s${status}` })).status !== 409)
        }
        assert.equal(count(), 2, String(status))
      }
      let calls = 0
      const ask = await serve({}, async () => {
        if (++calls === 1) throw new Error('no money')
        return { body: 'done' }
      })
      const thrown = await ask({ key: 'throws' })
      assert.deepEqual([thrown.status, thrown.body.toString()], [500, 'broken: Error: no money'])
      await until(async () => (await ask({ key: 'throws' })).body.toString() === 'done')
      assert.equal(calls, 2)
    })

    test('a stream → its parts arrive as they are sent; the replay has all of them', async ({ serve }) => {
      const { opened, open } = gate()
      const chunks = times(20, () => randomBytes(3000))
      let began = false
      const ask = await serve({}, async () => {
        began = true
        return { body: parts(chunks[0]!, opened, ...chunks.slice(1)) }
      })
      const asked = ask()
      await until(() => began)
      assert.equal((await ask()).status, 409)
      open()
      const [first, again] = [await asked, await ask()]
      assert.ok(first.body.equals(Buffer.concat(chunks)))
      assert.deepEqual(plain(again), plain(first))
    })

    test('the requester leaves in the middle → the key stays claimed; a retry gets the answer', async ({ serve }) => {
      const { opened, open } = gate()
      let calls = 0
      const ask = await serve({}, async () => {
        calls++
        await opened
        return { status: 201, body: 'paid' }
      })
      const leaves = new AbortController()
      const asked = ask({ signal: leaves.signal })
      await until(() => calls === 1)
      leaves.abort()
      await assert.rejects(asked)
      await sleep(50)
      assert.equal((await ask()).status, 409)
      open()
      await until(async () => (await ask()).status === 201)
      assert.ok(isReplay(await ask()))
      assert.equal(calls, 1)
    })

    test('an answer above maxBytes → its requester gets it; a retry is told, and runs nothing', async ({ serve }) => {
      const large = randomBytes(10_000_000)
      let calls = 0
      const handler: Handler = async () => ({ status: 200, body: ++calls % 2 === 0 ? parts(large) : large })
      const ask = await serve({}, handler)
      for (const key of ['large', 'streamed']) {
        assert.ok((await ask({ key })).body.equals(large))
        const again = await ask({ key })
        assert.deepEqual([again.status, titleOf(again)], [410, 'The answer is not kept'])
      }
      assert.equal(calls, 2)
      const roomy = await serve({ maxBytes: 11_000_000, timeout: 20_000 }, handler)
      for (const key of ['kept', 'kept and streamed']) {
        assert.ok((await roomy({ key: `"${key}"` })).body.equals(large))
        const again = await roomy({ key: `"${key}"` })
        assert.ok(isReplay(again))
        assert.ok(again.body.equals(large))
      }
    })

    test('the claim is lost → the late answer reaches its requester only', async ({ name, client, other, serve }) => {
      const { opened, open } = gate()
      const tokens: bigint[] = []
      let lost: AbortSignal | undefined
      const slow = await serve({ client, lease: 1000 }, async ({ run }) => {
        assert.equal(run?.key, 'k1')
        lost = run?.signal
        tokens.push(run.token)
        await opened
        return { body: 'late' }
      })
      const late = slow()
      await until(() => lost !== undefined)
      const { flight, hash } = placeOf(name, 'k1')
      await other.flight(flight).forget(hash)
      const next = await serve({ client: other }, async ({ run }) => {
        tokens.push(run!.token)
        return { body: 'next' }
      })
      assert.equal((await next()).body.toString(), 'next')
      await until(() => lost?.aborted === true)
      open()
      assert.equal((await late).body.toString(), 'late')
      for (const ask of [slow, next]) assert.equal((await ask()).body.toString(), 'next')
      assert.ok(tokens[1]! > tokens[0]!)
    })

    test('the claim is lost, and nobody takes over → the handler runs once; a retry runs it again', async ({
      name,
      other,
      serve,
    }) => {
      const { opened, open } = gate()
      let calls = 0
      let lost: AbortSignal | undefined
      const ask = await serve({ lease: 1000 }, async ({ run }) => {
        lost ??= run?.signal
        if (++calls === 1) await opened
        return { body: `answer ${calls}` }
      })
      const late = ask()
      await until(() => calls === 1)
      const { flight, hash } = placeOf(name, 'k1')
      await other.flight(flight).forget(hash)
      await until(() => lost?.aborted === true)
      open()
      assert.equal((await late).body.toString(), 'answer 1')
      await sleep(100)
      assert.equal(calls, 1)
      await until(async () => (await ask()).status === 200)
      assert.deepEqual([calls, (await ask()).body.toString()], [2, 'answer 2'])
    })

    test('a handler that never answers → the key is free after maxRun, and its signal aborts', async ({ serve }) => {
      const signals: AbortSignal[] = []
      const { opened, open } = gate()
      const ask = await serve({ maxRun: 300 }, async ({ run }) => {
        if (signals.push(run!.signal) === 1) await opened
        return { body: `answer ${signals.length}` }
      })
      const asked = ask()
      await until(() => signals.length === 1)
      assert.equal((await ask()).status, 409)
      await until(async () => (await ask()).status === 200)
      assert.equal((signals[0]!.reason as Error).name, 'TimeoutError')
      open()
      await asked
      await sleep(400)
      assert.deepEqual(
        signals.map((signal) => signal.aborted),
        [true, false],
      )
    })
  })
}
