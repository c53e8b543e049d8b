import type { ListedKind } from './listing.js'

/** What a client does about deadlocks with other calls, in any process: tells you, also rejects one of the calls, or neither. */
export type Deadlocks = 'report' | 'break' | 'off'

/** One call of a deadlock. All texts come from other processes: escape them before you show them. */
export interface DeadlockedCall {
  /** The lock that the call waits for: its name, if this client's `mapName` makes the same key of it; otherwise the key. */
  readonly name: string
  /** The key of that lock on the server. */
  readonly key: string
  /** What kind of lock that is. Both sides of a read-write lock are one kind. */
  readonly kind: ListedKind
  /** The client that made the call. */
  readonly client: string
  /** What that client calls itself, if the server has its label. */
  readonly label?: string
  /** Since when the call waits, ms since the epoch, as its client estimates the server's time. */
  readonly since: number
  /** For how many ms it had waited when the deadlock was proven. */
  readonly waited: number
}

/** Calls that wait for one another. None of them can go on before one gives up. */
export interface Deadlock {
  /** Each call waits for a lock that the next one holds; the last one waits for the first. */
  readonly cycle: readonly DeadlockedCall[]
  /**
   * Which of them is rejected, as an index: the one that has waited for the shortest time, among the calls of clients with `deadlocks: 'break'`. Undefined: there is
   * none.
   */
  readonly victim: number | undefined
}
