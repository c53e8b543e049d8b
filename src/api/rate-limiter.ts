import type { Kept } from './kept.js'
import type { SemaphoreOptions } from './semaphore.js'
import type { SetupOptions } from './wait-options.js'

/** How many permits there are in any interval, no matter when it begins. */
export interface Rate {
  /** How many permits in each interval. */
  readonly permits: number
  /** The length of the interval, ms. */
  readonly interval: number
  /** `overall`: all clients together have this rate. `client`: each client has it. Default `overall`. */
  readonly scope?: 'overall' | 'client' | undefined
  /** Deletes the limiter if nobody has used it for this many ms. Must be at least the interval. Default: it stays. */
  readonly keepAlive?: number | undefined
}

/** A rate that replaces another. */
export interface RateOptions extends Rate {
  /** Permits that were granted before still count. Default `false`, as in Redisson: all permits of the new rate are available. */
  readonly keepState?: boolean | undefined
}

/** Options of `rateLimiter.tryAcquire`. */
export interface RateTryOptions extends SemaphoreOptions {
  /** Set first, in the same call, if the limiter has no rate, so that the call does not reject with a `NotInitializedError`. Default: none. */
  rate?: Rate | undefined
  /**
   * What happens to the permits if the answer comes too late, after an abort, or not at all. Default: they are released, which may take many
   * attempts. With `'counts'`, they count as used, and nothing more is sent for the call.
   */
  late?: 'counts' | undefined
}

/** The result of `rateLimiter.tryAcquire`. */
export interface RateDecision {
  /** Whether the call acquired the permits. */
  readonly allowed: boolean
  /** How many permits are left. */
  readonly remaining: number
  /** In how many ms there will be enough permits, if nobody else acquires them; 0 if allowed. */
  readonly retryAfter: number
}

/**
 * Grants at most a fixed number of permits in any interval: a window that slides, by the server's clock. Calls of one process that wait are served in order. Each
 * step is done once, even if its answer is lost. Until a rate is set, calls that acquire permits, look at them or give them back reject with a
 * `NotInitializedError`. A call for more permits than the rate rejects with a `RangeError`. In Redisson: RRateLimiter.
 */
export interface RateLimiter extends Kept {
  /** Sets the rate if none is set. `false`: there is one, and it stays as it is. */
  trySetRate(rate: Rate): Promise<boolean>
  /** Sets the rate, whether or not one is set. */
  setRate(rate: RateOptions): Promise<void>
  /** Sets the rate only if one is set. `false`: none is set, and nothing changes. */
  updateRate(rate: RateOptions): Promise<boolean>
  /** The rate; `undefined`: none is set. */
  rate(): Promise<Rate | undefined>
  /**
   * Waits for the permits. If you abort the call, or it times out, it has acquired nothing. Rejects with the same errors as a semaphore; it does not wait for
   * replicas.
   */
  acquire(options?: SemaphoreOptions & SetupOptions): Promise<void>
  /** Not allowed if it could not acquire the permits within `wait` (default 0). Still rejects if the signal aborts. */
  tryAcquire(options?: RateTryOptions): Promise<RateDecision>
  /** How many permits are left at this moment. */
  available(): Promise<number>
  /** Releases permits that you did not use. A waiter may get them at once. */
  release(permits?: number): Promise<void>
}
