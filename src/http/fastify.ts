import { type RateLimitOptions, judge } from './rate-limit.js'

export type { RateLimitOptions } from './rate-limit.js'

/** What is used of Fastify's. */
interface Request {
  readonly ip: string
}
interface Reply {
  headers(headers: Record<string, string>): unknown
  code(status: number): { send(text: string): unknown }
}

/** A hook for all routes or for one: `app.addHook('onRequest', rateLimit({ client, permits: 100, interval: 60_000 }))`. */
export const rateLimit = <R extends Request = Request>(options: RateLimitOptions<R>) => {
  const judged = judge(options, ({ ip }) => ip)
  return async (request: R, reply: Reply): Promise<unknown> => {
    const { headers, refusal } = await judged(request)
    reply.headers(headers)
    return refusal && reply.code(refusal.status).send(refusal.text)
  }
}
