import { type RateLimitOptions, judge } from './rate-limit.js'

export type { RateLimitOptions } from './rate-limit.js'

/** What is used of Express's. */
interface Request {
  readonly ip?: string | undefined
}
interface Response {
  set(headers: Record<string, string>): unknown
  status(status: number): { send(text: string): unknown }
}

/** `app.use(rateLimit({ client, permits: 100, interval: 60_000 }))`, or before the handlers of one route. */
export const rateLimit = <R extends Request = Request>(options: RateLimitOptions<R>) => {
  const judged = judge(options, ({ ip }) => ip)
  return (request: R, response: Response, next: (error?: unknown) => void): void => {
    judged(request)
      .then(({ headers, refusal }) => {
        response.set(headers)
        if (refusal === undefined) next()
        else response.status(refusal.status).send(refusal.text)
      })
      // It may have been answered meanwhile, by a time-out of the application's.
      .catch(next)
  }
}
