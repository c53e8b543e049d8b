import type { Kept } from './kept.js'
import type { SemaphoreOptions } from './semaphore.js'
import type { SetupOptions } from './wait-options.js'

/** So many permits in each interval, wherever it begins. */
export interface Rate {
  /** How many in each interval. */
  readonly permits: number
  /** ms */
  readonly interval: number
  /** `overall`: of all clients together. `client`: of each. Default `overall`. */
  readonly scope?: 'overall' | 'client' | undefined
  /** The limiter goes when nobody asked it for so many ms; at least the interval. Default: it stays. */
  readonly keepAlive?: number | undefined
}

/** A rate that takes the place of another. */
export interface RateOptions extends Rate {
  /** Permits granted before still count. Default `false`, as in Redisson: all permits of the new rate are available. */
  readonly keepState?: boolean | undefined
}

/** Of one try. */
export interface RateTryOptions extends SemaphoreOptions {
  /** Set first, in the same call, where the limiter has no rate: nobody gets a `NotInitializedError`. */
  rate?: Rate | undefined
  /**
   * What becomes of permits whose answer comes too late, after an abort or not at all. They are given back, which may have to be
   * tried for long; or else they `counts`: nothing more is sent for the call.
   */
  late?: 'counts' | undefined
}

/** What came of a try. */
export interface RateDecision {
  /** Whether the permits were acquired. */
  readonly allowed: boolean
  /** How many permits are left. */
  readonly remaining: number
  /** In how many ms there will be enough, if nobody else takes them; 0 when allowed. */
  readonly retryAfter: number
}

/**
 * No more than so many permits in any interval, Redisson's RRateLimiter: a window that slides, by the server's clock. Calls of
 * one process that wait are served in their order. A step is done once, also when its answer is lost. Before a rate is set all
 * that take, look or give back reject with a `NotInitializedError`, and who wants more than the rate with a `RangeError`.
 */
export interface RateLimiter extends Kept {
  /** Sets the rate. `false`: there is one, and stays as it is. */
  trySetRate(rate: Rate): Promise<boolean>
  /** Sets the rate, whatever it was. */
  setRate(rate: RateOptions): Promise<void>
  /** Sets the rate where one is set. `false`: none is, and nothing changes. */
  updateRate(rate: RateOptions): Promise<boolean>
  /** `undefined`: none is set. */
  rate(): Promise<Rate | undefined>
  /** Waits for the permits. Aborting or timing out leaves nothing taken. Rejects as a semaphore's; it waits for no replicas. */
  acquire(options?: SemaphoreOptions & SetupOptions): Promise<void>
  /** Not allowed when they are not had within `wait` (default 0). An abort still rejects. */
  tryAcquire(options?: RateTryOptions): Promise<RateDecision>
  /** How many permits are left in this moment. */
  available(): Promise<number>
  /** Gives back what was not used: a waiter may get it at once. */
  release(permits?: number): Promise<void>
}
