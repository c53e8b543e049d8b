import { type RateLimitOptions, judge } from './rate-limit.js'

export type { RateLimitOptions } from './rate-limit.js'

/** What is used of Hono's. */
interface Context {
  header(name: string, value: string): void
}

/** Hono does not know whose a request is, each of its runtimes has a way of its own: so `key` must be given. */
export type HonoRateLimitOptions<C> = RateLimitOptions<C> & Required<Pick<RateLimitOptions<C>, 'key'>>

/**
 * `app.use(rateLimit({ client, permits: 100, interval: 60_000, key: (c: Context) => getConnInfo(c).remote.address ?? '' }))`,
 * with Hono's own `Context`.
 */
export const rateLimit = <C extends Context = Context>(options: HonoRateLimitOptions<C>) => {
  const judged = judge(options, () => undefined)
  return async (context: C, next: () => Promise<void>): Promise<Response | undefined> => {
    const { headers, refusal } = await judged(context)
    if (refusal !== undefined) return new Response(refusal.text, { status: refusal.status, headers })
    for (const [name, value] of Object.entries(headers)) context.header(name, value)
    await next()
    return undefined
  }
}
