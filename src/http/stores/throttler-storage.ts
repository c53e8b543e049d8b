import { show } from '../../check-arguments.js'
import { HitCounter } from './hit-counter.js'
import { checkStore, type StoreOptions } from './store-options.js'

/** What the guard learns. Times are in seconds. */
export interface ThrottlerRecord {
  /** How many requests of this key are in the window. */
  totalHits: number
  /** When the window will be empty. */
  timeToExpire: number
  /** Whether this request is refused. */
  isBlocked: boolean
  /** Refused: when a permit will be free. Otherwise 0. */
  timeToBlockExpire: number
}

/** A storage for @nestjs/throttler. */
export interface ThrottlerLimiterStorage {
  /** Counts a request. */
  increment(
    key: string,
    ttl: number,
    limit: number,
    blockDuration: number,
    throttlerName: string,
  ): Promise<ThrottlerRecord>
}

const seconds = (ms: number): number => Math.ceil(ms / 1000)

/** A storage for @nestjs/throttler 6: `ThrottlerModule.forRoot({ throttlers: [{ ttl: 60_000, limit: 100 }], storage: throttlerStorage({ client }) })`. */
export const throttlerStorage = (options: StoreOptions): ThrottlerLimiterStorage => {
  const counter = new HitCounter(checkStore(options))
  return {
    async increment(key, ttl, limit, blockDuration) {
      // The throttler's default is the ttl.
      if (blockDuration !== 0 && blockDuration !== ttl)
        throw new RangeError(
          `holdfast blocks until a permit is free, so blockDuration must be 0 or absent, not ${show(blockDuration)}`,
        )
      const { hits, reset } = await counter.count(key, limit, ttl)
      const isBlocked = hits > limit
      return {
        totalHits: hits,
        timeToExpire: seconds(isBlocked ? ttl : reset),
        isBlocked,
        timeToBlockExpire: isBlocked ? seconds(reset) : 0,
      }
    },
  }
}
