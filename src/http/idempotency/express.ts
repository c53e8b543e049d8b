import { asError } from '../user-functions.js'
import type { Answer } from './stored-answer-format.js'
import { parsedBody } from './request-body.js'
import { JudgeRequest, type Reader } from './judge-request.js'
import { fieldsOf, type NodeResponse, recordResponse } from './node-response.js'
import type { IdempotencyOptions } from './idempotency-options.js'
import { remember } from './handler-run.js'

/** The part of Express's request that is used, in Express 4 and 5. */
export interface ExpressRequest {
  readonly method: string
  readonly originalUrl: string
  readonly headers: Record<string, string | string[] | undefined>
  readonly body?: unknown
}

/** It is Node's. */
interface Response {
  statusCode: number
  readonly headersSent: boolean
}

type Middleware<R> = (request: R, response: Response, next: (error?: unknown) => void) => void

const reader: Reader<ExpressRequest> = {
  method: ({ method }) => method,
  field: ({ headers }) => headers['idempotency-key']?.toString(),
  path: ({ originalUrl }) => originalUrl,
  body: (request) => parsedBody(request, true),
}

const send = (response: NodeResponse, { status, fields, body }: Answer): void => {
  response.statusCode = status
  for (const name of new Set(fields.map(([one]) => one))) {
    const values = fields.filter(([one]) => one === name).map(([, value]) => value)
    const there = name === 'set-cookie' ? (fieldsOf(response.getHeaders()).get(name) ?? []) : []
    const [only, ...more] = [...there, ...values]
    response.setHeader(name, more.length === 0 ? (only as string) : [...there, ...values])
  }
  if (body.length === 0) response.end()
  else response.end(body)
}

/**
 * Makes retries of a request safe: `app.post('/payments', express.json(), expressIdempotency({ client, scope: (request) => … }), handler)`. Put it behind the parser of
 * the body. `scope` and `fingerprint` get only the part of the request that is used here. To get all of it, annotate the parameter:
 * `scope: (request: express.Request) => …`.
 */
export function expressIdempotency(options: IdempotencyOptions<ExpressRequest>): Middleware<ExpressRequest>
/** The same, for functions that annotate their parameter. */
export function expressIdempotency<R extends ExpressRequest>(options: IdempotencyOptions<R>): Middleware<R>
export function expressIdempotency<R extends ExpressRequest>(options: IdempotencyOptions<R>): Middleware<R> {
  const judge = new JudgeRequest<R>(options, reader)
  return (request, given, next) => {
    const response = given as NodeResponse
    judge
      .judge(request)
      .then((verdict) => {
        // The application has answered meanwhile, after a timeout of its own: nothing can be sent, and its handler must not run.
        if (response.headersSent && verdict.do !== 'go on') {
          if (verdict.do === 'run') verdict.run.fail()
          return
        }
        if (verdict.do === 'answer') {
          send(response, verdict.answer)
          return
        }
        if (verdict.do === 'run') {
          remember(request, verdict.known)
          recordResponse(response, verdict.run, fieldsOf(response.getHeaders()))
        }
        next()
      })
      .catch((thrown: unknown) => {
        next(asError(thrown, 'idempotency: the response'))
      })
  }
}
