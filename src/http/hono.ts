import { type RateLimitOptions, beside, judge } from './rate-limit.js'

export { networkOf } from './client-address.js'
export type { RateLimitOptions } from './rate-limit.js'

/** The part of Hono's context that is used. */
interface Context {
  header(name: string, value: string): void
  readonly res: { readonly headers: { get(name: string): string | null } }
  body(text: string, status: 429 | 503): Response
  readonly req: {
    header(name: string): string | undefined
    readonly path: string
    readonly method: string
  }
}

/** Like `RateLimitOptions`, but you must pass `key`: Hono does not know addresses, because each of its runtimes has its own way to get them. */
export type HonoRateLimitOptions<C> = RateLimitOptions<C> & Required<Pick<RateLimitOptions<C>, 'key'>>

type Middleware<C> = (context: C, next: () => Promise<void>) => Promise<Response | undefined>

/**
 * Limits requests: `app.use(rateLimit({ client, permits: 100, interval: 60_000, key: (c: Context) => networkOf(getConnInfo(c).remote.address) }))`, with Hono's own
 * `Context`. Without that annotation, `key` gets only the part of the context that is used here.
 */
export function rateLimit(options: HonoRateLimitOptions<Context>): Middleware<Context>
/** The same, for a `key` that annotates its parameter. */
export function rateLimit<C extends Context>(options: HonoRateLimitOptions<C>): Middleware<C>
export function rateLimit<C extends Context>(options: HonoRateLimitOptions<C>): Middleware<C> {
  const judged = judge(options, () => undefined)
  return async (context, next) => {
    const { headers, refusal } = await judged(context)
    const { res } = context
    for (const [name, value] of Object.entries(beside(headers, (known) => res.headers.get(known))))
      context.header(name, value)
    if (refusal !== undefined) {
      context.header('Content-Type', 'text/plain; charset=utf-8')
      return context.body(refusal.text, refusal.status)
    }
    await next()
    return undefined
  }
}
