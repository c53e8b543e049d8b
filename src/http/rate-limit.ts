import type { Client } from '../client.js'
import { systemClock } from '../core/clock.js'
import { EngineError, NotInitializedError } from '../errors.js'
import { checkAmount, checkFunction, checkLease, show } from '../options.js'
import type { Rate, RateDecision, RateLimiter } from '../types.js'

export interface RateLimitOptions<R> {
  readonly client: Pick<Client, 'rateLimiter'>
  /** So many requests of one key in any `interval` ms. */
  readonly permits: number
  readonly interval: number
  /** Of the policy, in the header fields and in the keys: letters, digits, `-`, `_` and `.`. Default `default`. */
  readonly name?: string | undefined
  /** Whose requests count together. Default: the address, of IPv6 the network (/64). */
  readonly key?: ((request: R) => string | Promise<string>) | undefined
  /** When the server cannot be asked: `open` lets all through, `closed` refuses all with 503. Default `open`. */
  readonly whenAway?: 'open' | 'closed' | undefined
  /** For how long a request waits for the server's word, ms; then the server counts as away. Default 1000. */
  readonly timeout?: number | undefined
}

/** What is to be done with a request. */
export interface Verdict {
  readonly headers: Readonly<Record<string, string>>
  /** Undefined: it goes on. */
  readonly refusal: { readonly status: 429 | 503; readonly text: string } | undefined
}

/** A limiter that nobody asks goes; one that is soon asked again is not set anew for that. */
const KEPT = 60_000

const seconds = (ms: number): number => Math.ceil(ms / 1000)

/**
 * Whoever has one address of an IPv6 network has 2^64 of them: they count as one. An IPv4 address counts as itself, also in
 * the form that a socket of both gives it.
 */
export const networkOf = (address: string): string => {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined || !address.includes(':')) return mapped ?? address
  const [head = '', tail] = address.replace(/%.*/, '').split('::')
  const groups = head.split(':').filter((group) => group !== '')
  const after = tail === undefined ? 0 : tail.split(':').length
  while (groups.length < Math.min(4, 8 - after)) groups.push('0')
  const all = tail === undefined ? groups : [...groups, ...tail.split(':')]
  return `${all
    .slice(0, 4)
    .map((group) => Number.parseInt(group || '0', 16).toString(16))
    .join(':')}::/64`
}

const check = <R>(options: RateLimitOptions<R>): void => {
  const { client, permits, interval, name, key, whenAway, timeout } = options
  checkFunction((client as Partial<Client> | undefined)?.rateLimiter, 'client.rateLimiter')
  checkAmount(permits, 'permits', 1)
  checkLease(interval, 'interval')
  if (name !== undefined && !/^[\w.-]+$/.test(name))
    throw new TypeError(`name must be of letters, digits, '-', '_' and '.', not ${show(name)}`)
  if (key !== undefined) checkFunction(key, 'key')
  if (!([undefined, 'open', 'closed'] as unknown[]).includes(whenAway))
    throw new TypeError(`whenAway must be 'open' or 'closed', not ${show(whenAway)}`)
  if (timeout !== undefined) checkLease(timeout, 'timeout')
}

/** They say where in a cluster a name belongs: that is not for whoever sends a request to choose. */
const BRACES = /[{}%]/g

/** By a limiter that is made with this rate where there is none. */
const decide = async (limiter: RateLimiter, rate: Rate): Promise<RateDecision> => {
  const attempt = (): Promise<RateDecision | undefined> =>
    limiter.tryAcquire().catch((error: unknown) => {
      if (error instanceof NotInitializedError) return undefined
      throw error
    })
  const decision = await attempt()
  if (decision !== undefined) return decision
  const set = limiter.trySetRate(rate)
  set.catch(() => undefined)
  // Sent behind it. Setting is repeated for a minute where nobody answers: a request does not wait for that.
  return (await attempt()) ?? set.then(() => limiter.tryAcquire())
}

/** What came of it in time. Undefined: nothing yet, or the server could not be asked. */
const inTime = <T>(work: Promise<T>, ms: number): Promise<T | undefined> =>
  new Promise((resolve, reject) => {
    const timer = systemClock.setTimer(() => {
      resolve(undefined)
    }, ms)
    const failed = (error: unknown): void => {
      if (error instanceof EngineError) resolve(undefined)
      else reject(error)
    }
    void work.then(resolve, failed).finally(() => {
      timer.cancel()
    })
  })

/** Judges requests, for whatever framework. */
export const judge = <R>(
  options: RateLimitOptions<R>,
  addressOf: (request: R) => string | undefined,
): ((request: R) => Promise<Verdict>) => {
  check(options)
  const { client, permits, interval, name = 'default', whenAway = 'open', timeout = 1000 } = options
  const { key = (request: R) => networkOf(addressOf(request) ?? '') } = options
  const rate: Rate = { permits, interval, keepAlive: Math.max(interval, KEPT) }
  const policy = { 'RateLimit-Policy': `"${name}";q=${permits};w=${seconds(interval)}` }
  const unasked: Verdict['refusal'] = whenAway === 'open' ? undefined : { status: 503, text: 'Service Unavailable' }

  // Another rate is another limiter: what runs with the old settings still goes by them.
  const limiterOf = (whose: string): RateLimiter =>
    client.rateLimiter(`${name}:${permits}/${interval}:${whose.replace(BRACES, encodeURIComponent)}`)

  return async (request) => {
    const whose = await key(request)
    const decision = await inTime(decide(limiterOf(whose), rate), timeout)
    if (decision === undefined) return { headers: policy, refusal: unasked }
    const { allowed, remaining, retryAfter } = decision
    const quota = `"${name}";r=${remaining}`
    if (allowed) return { headers: { ...policy, RateLimit: quota }, refusal: undefined }
    const wait = seconds(retryAfter)
    const headers = { ...policy, RateLimit: `${quota};t=${wait}`, 'Retry-After': String(wait) }
    return { headers, refusal: { status: 429, text: 'Too Many Requests' } }
  }
}
