import type { Codec, CodecName } from './codec.js'

/** Options of `client.flight`. */
export interface FlightOptions {
  /** Encodes values for other processes. Default: the client's codec. */
  readonly codec?: Codec | CodecName | undefined
}

/** Options of `flight.run`. */
export interface FlightRunOptions {
  /**
   * A value that was computed within the last `ttl` ms is returned as it is. Default 0: only a value whose computation is running, or starts from now on, is
   * returned.
   */
  readonly ttl?: number | undefined
  /** A value that is older than `ttl` by at most this many ms is returned as well, while a new one is computed in the background. Default 0. */
  readonly stale?: number | undefined
  /**
   * Which stored values the call may return: `'fresh'`, those that are not older than `ttl` and `stale` by the server's clock; `'stored'`, each value that the
   * server still has, even if its clock was set back meanwhile. `'stored'` is for work that must not run twice: if what is stored cannot be read, the call rejects
   * with the code `WRONG_KIND` instead of computing. Default `'fresh'`.
   */
  readonly reuse?: 'fresh' | 'stored' | undefined
  /**
   * What to do if the computation of another call fails. `'share'` rejects with its error, or with a `FlightError` if it ran in another process; `'retry'`
   * computes here. Default `'share'`. If a call's own work throws, the call always rejects with that error.
   */
  readonly failure?: 'share' | 'retry' | undefined
  /** How long to wait for a value, ms. The time of this call's own work does not count. Default: no limit. */
  readonly wait?: number | undefined
  /**
   * If the process that computes dies, another process computes after this many ms. The lease is renewed when a third of it is over. Default: the client's
   * `watchdog`, 30 000.
   */
  readonly lease?: number | undefined
  /** Ends the call with its reason. Work that has begun goes on, because other calls may wait for its value. Default: none. */
  readonly signal?: AbortSignal | undefined
}

/** One computation. Your work receives it. */
export interface FlightRun {
  /** The key that the value is computed for. */
  readonly key: string
  /** Aborts when another process may compute the same value, or when the key was forgotten: stop the work then. */
  readonly signal: AbortSignal
  /** A fencing token: it grows with each computation of any key of this flight. */
  readonly token: bigint
}

/** The result of `flight.run`. */
export interface FlightResult<T> {
  /** What the work returned; if another process computed it, as the codec decoded it. */
  readonly value: T
  /** `false`: this very call computed it. */
  readonly shared: boolean
  /** How long ago it was computed, ms, by the server's clock. */
  readonly age: number
}

/** What the server knows about a key. */
export interface FlightState {
  /** The client that computes it now. */
  readonly by?: { readonly client: string; readonly label?: string | undefined } | undefined
  /** How the newest computation ended, and how many ms ago, for as long as the server keeps that. */
  readonly ended?: { readonly outcome: 'value' | 'failed'; readonly age: number } | undefined
}

/** Runs one computation at a time for each key, among all processes. All calls that ask for the same value meanwhile get it, too. */
export interface Flight {
  /** The name that you gave the flight. */
  readonly name: string
  /** Returns a value that is fresh enough, or computes one, or waits for the process that computes it. */
  run<T>(key: string, work: (run: FlightRun) => Promise<T> | T): Promise<FlightResult<T>>
  /** The same, with options. */
  run<T>(
    key: string,
    options: FlightRunOptions | undefined,
    work: (run: FlightRun) => Promise<T> | T,
  ): Promise<FlightResult<T>>
  /**
   * Forgets the value of a key, and stops its computation: no call sees the result, and the calls that wait for it compute again. `false`: there was neither a
   * value nor a computation.
   */
  forget(key: string): Promise<boolean>
  /** What the server knows about a key. */
  inspect(key: string): Promise<FlightState>
}
