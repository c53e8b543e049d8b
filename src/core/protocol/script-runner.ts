import type { Script } from '../../lua/script.js'
import type { RedissonVersion } from '../../api/client.js'

/** Which other clients may use the keys, and their settings. */
export interface Fleet {
  /** The oldest Redisson version. */
  readonly redisson: RedissonVersion
  /** ms. How long a waiter in a line may be silent. */
  readonly fairWaiterTimeout: number
  /** ms. The lease if a call names none. */
  readonly watchdog: number
}

/** What a protocol needs to run its scripts: see `Link.run`. */
export interface ScriptRunner {
  run<K extends readonly string[], A extends readonly (string | number | Uint8Array)[], R>(
    script: Script<K, A, R>,
    keys: K,
    args: A,
  ): Promise<R>
  /** Runs a script that may acquire. If the reply says that it did, waits for the replicas: see `Replicas`. */
  take<K extends readonly string[], A extends readonly (string | number | Uint8Array)[], R>(
    script: Script<K, A, R>,
    keys: K,
    args: A,
    took: (reply: R) => boolean,
  ): Promise<R>
  /** PUBLISH, or SPUBLISH if Redisson would use it. */
  readonly publishCommand: string
  /** Whether a script sees all subscribers of a channel, and not only those at one node. */
  readonly countsAll: boolean
  /** Whether this client may be among the subscribers that the server counts. */
  mayBeCounted(channel: string): boolean
  readonly fleet: Fleet
}
