import assert from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createRequire } from 'node:module'
import { describe, test } from 'node:test'
import fastify from 'fastify'
import { Hono } from 'hono'
import { connect } from 'holdfast'
import { rateLimit as forExpress } from 'holdfast/express'
import { rateLimit as forFastify } from 'holdfast/fastify'
import { rateLimit as forHono } from 'holdfast/hono'
import { HOSTILE } from '../support/hostile.js'

type ExpressApp = RequestListener & { use(handler: unknown): void }
const express = createRequire(import.meta.url)('express') as () => ExpressApp

/** What `key` of the limit does next. */
type Key = () => string

const listening = async (handler: RequestListener): Promise<{ url: string; end(): Promise<void> }> => {
  const server = createServer(handler)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    end: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

const client = await connect('memory:hostile-http')
const settings = { client, permits: 100_000, interval: 60_000 }

const FRAMEWORKS: Readonly<Record<string, (key: Key) => Promise<{ url: string; end(): Promise<void> }>>> = {
  async Fastify(key) {
    const app = fastify()
    app.addHook('onRequest', forFastify({ ...settings, key }))
    app.get('/', () => 'in')
    return { url: await app.listen({ port: 0, host: '127.0.0.1' }), end: () => app.close() }
  },
  Express(key) {
    const app = express()
    app.use(forExpress({ ...settings, key }))
    app.use((_request: unknown, response: { end(text: string): void }) => response.end('in'))
    app.use(
      (
        error: unknown,
        _request: unknown,
        response: { statusCode: number; end(text: string): void },
        _next: unknown,
      ) => {
        assert.ok(error instanceof Error)
        response.statusCode = 500
        response.end('broken')
      },
    )
    return listening(app)
  },
  Hono(key) {
    const app = new Hono()
    app.onError((_error, c) => c.text('broken', 500))
    app.use(forHono({ ...settings, key }))
    app.get('/', (c) => c.text('in'))
    return listening((_request, response) => {
      void Promise.resolve(app.request('/')).then(async (answer) => {
        response.statusCode = answer.status
        response.end(await answer.text())
      })
    })
  },
}

void describe('what `key` of a rate limit throws', () => {
  for (const [name, serve] of Object.entries(FRAMEWORKS)) {
    test(`${name}: anything → that request is answered with 500, the next one is let in, nothing escapes`, async () => {
      const escaped: unknown[] = []
      const note = (error: unknown): void => void escaped.push(error)
      process.on('unhandledRejection', note)
      process.on('uncaughtException', note)
      let key: Key = () => 'me'
      const { url, end } = await serve(() => key())
      const ask = async (): Promise<number> => (await fetch(url, { signal: AbortSignal.timeout(5000) })).status
      for (const [what, make] of Object.entries(HOSTILE)) {
        const thrown = make()
        for (const way of [
          () => Promise.reject(thrown) as never,
          (): never => {
            throw thrown
          },
        ]) {
          key = way
          assert.equal(await ask(), 500, what)
          key = () => 'me'
          assert.equal(await ask(), 200, what)
        }
      }
      await end()
      process.off('unhandledRejection', note)
      process.off('uncaughtException', note)
      assert.equal(escaped.length, 0)
    })
  }

  test('when all is over → the client closes', () => client.close())
})
