import type { Codec, CodecName } from './codec.js'

/** How values are shared. */
export interface FlightOptions {
  /** How values are written for the others. Default: the client's codec. */
  readonly codec?: Codec | CodecName | undefined
}

/** How a call wants its value. */
export interface FlightRunOptions {
  /** A value that was computed within the last so many ms is returned as it is. Default 0: only values that are computed from now on, or are being computed. */
  readonly ttl?: number | undefined
  /** A value that is older than `ttl` by at most so many ms is returned as well, while a new one is computed in the background. Default 0. */
  readonly stale?: number | undefined
  /**
   * What to do when the computation of another call fails: reject with a `FlightError`, or compute here. Default `'share'`. The call whose own work throws always rejects with
   * that error.
   */
  readonly failure?: 'share' | 'retry' | undefined
  /** How long to wait for a value, ms. The time for which this call's own work runs does not count. Default: no limit. */
  readonly wait?: number | undefined
  /** After how many ms another process computes when the one that does has died. It is renewed each third of it. Default: the client's `watchdog`, 30 000. */
  readonly lease?: number | undefined
  /** Ends the call with its reason. Work that has begun goes on, since others may wait for its value. */
  readonly signal?: AbortSignal | undefined
}

/** One computation, given to its work. */
export interface FlightRun {
  /** What it is computed for. */
  readonly key: string
  /** Aborts when another process may compute the same, or the key was forgotten: stop then. */
  readonly signal: AbortSignal
  /** A fencing token: grows with each computation of any key of this flight. */
  readonly token: bigint
}

/** A value. */
export interface FlightResult<T> {
  /** What the work returned; of another process, as the codec read it. */
  readonly value: T
  /** `false`: this very call computed it. */
  readonly shared: boolean
  /** How long ago it was computed, ms, by the server's clock. */
  readonly age: number
}

/** What the server knows of a key. */
export interface FlightState {
  /** The client that computes it now. */
  readonly by?: { readonly client: string; readonly label?: string | undefined } | undefined
  /** How the newest computation ended, and how long ago, ms; as long as that is kept. */
  readonly ended?: { readonly outcome: 'value' | 'failed'; readonly age: number } | undefined
}

/** One computation at a time for each key, among all processes; whoever else asks for the same value meanwhile gets it, too. */
export interface Flight {
  /** As it was given to the client. */
  readonly name: string
  /** Returns a value that is fresh enough, or computes one, or waits for the process that does. */
  run<T>(key: string, work: (run: FlightRun) => Promise<T> | T): Promise<FlightResult<T>>
  /** The same, with options. */
  run<T>(
    key: string,
    options: FlightRunOptions | undefined,
    work: (run: FlightRun) => Promise<T> | T,
  ): Promise<FlightResult<T>>
  /**
   * Forgets the value of a key, and stops its computation: nobody sees its result, and whoever waits for it computes anew. `false`: there was neither.
   */
  forget(key: string): Promise<boolean>
  /** What is known of a key. */
  inspect(key: string): Promise<FlightState>
}
