import { type RateLimitOptions, asError, beside, judge } from './rate-limit.js'

export { networkOf } from './address.js'
export type { RateLimitOptions } from './rate-limit.js'

/** What is used of Express's, 4 and 5. */
interface Request {
  readonly ip?: string | undefined
  readonly headers: Record<string, string | string[] | undefined>
}
interface Response {
  statusCode: number
  getHeader(name: string): unknown
  setHeader(name: string, value: string): unknown
  end(text: string): unknown
}

type Middleware<R> = (request: R, response: Response, next: (error?: unknown) => void) => void

/**
 * `app.use(rateLimit({ client, permits: 100, interval: 60_000 }))`, or before the handlers of one route. `key` gets what is
 * used of the request here; for more, say which: `key: (request: express.Request) => …`.
 */
export function rateLimit(options: RateLimitOptions<Request>): Middleware<Request>
export function rateLimit<R extends Request>(options: RateLimitOptions<R>): Middleware<R>
export function rateLimit<R extends Request>(options: RateLimitOptions<R>): Middleware<R> {
  const judged = judge(options, ({ ip }) => ip)
  return (request, response, next) => {
    judged(request)
      .then(({ headers, refusal }) => {
        for (const [name, value] of Object.entries(beside(headers, (known) => response.getHeader(known))))
          response.setHeader(name, value)
        if (refusal === undefined) {
          next()
          return
        }
        response.statusCode = refusal.status
        response.setHeader('Content-Type', 'text/plain; charset=utf-8')
        response.end(refusal.text)
      })
      // It may have been answered meanwhile, by a time-out of the application's.
      .catch((thrown: unknown) => {
        next(asError(thrown, 'rate limit: the response'))
      })
  }
}
