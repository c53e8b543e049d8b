import type { Script } from '../../lua/script.js'
import type { RedissonVersion } from '../../api/client.js'

/** Who else is on the keys, and what they go by. */
export interface Fleet {
  /** The oldest Redisson. */
  readonly redisson: RedissonVersion
  /** How long a waiter in a line may be silent, ms. */
  readonly fairWaiterTimeout: number
  /** The lease of who names none, ms. */
  readonly watchdog: number
}

/** What a protocol needs to speak: see `Link.run`. */
export interface Runner {
  run<K extends readonly string[], A extends readonly (string | number | Uint8Array)[], R>(
    script: Script<K, A, R>,
    keys: K,
    args: A,
  ): Promise<R>
  /** Runs a script by which somebody may come to have something. Where the reply says so, the replicas are waited for: see `Replicas`. */
  take<K extends readonly string[], A extends readonly (string | number | Uint8Array)[], R>(
    script: Script<K, A, R>,
    keys: K,
    args: A,
    took: (reply: R) => boolean,
  ): Promise<R>
  /** PUBLISH, or SPUBLISH where Redisson would use it. */
  readonly publishCommand: string
  /** A script learns of all who listen to a channel, not only of those at one node. */
  readonly countsAll: boolean
  /** Whether this client may be among the listeners that the server counts. */
  mayBeCounted(channel: string): boolean
  readonly fleet: Fleet
}
