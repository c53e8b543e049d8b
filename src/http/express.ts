import { type RateLimitOptions, beside, judge } from './rate-limit.js'
import { asError } from './user-functions.js'

export { networkOf } from './client-address.js'
export type { RateLimitOptions } from './rate-limit.js'

/** The part of Express's request that is used, in Express 4 and 5. */
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
 * Limits requests: `app.use(rateLimit({ client, permits: 100, interval: 60_000 }))`, or before the handlers of one route. `key` gets only the part of the request
 * that is used here. To get all of it, annotate the parameter: `key: (request: express.Request) => …`.
 */
export function rateLimit(options: RateLimitOptions<Request>): Middleware<Request>
/** The same, for a `key` that annotates its parameter. */
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
      // The application may have answered meanwhile, after a timeout of its own.
      .catch((thrown: unknown) => {
        next(asError(thrown, 'rate limit: the response'))
      })
  }
}
