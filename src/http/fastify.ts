import { type RateLimitOptions, beside, judge } from './rate-limit.js'

export { networkOf } from './client-address.js'
export { holdfast, holdfast as default } from './fastify-plugin.js'
export type { HoldfastPluginOptions } from './fastify-plugin.js'
export type { RateLimitOptions } from './rate-limit.js'
export type { RequestLockOptions } from './request-locks.js'

/** The part of Fastify's request that is used. */
interface Request {
  readonly ip: string
  readonly headers: Record<string, string | string[] | undefined>
}
interface Reply {
  getHeader(name: string): unknown
  header(name: string, value: string): unknown
  code(status: number): unknown
  send(text: string): unknown
}

type Hook<R> = (request: R, reply: Reply) => Promise<unknown>

/**
 * Limits requests. It is a hook for all routes or for one: `app.addHook('onRequest', rateLimit({ client, permits: 100, interval: 60_000 }))`. `key` gets only the
 * part of the request that is used here. To get all of it, annotate the parameter: `key: (request: FastifyRequest) => …`.
 */
export function rateLimit(options: RateLimitOptions<Request>): Hook<Request>
/** The same, for a `key` that annotates its parameter. */
export function rateLimit<R extends Request>(options: RateLimitOptions<R>): Hook<R>
export function rateLimit<R extends Request>(options: RateLimitOptions<R>): Hook<R> {
  const judged = judge(options, ({ ip }) => ip)
  return async (request, reply) => {
    const { headers, refusal } = await judged(request)
    for (const [name, value] of Object.entries(beside(headers, (known) => reply.getHeader(known))))
      reply.header(name, value)
    if (refusal === undefined) return undefined
    reply.code(refusal.status)
    return reply.send(refusal.text)
  }
}
