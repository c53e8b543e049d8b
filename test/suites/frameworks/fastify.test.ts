import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { type IncomingMessage, request as httpRequest } from 'node:http'
import { createInterface } from 'node:readline'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import { type Client, connect, type Hold } from 'holdfast'
import type * as plugin from 'holdfast/fastify'
import type { default as makeApp, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type RedisServer, startRedis } from '../../support/redis-server.js'
import { compileFor, GENERATIONS, folderOf } from './installed.js'

type Entry = typeof plugin
type Handler = (request: FastifyRequest, reply: FastifyReply) => unknown

const MOST_WAIT = 20_000
const eventually = async (what: string, holds: () => Promise<boolean>): Promise<void> => {
  const began = performance.now()
  while (!(await holds())) {
    assert.ok(performance.now() - began < MOST_WAIT, what)
    await sleep(20)
  }
}
const within = <T>(promise: Promise<T>, what: string): Promise<T> =>
  Promise.race([promise, sleep(MOST_WAIT, undefined, { ref: false }).then(() => Promise.reject(new Error(what)))])

for (const generation of GENERATIONS) {
  void describe(`holdfast/fastify, the ${generation} Fastify`, () => {
    let server: RedisServer
    let client: Client
    let fastify: typeof makeApp
    let entry: Entry
    let file: string
    const apps: FastifyInstance[] = []

    before(async () => {
      server = await startRedis()
      client = await connect(server.url)
      const load = createRequire(`${folderOf(generation)}/`)
      fastify = load('fastify') as typeof makeApp
      file = pathToFileURL(load.resolve('holdfast/fastify')).href
      entry = (await import(file)) as Entry
    })
    after(async () => {
      await Promise.all(apps.map((app) => app.close()))
      await client.close()
      await server.stop()
    })

    const appWith = async (routes: (app: FastifyInstance) => void): Promise<string> => {
      const app = fastify()
      apps.push(app)
      void app.register(entry.holdfast, { connect: server.url })
      routes(app)
      return app.listen({ port: 0, host: '127.0.0.1' })
    }
    const served = (handler: Handler): Promise<string> =>
      appWith((app) => {
        app.get('/:id', handler)
      })
    const holders = async (name: string): Promise<number> => (await client.lock(name).inspect()).holders.length
    const isFree = async (name: string): Promise<boolean> => (await holders(name)) === 0
    const textOf = async (url: string): Promise<string> => (await fetch(url)).text()

    /** Its connection ends with the answer: Fastify waits for those that are kept open. */
    const textOnce = async (url: string): Promise<string> => {
      const [answer] = (await once(httpRequest(url, { agent: false }).end(), 'response')) as [IncomingMessage]
      return text(answer)
    }

    /** A request whose connection can be cut. */
    const cuttable = (url: string): (() => void) => {
      const request = httpRequest(url)
      request.on('error', () => undefined)
      request.end()
      return () => request.destroy()
    }

    void test('app.holdfast is a client of that server, also in plugins beside and in requests', async () => {
      const seen: unknown[] = []
      const url = await appWith((app) => {
        void app.register((scope, _options, done) => {
          seen.push(scope.holdfast)
          done()
        })
        app.get('/', async (request) => (await request.server.holdfast.lock('plugin').inspect()).holders.length)
      })
      const hold = await client.lock('plugin').acquire()
      assert.equal(await textOf(url), '1')
      await hold.release()
      assert.equal(seen[0], apps.at(-1)?.holdfast)
    })

    void test('request.lock: one request at a time; free when the answer has come', async () => {
      let now = 0
      let most = 0
      const url = await served(async (request) => {
        await request.lock('orders')
        most = Math.max(most, ++now)
        await sleep(5)
        now--
        return 'done'
      })
      const all = await Promise.all(Array.from({ length: 20 }, (_, i) => textOf(`${url}/${i}`)))
      assert.deepEqual(new Set(all), new Set(['done']))
      assert.equal(most, 1)
      assert.equal(await isFree('orders'), true)
    })

    void test('a requester that comes back at once is not refused by its own lock', async () => {
      const url = await served(async (request) => (await request.lock('again', { wait: 0 })).state)
      for (let i = 0; i < 20; i++) assert.equal(await textOf(`${url}/${i}`), 'held')
    })

    void test('the owner has the route as its label, and enters again; a fenced lock has its token', async () => {
      const url = await served(async (request) => {
        const first = await request.lock('twice')
        const second = await request.lock('twice', { wait: 0 })
        const { token } = await request.lock('fenced', { kind: 'fencedLock' })
        return [first.owner === second.owner, first.owner.label, typeof token]
      })
      const [same, label, token] = JSON.parse(await textOf(`${url}/1`)) as unknown[]
      assert.deepEqual([same, token], [true, 'bigint'])
      assert.equal(label, generation === 'oldest' ? 'GET' : 'GET /:id')
      assert.equal(await isFree('twice'), true)
    })

    void test('a handler that throws, and an answer that cannot be written: free', async () => {
      const url = await served(async (request) => {
        await request.lock('throws')
        throw new Error('broken')
      })
      assert.equal((await fetch(`${url}/1`)).status, 500)
      assert.equal(await isFree('throws'), true)
      const odd = await served(async (request) => {
        await request.lock('odd')
        return { big: 1n }
      })
      assert.equal((await fetch(`${odd}/1`)).status, 500)
      assert.equal(await isFree('odd'), true)
    })

    void test('a stream keeps the lock until its end', async () => {
      const stream = new PassThrough()
      const url = await served(async (request, reply) => {
        await request.lock('stream')
        return reply.send(stream)
      })
      stream.write('a')
      const answer = await fetch(`${url}/1`)
      assert.equal(await holders('stream'), 1)
      stream.end('b')
      assert.equal(await answer.text(), 'ab')
      await eventually('free', () => isFree('stream'))
    })

    void test('the requester leaves: the handler keeps the lock until it has answered', async () => {
      let finish: (() => void) | undefined
      let holding: (() => void) | undefined
      let gone: Promise<unknown> | undefined
      const holds = new Promise<void>((resolve) => (holding = resolve))
      const url = await served(async (request, reply) => {
        gone = once(reply.raw, 'close')
        await request.lock('left')
        holding?.()
        await new Promise<void>((resolve) => (finish = resolve))
        return 'late'
      })
      const cut = cuttable(`${url}/1`)
      await holds
      cut()
      await within(gone as Promise<unknown>, 'the server sees it leave')
      assert.equal(await holders('left'), 1)
      finish?.()
      await eventually('free', () => isFree('left'))
    })

    void test('the requester leaves while the call waits: the call ends, and no place stays', async () => {
      const held: Hold = await client.lock('waits').acquire()
      let ended: (error: unknown) => void
      const outcome = new Promise<unknown>((resolve) => (ended = resolve))
      const url = await served(async (request) => {
        await request.lock('waits').then(ended, ended)
        return 'done'
      })
      const cut = cuttable(`${url}/1`)
      await eventually('waits', async () => (await client.lock('waits').inspect()).waiting.length === 1)
      cut()
      const error = await within(outcome, 'the wait ends')
      assert.ok(error instanceof DOMException && error.name === 'AbortError', String(error))
      await eventually('no place', async () => (await client.lock('waits').inspect()).waiting.length === 0)
      await held.release()
    })

    void test('a reply that the handler took over (hijack): free when it has ended', async () => {
      const url = await served(async (request, reply) => {
        reply.hijack()
        await request.lock('hijacked')
        reply.raw.end('raw')
      })
      assert.equal(await textOf(`${url}/1`), 'raw')
      await eventually('free', () => isFree('hijacked'))
    })

    void test('app.inject, too', async () => {
      const app = fastify()
      apps.push(app)
      void app.register(entry.holdfast, { client })
      app.get('/', async (request) => (await request.lock('injected')).state)
      assert.equal((await app.inject('/')).body, 'held')
      assert.match(app.printPlugins(), /holdfast/)
      assert.equal(await isFree('injected'), true)
    })

    void test('options that are wrong, and a time limit, reject', async () => {
      const url = await served(async (request) => {
        const calls = [{ weit: 1 }, { kind: 'nonsense' }, { signal: 1 }] as unknown as object[]
        const errors = await Promise.all(calls.map((one) => request.lock('wrong', one).catch(String)))
        const hold = await client.lock('wrong').acquire()
        errors.push(await request.lock('wrong', { wait: 1 }).catch((why: unknown) => (why as { code: string }).code))
        await hold.release()
        return errors
      })
      const [unknown, kind, signal, code] = JSON.parse(await textOf(`${url}/1`)) as string[]
      assert.match(unknown ?? '', /^TypeError: there is no option 'weit' \(did you mean 'wait'\?\)/)
      assert.match(kind ?? '', /^TypeError: kind must be one of lock, .*, not "nonsense"/)
      assert.match(signal ?? '', /^TypeError: signal must be an AbortSignal, not 1/)
      assert.equal(code, 'ACQUIRE_TIMEOUT')
    })

    void test('closing the app answers what runs, then closes its own client, not yours', async () => {
      let begun: (() => void) | undefined
      const running = new Promise<void>((resolve) => (begun = resolve))
      const url = await served(async (request) => {
        await request.lock('closing')
        begun?.()
        await sleep(200)
        return 'answered'
      })
      const app = apps.at(-1) as FastifyInstance
      const answer = textOnce(`${url}/1`)
      await running
      await app.close()
      assert.equal(await answer, 'answered')
      assert.equal(app.holdfast.closing.aborted, true)
      assert.equal(await isFree('closing'), true)
      assert.equal(client.closing.aborted, false)
    })

    void test('registered twice, with wrong options, or where no server is: the app does not start', async () => {
      const problems = [
        [{ connect: server.url }, { connect: server.url }],
        [{ nonsense: 1 }],
        [{ client, connect: server.url }],
        [{ connect: 'redis://127.0.0.1:1' }],
      ]
      const found = problems.map(async (all) => {
        const app = fastify()
        apps.push(app)
        for (const one of all) void app.register(entry.holdfast, one as object)
        const error: unknown = await Promise.resolve(app.ready()).then(
          () => 'it started',
          (why: unknown) => why,
        )
        return String(error)
      })
      const [twice, unknown, both, nowhere] = await Promise.all(found)
      assert.match(twice ?? '', /registered already/)
      assert.match(unknown ?? '', /no option 'nonsense'/)
      assert.match(both ?? '', /connect and client exclude one another/)
      assert.match(nowhere ?? '', /^EngineError/)
    })

    void test('a plugin that depends on it by its name starts; without it, Fastify says what is missing', async () => {
      const dependent = Object.assign((_app: FastifyInstance, _options: object, done: () => void) => done(), {
        [Symbol.for('skip-override')]: true,
        [Symbol.for('plugin-meta')]: { name: 'jobs', dependencies: ['holdfast'] },
      })
      const good = fastify()
      const bad = fastify()
      apps.push(good, bad)
      void good.register(import(file), { client })
      void good.register(dependent)
      await good.ready()
      assert.equal(good.holdfast, client)
      void bad.register(dependent)
      await assert.rejects(Promise.resolve(bad.ready()), /dependency 'holdfast'/)
    })
  })
}

for (const generation of GENERATIONS) {
  void test(`examples/fastify in two processes, the ${generation} Fastify`, async () => {
    const server = await startRedis()
    const program = await compileFor(folderOf(generation), 'examples/fastify/main.mjs', 'orders')
    const env = { ...process.env, HOLDFAST_URL: server.url, PORT: '0', HOST: '127.0.0.1' }
    const children = [0, 1].map(() => spawn(process.execPath, [program], { env, stdio: ['ignore', 'pipe', 'inherit'] }))
    try {
      const urls = await Promise.all(
        children.map(async ({ stdout }) => String((await once(createInterface({ input: stdout }), 'line'))[0])),
      )
      const post = (path: string, i: number) => fetch(`${urls[i % 2]}${path}`, { method: 'POST' })
      const paid = await Promise.all(
        Array.from(
          { length: 10 },
          async (_, i) => (await post('/orders/7', i)).json() as Promise<{ payments: number }>,
        ),
      )
      // Each process counts its own payments, and loses one if two of its requests run at once.
      const counts = paid.map(({ payments }) => payments).sort((a, b) => a - b)
      assert.deepEqual(counts, [1, 1, 2, 2, 3, 3, 4, 4, 5, 5])
      const client = await connect(server.url)
      const report = post('/reports?ms=500', 0)
      await eventually('the report is written', async () => (await client.lock('report').inspect()).holders.length > 0)
      assert.equal((await post('/reports', 1)).status, 409)
      assert.equal(await (await report).text(), 'written\n')
      assert.equal((await post('/reports?ms=0', 1)).status, 200)
      await client.close()
      const exits = children.map((child) => once(child, 'exit'))
      for (const child of children) child.kill('SIGTERM')
      assert.deepEqual(await Promise.all(exits), [
        [0, null],
        [0, null],
      ])
    } finally {
      for (const child of children) child.kill('SIGKILL')
      await server.stop()
    }
  })
}
