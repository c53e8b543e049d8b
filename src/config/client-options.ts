import type { Codec, CodecName } from '../api/codec.js'
import type { JavaCodec } from '../codecs/java-codec.js'
import type { Clock } from '../base/clock.js'
import type { FullTlsOptions, TlsOptions } from '../engine/endpoint.js'
import type { RedissonVersion } from '../api/client.js'
import type { Logger } from '../api/monitoring.js'
import type { RetryOptions } from './retry-option.js'
import type { Place } from './url.js'

/** What `connect` takes. */
export interface ClientOptions {
  /** Where: see `connect`. Default: HOLDFAST_URL, else REDIS_URL. */
  url?: string | undefined
  /** A client of ioredis (5, 6), node-redis (5, 6) or Valkey GLIDE (2.3) that the caller owns and closes. Instead of `url`. */
  connection?: object | undefined
  /** With `rediss:`, `valkeys:` or `rediss+…:`: who is believed, and this client's certificate. */
  tls?: TlsOptions | undefined
  /**
   * Redisson's own configuration, YAML or JSON, or Spring's application.yml that holds it or names it. Instead of `url`; what
   * other options say goes before it.
   */
  file?: string | undefined
  /** What stands for the Java classes that a file may name as `nameMapper`, by their names. */
  nameMappers?: Readonly<Record<string, (name: string) => string>> | undefined
  /** Lease of holds taken without one; renewed every third of it while the hold lives. Default 30 000. */
  watchdog?: number | undefined
  /**
   * How long a waiter of a fair lock may be silent, Redisson's fairLockWaitTimeout: at least the largest of all clients on the
   * keys. Default 300 000, as Redisson's is; 5000 with `redisson: '3.8'`. At most 2 147 483 647 (24.8 days), like the other time-outs.
   */
  fairWaiterTimeout?: number | undefined
  /** The oldest Redisson on these keys: fair locks, ids of permits and rate limiters follow its rules, see the guide. Default '4'. */
  redisson?: RedissonVersion | undefined
  /** Redisson's NameMapper: from the name to the key. Default: as it is. */
  mapName?: ((name: string) => string) | undefined
  /**
   * After each acquisition the server's replicas are waited for, as Redisson does: when none has it within `timeout` ms, it is
   * given back and the call rejects with `ReplicationError`. Default `{ sync: true, timeout: 1000 }`; nothing without replicas.
   */
  replicas?: { readonly sync?: boolean | undefined; readonly timeout?: number | undefined } | undefined
  /**
   * Of topics' messages: plain JSON, `'jackson'` for Redisson's JsonJacksonCodec, `'string'`, `'long'`, `'bytes'`, or one of your
   * own. Default 'json'. Scripts have theirs.
   */
  codec?: CodecName | Codec | undefined
  /** Default 10 000. */
  connectTimeout?: number | undefined
  /**
   * `connect` may come before its server: while that cannot be reached, or is not ready, it tries again, after 2 s at most.
   * `{ timeout, signal }` limit that. What only another setting would mend, such as a password, rejects at once. Default false.
   */
  retry?: boolean | RetryOptions | undefined
  /** No command waits longer for its reply. Default 3000. */
  commandTimeout?: number | undefined
  /** How many acquire calls may wait in this client before `BusyError`. Default: any number. */
  maxWaiters?: number | undefined
  /** Default: the system's. `virtualClock(seed)` of `holdfast/testing` makes `memory:` deterministic. */
  clock?: Clock | undefined
  /** Shown to people where this client holds or waits. Default: host and pid. */
  label?: string | undefined
  /** Whether the label is kept in a small key of this client. Default true. */
  presence?: boolean | undefined
  /** Default: silent. */
  logger?: Logger | undefined
}

/** What a file says. */
export interface Filed {
  readonly place: Place
  readonly tls: FullTlsOptions
  readonly options: ClientOptions
  readonly javaCodec: JavaCodec
  readonly sharded: boolean | undefined
  readonly warnings: readonly string[]
}
