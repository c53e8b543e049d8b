import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import fastify, { type FastifyRequest } from 'fastify'
import { type Context, Hono } from 'hono'
import {
  expressIdempotency,
  fastifyIdempotency,
  honoIdempotency,
  type IdempotencyOptions,
  type IdempotencyRun,
  idempotencyRun,
} from 'holdfast/idempotency'

/** What a handler answers. */
export interface Reply {
  readonly status?: number
  readonly fields?: readonly (readonly [string, string])[]
  /** A list is a stream of its parts. */
  readonly body?: string | Buffer | AsyncIterable<Buffer>
}

export type Handler = (request: { readonly run: IdempotencyRun | undefined; readonly body: string }) => Promise<Reply>
export type Settings = Omit<IdempotencyOptions<never>, 'scope' | 'fingerprint'> & {
  readonly scope?: () => string | Promise<string>
  readonly fingerprint?: () => string
}

/** Each server has routes `/pay` and `/refund`; other middleware sets `x-outer` and a cookie, different for each request, before. */
export interface Framework {
  readonly name: string
  serve(settings: Settings, handler: Handler): Promise<{ url: string; end(): Promise<void> }>
}

export const USER = 'x-user'

/** It comes without types. */
export interface ExpressResponse {
  append(name: string, value: string): void
  status(status: number): ExpressResponse
  send(body?: unknown): void
  write(chunk: Buffer): void
  end(): void
}
export interface ExpressRequest {
  readonly method: string
  readonly originalUrl: string
  readonly headers: Record<string, string | string[] | undefined>
  readonly body?: unknown
}
type ExpressApp = RequestListener & Record<'use' | 'all', (...args: unknown[]) => void>
interface ExpressPackage {
  (): ExpressApp
  text(options: object): unknown
}
export const packageOf = createRequire(import.meta.url) as (name: string) => ExpressPackage

let outer = 0

const answerByExpress = async (response: ExpressResponse, { status = 200, fields = [], body }: Reply) => {
  response.status(status)
  for (const [name, value] of fields) response.append(name, value)
  if (body === undefined || typeof body === 'string' || Buffer.isBuffer(body)) {
    response.send(body)
    return
  }
  for await (const chunk of body) response.write(chunk)
  response.end()
}

/** Express 4 does not look at what a handler's promise becomes. */
const forExpress = (name: string, express: ExpressPackage): Framework => ({
  name,
  async serve(settings, handler) {
    const app = express()
    app.use((_request: unknown, response: ExpressResponse, next: () => void) => {
      response.append('x-outer', String(++outer))
      response.append('set-cookie', `outer=${outer}`)
      next()
    })
    app.use(express.text({ type: 'text/plain' }))
    app.use(expressIdempotency({ scope: ({ headers }) => String(headers[USER]), ...settings }))
    const answer = async (request: ExpressRequest, response: ExpressResponse): Promise<void> => {
      const body = typeof request.body === 'string' ? request.body : ''
      await answerByExpress(response, await handler({ run: idempotencyRun(request), body }))
    }
    app.all(
      ['/pay', '/refund'],
      (request: ExpressRequest, response: ExpressResponse, next: (error: unknown) => void) => {
        answer(request, response).catch(next)
      },
    )
    app.use((error: unknown, _request: unknown, response: ExpressResponse, _next: unknown) => {
      response.status(500).send(`broken: ${String(error)}`)
    })
    return listening(app)
  },
})

const forFastify: Framework = {
  name: 'Fastify',
  async serve(settings, handler) {
    const app = fastify({ forceCloseConnections: true })
    app.addHook('onRequest', (_request, reply, done) => {
      reply.header('x-outer', String(++outer)).header('set-cookie', `outer=${outer}`)
      done()
    })
    app.setErrorHandler((error, _request, reply) => reply.code(500).send(`broken: ${String(error)}`))
    const preHandler = fastifyIdempotency({
      scope: (request: FastifyRequest) => String(request.headers[USER]),
      ...settings,
    })
    for (const url of ['/pay', '/refund'])
      app.all(url, { preHandler }, async (request, to) => {
        const {
          status = 200,
          fields = [],
          body,
        } = await handler({
          run: idempotencyRun(request),
          body: (request.body as string | undefined) ?? '',
        })
        to.code(status)
        for (const [name, value] of fields) to.header(name, value)
        const plain = body === undefined || typeof body === 'string' || Buffer.isBuffer(body)
        return to.send(plain ? body : Readable.from(body))
      })
    return { url: await app.listen({ port: 0, host: '127.0.0.1' }), end: () => app.close() }
  },
}

const forHono: Framework = {
  name: 'Hono',
  async serve(settings, handler) {
    const app = new Hono()
    app.use(async (c, next) => {
      c.header('x-outer', String(++outer))
      c.header('set-cookie', `outer=${outer}`, { append: true })
      await next()
    })
    app.use(honoIdempotency({ scope: (c: Context) => String(c.req.header(USER)), ...settings }))
    app.onError((error, c) => c.text(`broken: ${String(error)}`, 500))
    const answer = async (c: Context): Promise<Response> => {
      const { status = 200, fields = [], body } = await handler({ run: idempotencyRun(c), body: await c.req.text() })
      for (const [name, value] of fields) c.header(name, value, { append: true })
      c.status(status as 200)
      if (body === undefined) return c.body(null)
      if (typeof body === 'string') return c.body(body)
      if (Buffer.isBuffer(body)) return c.body(new Uint8Array(body))
      return c.body(Readable.toWeb(Readable.from(body)) as ReadableStream)
    }
    app.all('/pay', answer)
    app.all('/refund', answer)
    return listening(served(app))
  },
}

export const frameworks: readonly Framework[] = [
  forExpress('Express 5', packageOf('express')),
  forExpress('Express 4', packageOf('express4')),
  forFastify,
  forHono,
]

const requestOf = (request: IncomingMessage, signal: AbortSignal): Request => {
  const headers = new Headers()
  for (const [name, value] of Object.entries(request.headersDistinct))
    for (const one of value ?? []) headers.append(name, one)
  const { method = 'GET' } = request
  const hasBody = method !== 'GET' && method !== 'HEAD'
  const body = hasBody ? (Readable.toWeb(request) as ReadableStream) : null
  return new Request(`http://localhost${request.url}`, { method, headers, body, signal, duplex: 'half' })
}

/** Hono's own way to listen is a package of its own. */
const served =
  (app: Hono): RequestListener =>
  (request, response) => {
    const left = new AbortController()
    const answered = async (): Promise<void> => {
      const answer = await app.fetch(requestOf(request, left.signal))
      for (const [name, value] of answer.headers) if (name !== 'set-cookie') response.setHeader(name, value)
      const cookies = answer.headers.getSetCookie()
      if (cookies.length > 0) response.setHeader('set-cookie', cookies)
      response.writeHead(answer.status)
      const reader = answer.body?.getReader()
      response.once('close', () => {
        left.abort()
        if (!response.writableEnded) void reader?.cancel().catch(() => undefined)
      })
      for (;;) {
        const { done, value } = ((await reader?.read()) ?? { done: true }) as { done: boolean; value?: Uint8Array }
        if (done) break
        response.write(value)
      }
      response.end()
    }
    answered().catch(() => response.destroy())
  }

const listening = async (handler: RequestListener): Promise<{ url: string; end(): Promise<void> }> => {
  const server = createServer(handler)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const end = async (): Promise<void> => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return { url: `http://127.0.0.1:${port}`, end }
}
