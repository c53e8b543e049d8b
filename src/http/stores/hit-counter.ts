import type { Rate, RateLimiter } from '../../api/rate-limiter.js'
import { EngineError, NotInitializedError } from '../../errors.js'
import { quoted } from '../../plain-text.js'
import { AwayDetector } from '../away-detector.js'
import { troubleReport } from '../report-trouble.js'
import { countOne, limiterName, partOf, rateOf } from '../limiter-name.js'
import type { StoreOptions } from './store-options.js'

/** What a store tells its framework about a key. */
export interface Hits {
  /** How many requests are in the window. A refused one is not: it gets `permits + 1`. */
  readonly hits: number
  /** ms: refused, until a request would be let through; otherwise, until the window has forgotten them all. */
  readonly reset: number
  /** Whether this request took a permit. */
  readonly counted: boolean
}

/** The key as the framework made it. All requests without one count together. */
const keyText = (key: unknown): string => {
  if (typeof key === 'number') return String(key)
  return typeof key === 'string' && key !== '' ? key : 'unknown'
}

/** Counts requests with a limiter for each key. */
export class HitCounter {
  readonly #client: StoreOptions['client']
  readonly #isOpen: boolean
  readonly #guard: AwayDetector
  readonly name: string

  constructor({ client, name = 'default', whenAway, timeout = 1000, onError }: StoreOptions) {
    this.#client = client
    this.#isOpen = whenAway === 'open'
    const effect = (): string => (this.#isOpen ? 'requests are let through uncounted' : 'the store rejects')
    const report = troubleReport({ who: `rate limit ${quoted(name)}`, effect, onError })
    this.#guard = new AwayDetector(timeout, this.#isOpen || onError !== undefined ? report : undefined)
    this.name = name
  }

  /** Counts a request. `scope` is part of the key. */
  async count(key: unknown, permits: number, interval: number, scope = ''): Promise<Hits> {
    if (permits === 0) return { hits: 1, reset: interval, counted: false }
    const rate = rateOf(permits, interval)
    const limiter = this.#limiter(key, rate, scope)
    const decision = await this.#ask((signal) => countOne(limiter, rate, signal))
    if (decision === undefined) return { hits: 1, reset: interval, counted: false }
    const { allowed, remaining, retryAfter } = decision
    if (!allowed) return { hits: permits + 1, reset: retryAfter, counted: false }
    return { hits: Math.max(1, permits - remaining), reset: interval, counted: true }
  }

  /** What is counted for a key, without counting. */
  async read(key: unknown, permits: number, interval: number, scope = ''): Promise<number> {
    if (permits === 0) return 0
    const limiter = this.#limiter(key, rateOf(permits, interval), scope)
    const left = await this.#ask(() => orUndefined(limiter.available()))
    return permits - (left ?? permits)
  }

  /** Takes back a request that was counted. If the server cannot be asked, the request counts. */
  async takeBack(key: unknown, permits: number, interval: number): Promise<void> {
    const limiter = this.#limiter(key, rateOf(permits, interval))
    await this.#guard.ask(() => orUndefined(limiter.release(1)))
  }

  /** Forgets a key. Rejects if the server does not do it. */
  async forget(key: unknown, permits: number, interval: number): Promise<void> {
    const limiter = this.#limiter(key, rateOf(permits, interval))
    await this.#ask(() => limiter.delete(), false)
  }

  #limiter(key: unknown, rate: Rate, scope = ''): RateLimiter {
    return this.#client.rateLimiter(limiterName(this.name, rate, `${scope}${partOf(keyText(key))}`))
  }

  /** Undefined: no decision, and requests are let through then. */
  async #ask<T>(question: (signal: AbortSignal) => Promise<T>, isOpen = this.#isOpen): Promise<T | undefined> {
    let refusal: { readonly cause: unknown } | undefined
    const answer = await this.#guard.ask(async (signal) => {
      try {
        return { given: await question(signal) }
      } catch (cause) {
        refusal = { cause }
        throw cause
      }
    })
    if (answer !== undefined || isOpen) return answer?.given
    const what = `rate limit ${quoted(this.name)}: the server did not decide about the request`
    throw new EngineError('OFFLINE', what, refusal)
  }
}

/** A limiter that has expired has nothing to look at. */
const orUndefined = async <T>(promise: Promise<T>): Promise<T | undefined> => {
  try {
    return await promise
  } catch (error) {
    if (error instanceof NotInitializedError) return undefined
    throw error
  }
}
