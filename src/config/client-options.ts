import type { Codec, CodecName } from '../api/codec.js'
import type { JavaCodec } from '../codecs/java-codec.js'
import type { Clock } from '../base/clock.js'
import type { FullTlsOptions, TlsOptions } from '../engine/endpoint.js'
import type { Deadlocks } from '../api/deadlock.js'
import type { RedissonVersion } from '../api/client.js'
import type { ReleaseMode } from '../api/hold.js'
import type { Logger } from '../api/monitoring.js'
import type { RetryOptions } from './retry-option.js'
import type { Place } from './url.js'
import type { WatchdogOptions } from './watchdog-option.js'

/** Options of `connect`. */
export interface ClientOptions {
  /** The URL of the server: see `connect`. Default: `HOLDFAST_URL`, else `REDIS_URL`. */
  url?: string | undefined
  /** Your own client of ioredis (5, 6), node-redis (5, 6) or Valkey GLIDE (2.3), instead of `url`. You own it, and you close it. Default: none. */
  connection?: object | undefined
  /**
   * With `rediss:`, `valkeys:` or `rediss+…:`: which certificates are trusted, and the client's own. Default: those that Node trusts, and no
   * certificate of its own.
   */
  tls?: TlsOptions | undefined
  /**
   * The path of Redisson's own configuration, YAML or JSON, or of Spring's application.yml that contains or names it. Instead of `url`. Other
   * options override the file. Default: none.
   */
  file?: string | undefined
  /** Functions that replace the Java classes that a file may name as `nameMapper`. Each key is the name of a class. Default: none. */
  nameMappers?: Readonly<Record<string, (name: string) => string>> | undefined
  /**
   * The lease of holds that are acquired without one, ms. It is renewed when a third of it is over, while the hold lives. Default 30 000.
   * `{ lease, thread: true, maxBlocked }`: a thread renews it, too, so that work that blocks the event loop does not lose its lock.
   */
  watchdog?: number | WatchdogOptions | undefined
  /**
   * How long a waiter of a fair lock may be silent, ms; Redisson's fairLockWaitTimeout. Set it to at least the largest value of all clients on these keys.
   * Default 300 000, as in Redisson; 5000 with `redisson: '3.8'`. At most 2 147 483 647 (24.8 days), like the other timeouts.
   */
  fairWaiterTimeout?: number | undefined
  /** The oldest version of Redisson on these keys. Fair locks, ids of permits and rate limiters follow its rules: see the guide. Default '4'. */
  redisson?: RedissonVersion | undefined
  /** Maps a name to its key, like Redisson's NameMapper. Default: the key is the name. */
  mapName?: ((name: string) => string) | undefined
  /**
   * After each acquisition, the client waits for the server's replicas, as Redisson does. If none of them has it within `timeout` ms, the client
   * gives it back, and the call rejects with `ReplicationError`. Without replicas, nothing happens. Default `{ sync: true, timeout: 1000 }`, with a
   * shorter timeout if half of `commandTimeout` is less.
   */
  replicas?: { readonly sync?: boolean | undefined; readonly timeout?: number | undefined } | undefined
  /**
   * Encodes the messages of topics, the values of flights and leaders, and the keys of a group: plain JSON, `'jackson'` for Redisson's JsonJacksonCodec,
   * `'string'`, `'long'`, `'bytes'`, or a codec of your own. Default 'json'. Scripts have a codec of their own.
   */
  codec?: CodecName | Codec | undefined
  /** How long to wait for a connection to the server, ms. Default 10 000. */
  connectTimeout?: number | undefined
  /**
   * Lets your program start before its server: while the server cannot be reached, or is not ready, `connect` retries, after pauses of 2 s at most.
   * `{ timeout, signal }` limit that. An error that only another setting would fix, such as a wrong password, rejects at once. Default false.
   */
  retry?: boolean | RetryOptions | undefined
  /** How long a command waits for its reply, ms. Default 3000. */
  commandTimeout?: number | undefined
  /** How many acquire calls may wait in this client. Any more reject with `BusyError`. Default: any number. */
  maxWaiters?: number | undefined
  /**
   * When `release()` and the end of a `using` resolve: `'answered'`, when the server has answered; `'sent'`, as soon as the command is written. A single call can
   * choose, too: see the guide. Default 'answered'.
   */
  release?: ReleaseMode | undefined
  /** The clock that the client uses. Default: the system's. `virtualClock(seed)` of `holdfast/testing` makes `memory:` deterministic. */
  clock?: Clock | undefined
  /** A text for people: `inspect` shows it wherever this client holds a lock or waits for it. Default: host and pid. */
  label?: string | undefined
  /** Whether the server keeps the label, in a small key of this client. Default true. */
  presence?: boolean | undefined
  /**
   * What the client does if its calls and calls of other processes wait for one another. `'report'`: emits `deadlock` and logs a warning. `'break'`: also rejects the
   * youngest call, if it is this client's. `'off'`: neither looks nor tells. Needs `presence`. Default 'report'.
   */
  deadlocks?: Deadlocks | undefined
  /** Receives the client's log messages, and errors that have no listener. Default: silent. */
  logger?: Logger | undefined
}

/** What a configuration file says. */
export interface Filed {
  readonly place: Place
  readonly tls: FullTlsOptions
  readonly options: ClientOptions
  readonly javaCodec: JavaCodec
  readonly sharded: boolean | undefined
  readonly warnings: readonly string[]
}
