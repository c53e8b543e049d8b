import { createHash } from 'node:crypto'
import type { Client } from '../api/client.js'
import { systemClock } from '../base/clock.js'
import { checkAmount, checkFunction, checkLease, checkOptions, show } from '../check-options.js'
import type { Rate, RateDecision } from '../api/rate-limiter.js'
import { networkOf } from './address.js'
import { Guard } from './guard.js'
import { errorOf, isError, isPromise, settled } from '../thrown.js'
import { quoted } from '../plain-text.js'

/** What is limited, for whom, and by which client. */
export interface RateLimitOptions<R> {
  /** Whose limiters count. */
  readonly client: Pick<Client, 'rateLimiter'>
  /** So many requests of one key in any `interval` ms. */
  readonly permits: number
  /** ms */
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

/** One that is misspelt must not be ignored: `whenaway: 'closed'` would let all through. */
const KNOWN = ['client', 'permits', 'interval', 'name', 'key', 'whenAway', 'timeout']

const check = <R>(options: RateLimitOptions<R>): RateLimitOptions<R> => {
  const read = checkOptions(options, KNOWN) as RateLimitOptions<R>
  const { client, permits, interval, name, key, whenAway, timeout } = read
  checkFunction((client as Partial<Client> | undefined)?.rateLimiter, 'client.rateLimiter')
  checkAmount(permits, 'permits', 1)
  checkLease(interval, 'interval')
  if (name !== undefined && !/^[\w.-]+$/.test(name))
    throw new TypeError(`name must be of letters, digits, '-', '_' and '.', not ${show(name)}`)
  if (key !== undefined) checkFunction(key, 'key')
  if (!([undefined, 'open', 'closed'] as unknown[]).includes(whenAway))
    throw new TypeError(`whenAway must be 'open' or 'closed', not ${show(whenAway)}`)
  if (timeout !== undefined) checkLease(timeout, 'timeout')
  return read
}

/** They say where in a cluster a name belongs: that is not for whoever sends a request to choose. */
const BRACES = /[{}%]/g

/** Whoever sends requests must not choose how much the server keeps of each. */
const LONGEST_KEY = 100
const SHOWN = 60

/** A key as part of a name. A long one is its beginning and a hash, and longer than any that is there as it was given: none can be taken for another. */
const partOf = (key: string): string => {
  const part = key.replace(BRACES, encodeURIComponent)
  if (part.length <= LONGEST_KEY) return part
  const shown = part.slice(0, SHOWN).replace(/[\ud800-\udbff]$/, '')
  return `${shown}~${createHash('sha256').update(part).digest('hex')}`
}

/** What no framework takes for something else: Express goes on with the request for `undefined`, and leaves the route for 'route'. */
export const asError = (thrown: unknown, who: string): Error =>
  errorOf(
    thrown,
    `${who} threw ${isError(thrown) ? 'an Error that cannot be read' : `${show(thrown)}, which is not an Error`}`,
  )

/** What `key` gives. One that never does would keep its request for ever. */
const keyOf = async <R>(
  key: NonNullable<RateLimitOptions<R>['key']>,
  request: R,
  name: string,
  ms: number,
): Promise<string> => {
  const given: unknown = key(request)
  const whose = isPromise(given) ? await settledIn(given, name, ms) : given
  if (typeof whose === 'string' && whose !== '') return whose
  throw new TypeError(
    `rate limit ${quoted(name)}: key() must give text that is not empty for each request, not ${show(whose)}`,
  )
}

const settledIn = (given: unknown, name: string, ms: number): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const timer = systemClock.setTimer(() => {
      reject(new Error(`rate limit ${quoted(name)}: the promise of key() did not settle within ${ms} ms`))
    }, ms)
    void settled(given)
      .then(resolve, reject)
      .finally(() => {
        timer.cancel()
      })
  })

/** Judges requests, for whatever framework. */
export const judge = <R>(
  wanted: RateLimitOptions<R>,
  addressOf: (request: R) => string | undefined,
): ((request: R) => Promise<Verdict>) => {
  const options = check(wanted)
  const { client, permits, interval, name = 'default', whenAway = 'open', timeout = 1000 } = options
  const { key = (request: R) => networkOf(addressOf(request)) } = options
  const rate: Rate = { permits, interval, keepAlive: Math.max(interval, KEPT) }
  const policy = { 'RateLimit-Policy': `"${name}";q=${permits};w=${seconds(interval)}` }
  const unasked: Verdict['refusal'] = whenAway === 'open' ? undefined : { status: 503, text: 'Service Unavailable' }
  const guard = new Guard(timeout)

  const ask = (whose: string): Promise<RateDecision | undefined> =>
    guard.ask(async (signal) =>
      // Another rate is another limiter: what runs with the old settings still goes by them.
      client.rateLimiter(`${name}:${permits}/${interval}:${whose}`).tryAcquire({ rate, late: 'counts', signal }),
    )
  const from = async <T>(who: string, promise: Promise<T>): Promise<T> => {
    try {
      return await promise
    } catch (thrown) {
      throw asError(thrown, `rate limit ${quoted(name)}: ${who}`)
    }
  }

  return async (request) => {
    const whose = await from('key()', keyOf(key, request, name, timeout))
    const decision = await from('client', ask(partOf(whose)))
    if (decision === undefined) return { headers: policy, refusal: unasked }
    const { allowed, remaining, retryAfter } = decision
    const quota = `"${name}";r=${remaining}`
    if (allowed) return { headers: { ...policy, RateLimit: quota }, refusal: undefined }
    const wait = seconds(retryAfter)
    const headers = { ...policy, RateLimit: `${quota};t=${wait}`, 'Retry-After': String(wait) }
    return { headers, refusal: { status: 429, text: 'Too Many Requests' } }
  }
}

/** Beside what another limit has said of this request: both policies, and the longer time to wait. */
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
