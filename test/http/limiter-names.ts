import type { Client } from 'holdfast'
import { judge } from '#src/http/rate-limit.js'

/** A limit that lets everybody in, and the names of the limiters that it asks. */
export const namedLimit = () => {
  const names: string[] = []
  const rateLimiter = (name: string) => {
    names.push(name)
    return { tryAcquire: () => Promise.resolve({ allowed: true, remaining: 1, retryAfter: 0 }) }
  }
  const client = { rateLimiter } as unknown as Client
  return { names, judged: judge<string>({ client, permits: 1, interval: 1000, key: (key) => key }, () => undefined) }
}
