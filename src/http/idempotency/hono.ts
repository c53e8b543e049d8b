import { type Answer, isBodiless } from './stored-answer-format.js'
import { JudgeRequest, type Reader } from './judge-request.js'
import type { IdempotencyOptions } from './idempotency-options.js'
import { remember } from './handler-run.js'
import { fieldsIn, recordedResponse } from './web-response.js'

/** The part of Hono's context that is used. */
export interface HonoContext {
  res: Response
  readonly req: {
    readonly method: string
    readonly url: string
    header(name: string): string | undefined
    arrayBuffer(): Promise<ArrayBuffer>
  }
}

type Middleware<C> = (context: C, next: () => Promise<void>) => Promise<Response | undefined>

const reader: Reader<HonoContext> = {
  method: ({ req }) => req.method,
  field: ({ req }) => req.header('Idempotency-Key'),
  path: ({ req }) => req.url.replace(/^[a-z]+:\/\/[^/?#]*/i, ''),
  // Hono keeps the bytes, so that the handler can read the body, too.
  body: async ({ req }) => new Uint8Array(await req.arrayBuffer()),
}

/** The answer, over the fields that other middleware has set for this response; cookies beside theirs. */
const responseOf = ({ status, fields, body }: Answer, there: Headers): Response => {
  const headers = new Headers(there)
  for (const name of new Set(fields.map(([one]) => one))) if (name !== 'set-cookie') headers.delete(name)
  for (const [name, value] of fields) headers.append(name, value)
  return new Response(isBodiless(status) ? null : (body as Uint8Array<ArrayBuffer>), { status, headers })
}

/** Hono would merge the fields of the old response into the new one, and lose cookies. */
const replace = (context: HonoContext, response: Response): void => {
  context.res = undefined as unknown as Response
  context.res = response
}

/**
 * Makes retries of a request safe: `app.post('/payments', honoIdempotency({ client, scope: (c: Context) => c.get('user') }), handler)`, with Hono's own `Context`.
 * Without that annotation, `scope` and `fingerprint` get only the part of the context that is used here.
 */
export function honoIdempotency(options: IdempotencyOptions<HonoContext>): Middleware<HonoContext>
/** The same, for functions that annotate their parameter. */
export function honoIdempotency<C extends HonoContext>(options: IdempotencyOptions<C>): Middleware<C>
export function honoIdempotency<C extends HonoContext>(options: IdempotencyOptions<C>): Middleware<C> {
  const judge = new JudgeRequest<C>(options, reader)
  return async (context, next) => {
    const verdict = await judge.judge(context)
    // What other middleware has set so far is part of the context's response.
    const { headers } = context.res
    if (verdict.do === 'answer') {
      replace(context, responseOf(verdict.answer, headers))
      return undefined
    }
    if (verdict.do === 'go on') {
      await next()
      return undefined
    }
    try {
      remember(context, verdict.known)
      const before = fieldsIn(headers)
      await next()
      replace(context, await recordedResponse(context.res, verdict.run, before))
    } catch (error) {
      verdict.run.fail()
      throw error
    }
    return undefined
  }
}
