import { HitCounter } from './hit-counter.js'
import { partOf } from '../limiter-name.js'
import { show } from '../../check-arguments.js'
import { checkStore, type StoreOptions } from './store-options.js'

type Told = (error: Error | null, result?: { current: number; ttl: number }) => void

/** A store for @fastify/rate-limit. */
export interface FastifyStore {
  /** Counts a request. */
  incr(key: string, callback: Told, timeWindow: number, max: number): void
  /** What is counted for a key; one more than `max` if a request would be refused now. */
  read(key: string, callback: Told, timeWindow: number, max: number): void
  /** The store of a route with options of its own. */
  child(options: object): FastifyStore
}

/** What you pass as `store`. */
export type FastifyStoreClass = new (options: object) => FastifyStore

interface TheirOptions {
  readonly continueExceeding?: unknown
  readonly exponentialBackoff?: unknown
  readonly ban?: unknown
  readonly routeInfo?: { readonly method?: unknown; readonly url?: unknown } | undefined
}

/** A window that slides counts no refused requests: nothing can be computed from them. */
const refuseOthers = ({ continueExceeding, exponentialBackoff, ban }: TheirOptions): void => {
  const why = 'holdfast does not count refused requests'
  if (continueExceeding === true) throw new TypeError(`${why}, so continueExceeding must not be set`)
  if (exponentialBackoff === true) throw new TypeError(`${why}, so exponentialBackoff must not be set`)
  if (typeof ban === 'number' && ban > 0) throw new RangeError(`${why}, so ban must be 0 or absent, not ${show(ban)}`)
}

/** Each route with options of its own counts for itself. */
const scopeOf = ({ routeInfo }: TheirOptions): string => {
  const { method, url } = routeInfo ?? {}
  return typeof url === 'string' ? `${partOf(`${[method].flat().join(',')} ${url}`)} ` : ''
}

/** Calls back outside the promise: what the callback throws is no answer of the server. */
const tell = (promise: Promise<{ current: number; ttl: number }>, callback: Told): void => {
  promise.then(
    (result) => {
      process.nextTick(callback, null, result)
    },
    (error: unknown) => {
      process.nextTick(callback, error)
    },
  )
}

class RouteStore implements FastifyStore {
  readonly #counter: HitCounter
  readonly #scope: string

  constructor(counter: HitCounter, options: object) {
    refuseOthers(options)
    this.#counter = counter
    this.#scope = scopeOf(options)
  }

  incr(key: string, callback: Told, timeWindow: number, max: number): void {
    const counted = this.#counter.count(key, max, timeWindow, this.#scope)
    tell(
      counted.then(({ hits, reset }) => ({ current: hits, ttl: reset })),
      callback,
    )
  }

  read(key: string, callback: Told, timeWindow: number, max: number): void {
    const read = this.#counter.read(key, max, timeWindow, this.#scope)
    // A refused request is not counted: no permit left means that the limit is exceeded.
    tell(
      read.then((current) => ({ current: current < max ? current : max + 1, ttl: current === 0 ? 0 : timeWindow })),
      callback,
    )
  }

  child(options: object): FastifyStore {
    return new RouteStore(this.#counter, options)
  }
}

/** A store for @fastify/rate-limit: `app.register(rateLimit, { max: 100, timeWindow: 60_000, store: fastifyRateLimitStore({ client }) })`. */
export const fastifyRateLimitStore = (options: StoreOptions): FastifyStoreClass => {
  const counter = new HitCounter(checkStore(options))
  return class extends RouteStore {
    constructor(theirs: object) {
      super(counter, theirs)
    }
  }
}
