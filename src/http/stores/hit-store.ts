import { AsyncLocalStorage } from 'node:async_hooks'
import { dateAt, systemClock } from '../../base/clock.js'
import { checkAmount, checkLease, show } from '../../check-arguments.js'
import { HitCounter } from './hit-counter.js'
import { checkStore, type StoreOptions } from './store-options.js'

/** Options of `expressRateLimitStore` and `honoRateLimiterStore`. */
export interface HitStoreOptions extends StoreOptions {
  /**
   * The most requests that one key may make in a window. Needed only if the framework's `limit` is a function: the largest number that it returns. Default: the
   * framework's `limit`.
   */
  readonly permits?: number | undefined
}

/** What the framework learns about a key. */
export interface HitInfo {
  /** How many requests of this key are in the window. */
  totalHits: number
  /** Refused: when a request would be let through. Otherwise: when the window will be empty. */
  resetTime: Date
}

/** The part of the framework's options that a store uses. */
export interface HitLimit {
  /** The length of the window, ms. */
  readonly windowMs: number
  /** How many requests a key may make in the window. */
  readonly limit?: unknown
}

/** A store for express-rate-limit, and for hono-rate-limiter. */
export interface HitStore {
  /** Part of the keys, so that two limits of one request are not mistaken for one. */
  readonly prefix: string
  /** `false`: all processes count together. */
  readonly localKeys: false
  /** Takes the limit and the window from the framework's options. */
  init(options: HitLimit): void
  /** Counts a request. */
  increment(key: string): Promise<HitInfo>
  /** Takes back the request that was counted, unless it was refused. */
  decrement(key: string): Promise<void>
  /** What is counted for a key; undefined if nothing is. */
  get(key: string): Promise<HitInfo | undefined>
  /** Forgets a key. */
  resetKey(key: string): Promise<void>
}

interface Window {
  readonly permits: number
  readonly interval: number
}

const infoOf = (hits: number, reset: number): HitInfo => ({
  totalHits: hits,
  resetTime: dateAt(systemClock.now() + reset),
})

const permitsOf = (limit: unknown): number => {
  if (typeof limit !== 'number')
    throw new TypeError(
      `if limit is a function, the store needs permits, the most that it returns; limit is ${show(limit)}`,
    )
  return checkAmount(limit, 'limit', 0)
}

class LimiterStore implements HitStore {
  readonly localKeys = false
  readonly #counter: HitCounter
  readonly #permits: number | undefined
  #window: Window | undefined
  /** What the request around a call came to: its `decrement` comes from the same request, which it does not name. */
  readonly #request = new AsyncLocalStorage<{ readonly key: string; counted: boolean }>()

  constructor(options: HitStoreOptions) {
    const { permits, ...rest } = checkStore(options, ['permits'])
    if (permits !== undefined) checkAmount(permits, 'permits', 1)
    this.#permits = permits
    this.#counter = new HitCounter(rest)
  }

  get prefix(): string {
    return this.#counter.name
  }

  init({ windowMs, limit }: HitLimit): void {
    this.#window = { permits: this.#permits ?? permitsOf(limit), interval: checkLease(windowMs, 'windowMs') }
  }

  // Not async: the caller must see the request's own entry after the call.
  increment(key: string): Promise<HitInfo> {
    const request = { key, counted: false }
    this.#request.enterWith(request)
    return this.#count(key, request)
  }

  async #count(key: string, request: { counted: boolean }): Promise<HitInfo> {
    const { permits, interval } = this.#opened()
    const { hits, reset, counted } = await this.#counter.count(key, permits, interval)
    request.counted = counted
    return infoOf(hits, reset)
  }

  async decrement(key: string): Promise<void> {
    const last = this.#request.getStore()
    const request = last?.key === key ? last : undefined
    if (request?.counted === false) return
    if (request !== undefined) request.counted = false
    const { permits, interval } = this.#opened()
    await this.#counter.takeBack(key, permits, interval)
  }

  async get(key: string): Promise<HitInfo | undefined> {
    const { permits, interval } = this.#opened()
    const hits = await this.#counter.read(key, permits, interval)
    return hits === 0 ? undefined : infoOf(hits, interval)
  }

  async resetKey(key: string): Promise<void> {
    const { permits, interval } = this.#opened()
    if (permits > 0) await this.#counter.forget(key, permits, interval)
  }

  #opened(): Window {
    if (this.#window === undefined) throw new TypeError('the store has no limit: its init did not succeed')
    return this.#window
  }
}

/** A store for express-rate-limit 7 and 8: `rateLimit({ limit: 100, windowMs: 60_000, store: expressRateLimitStore({ client }) })`. */
export const expressRateLimitStore = (options: HitStoreOptions): HitStore => new LimiterStore(options)

/** A store for hono-rate-limiter 0.5: `rateLimiter({ limit: 100, windowMs: 60_000, keyGenerator, store: honoRateLimiterStore({ client }) })`. */
export const honoRateLimiterStore = (options: HitStoreOptions): HitStore => new LimiterStore(options)
