import type { Client } from '../api/client.js'
import { checkAmount, checkFunction, checkLease, checkOptions, show } from '../check-arguments.js'
import type { RateDecision } from '../api/rate-limiter.js'
import { networkOf } from './client-address.js'
import { AwayDetector } from './away-detector.js'
import { troubleReport } from './report-trouble.js'
import { quoted } from '../plain-text.js'
import { checkPolicyName, countOne, limiterName, partOf, rateOf } from './limiter-name.js'
import { asError, given } from './user-functions.js'

/** Options of `rateLimit`. */
export interface RateLimitOptions<R> {
  /** The client whose limiters count the requests. */
  readonly client: Pick<Client, 'rateLimiter'>
  /** How many requests one key may make in any `interval`. */
  readonly permits: number
  /** The length of the interval, ms. */
  readonly interval: number
  /** The name of the policy, in the header fields and in the keys: letters, digits, `-`, `_` and `.`. Default `default`. */
  readonly name?: string | undefined
  /** Requests with the same key count together. Default: the address; for IPv6, its network (/64). */
  readonly key?: ((request: R) => string | Promise<string>) | undefined
  /** If the server cannot be asked: `open` lets every request through, `closed` refuses every request with 503. Default `open`. */
  readonly whenAway?: 'open' | 'closed' | undefined
  /** How long a request waits for the server's answer, ms. After that, the server counts as away. Default 1000. */
  readonly timeout?: number | undefined
  /**
   * Receives the error if the server cannot be asked, or refuses: trouble of each kind once a minute. Default: a warning of the process.
   */
  readonly onError?: ((error: unknown) => void) | undefined
}

/** What to do with a request. */
export interface Verdict {
  readonly headers: Readonly<Record<string, string>>
  /** Undefined: the request goes on. */
  readonly refusal: { readonly status: 429 | 503; readonly text: string } | undefined
}

const seconds = (ms: number): number => Math.ceil(ms / 1000)

/** The options that exist. A misspelt one must not be ignored: `whenaway: 'closed'` would let every request through. */
const KNOWN = ['client', 'permits', 'interval', 'name', 'key', 'whenAway', 'timeout', 'onError']

const check = <R>(options: RateLimitOptions<R>): RateLimitOptions<R> => {
  const read = checkOptions(options, KNOWN) as RateLimitOptions<R>
  const { client, permits, interval, name, key, whenAway, timeout, onError } = read
  checkFunction((client as Partial<Client> | undefined)?.rateLimiter, 'client.rateLimiter')
  checkAmount(permits, 'permits', 1)
  checkLease(interval, 'interval')
  if (name !== undefined) checkPolicyName(name)
  if (key !== undefined) checkFunction(key, 'key')
  if (!([undefined, 'open', 'closed'] as unknown[]).includes(whenAway))
    throw new TypeError(`whenAway must be 'open' or 'closed', not ${show(whenAway)}`)
  if (timeout !== undefined) checkLease(timeout, 'timeout')
  if (onError !== undefined) checkFunction(onError, 'onError')
  return read
}

/** In seconds: nobody knows when the server will be back. */
const SOON = '1'

/** What `key` returns. */
const keyOf = async <R>(
  key: NonNullable<RateLimitOptions<R>['key']>,
  request: R,
  name: string,
  ms: number,
): Promise<string> => {
  const whose = await given(key(request), `rate limit ${quoted(name)}: key()`, ms)
  if (typeof whose === 'string' && whose !== '') return whose
  throw new TypeError(
    `rate limit ${quoted(name)}: key() must return a non-empty text for each request, not ${show(whose)}`,
  )
}

const EFFECTS = { open: 'requests are let through uncounted', closed: 'requests are refused with 503' } as const

/** Decides about requests, for any framework. */
export const judge = <R>(
  wanted: RateLimitOptions<R>,
  addressOf: (request: R) => string | undefined,
): ((request: R) => Promise<Verdict>) => {
  const options = check(wanted)
  const { client, permits, interval, name = 'default', whenAway = 'open', timeout = 1000 } = options
  const { key = (request: R) => networkOf(addressOf(request)), onError } = options
  const rate = rateOf(permits, interval)
  const policy = { 'RateLimit-Policy': `"${name}";q=${permits};w=${seconds(interval)}` }
  const unasked: Verdict =
    whenAway === 'open'
      ? { headers: policy, refusal: undefined }
      : { headers: { ...policy, 'Retry-After': SOON }, refusal: { status: 503, text: 'Service Unavailable' } }
  const title = `rate limit ${quoted(name)}`
  const guard = new AwayDetector(timeout, troubleReport({ who: title, effect: () => EFFECTS[whenAway], onError }))

  const ask = (whose: string): Promise<RateDecision | undefined> =>
    guard.ask(async (signal) => countOne(client.rateLimiter(limiterName(name, rate, whose)), rate, signal))
  const from = async <T>(who: string, promise: Promise<T>): Promise<T> => {
    try {
      return await promise
    } catch (thrown) {
      throw asError(thrown, `${title}: ${who}`)
    }
  }

  return async (request) => {
    const whose = await from('key()', keyOf(key, request, name, timeout))
    const decision = await from('client', ask(partOf(whose)))
    if (decision === undefined) return unasked
    const { allowed, remaining, retryAfter } = decision
    const quota = `"${name}";r=${remaining}`
    if (allowed) return { headers: { ...policy, RateLimit: quota }, refusal: undefined }
    const wait = seconds(retryAfter)
    const headers = { ...policy, RateLimit: `${quota};t=${wait}`, 'Retry-After': String(wait) }
    return { headers, refusal: { status: 429, text: 'Too Many Requests' } }
  }
}

/** Adds to the fields that another limit has set for this request: both policies, and the longer time to wait. */
export const beside = (
  headers: Verdict['headers'],
  there: (name: string) => unknown,
): Readonly<Record<string, string>> => {
  const all = Object.entries(headers).map(([name, value]) => {
    const before = there(name)
    const known = typeof before === 'string' ? before : Array.isArray(before) ? before.join(', ') : ''
    if (known === '') return [name, value] as const
    if (name === 'Retry-After') return [name, Number(known) > Number(value) ? known : value] as const
    return [name, `${known}, ${value}`] as const
  })
  return Object.fromEntries(all)
}
