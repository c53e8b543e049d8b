import { Readable } from 'node:stream'
import type { Answer } from './stored-answer-format.js'
import { parsedBody } from './request-body.js'
import { JudgeRequest, type Reader } from './judge-request.js'
import { fieldsOf, type NodeResponse, recordResponse } from './node-response.js'
import type { IdempotencyOptions } from './idempotency-options.js'
import { remember } from './handler-run.js'

/** The part of Fastify's request that is used. */
export interface FastifyRequest {
  readonly method: string
  readonly url: string
  readonly headers: Record<string, string | string[] | undefined>
  readonly body: unknown
}
interface Reply {
  readonly raw: object
  readonly sent: boolean
  getHeaders(): Record<string, unknown>
  header(name: string, value: string | string[]): unknown
  code(status: number): unknown
  send(body?: unknown): unknown
}

type Hook<R> = (request: R, reply: Reply) => Promise<unknown>

const reader: Reader<FastifyRequest> = {
  method: ({ method }) => method,
  field: ({ headers }) => headers['idempotency-key']?.toString(),
  path: ({ url }) => url,
  body: (request) => parsedBody(request, false),
}

const send = (reply: Reply, { status, fields, body }: Answer): unknown => {
  reply.code(status)
  for (const name of new Set(fields.map(([one]) => one))) {
    const values = fields.filter(([one]) => one === name).map(([, value]) => value)
    // Cookies come beside those that are there.
    reply.header(name, values.length === 1 ? (values[0] as string) : values)
  }
  if (body.length === 0) return reply.send()
  // Fastify gives bytes a type of its own if they have none, but not a stream.
  return reply.send(fields.some(([name]) => name === 'content-type') ? body : Readable.from([body]))
}

/**
 * Makes retries of a request safe. It is a `preHandler`, because it needs the body: `app.post('/payments', { preHandler: fastifyIdempotency({ client, scope }) },
 * handler)`. `scope` and `fingerprint` get only the part of the request that is used here. To get all of it, annotate the parameter:
 * `scope: (request: FastifyRequest) => …`.
 */
export function fastifyIdempotency(options: IdempotencyOptions<FastifyRequest>): Hook<FastifyRequest>
/** The same, for functions that annotate their parameter. */
export function fastifyIdempotency<R extends FastifyRequest>(options: IdempotencyOptions<R>): Hook<R>
export function fastifyIdempotency<R extends FastifyRequest>(options: IdempotencyOptions<R>): Hook<R> {
  const judge = new JudgeRequest<R>(options, reader)
  return async (request, reply) => {
    const verdict = await judge.judge(request)
    if (verdict.do === 'answer') return send(reply, verdict.answer)
    if (verdict.do === 'go on') return undefined
    // The application has answered meanwhile, after a timeout of its own. Fastify does not run the handler then.
    if (reply.sent) {
      verdict.run.fail()
      return undefined
    }
    remember(request, verdict.known)
    recordResponse(reply.raw as NodeResponse, verdict.run, fieldsOf(reply.getHeaders()))
    return undefined
  }
}
