import type { Host } from './contention.js'
import type { LockProtocol } from './protocol.js'
import type { Tenure } from './tenure.js'

/** What the server says to somebody who joins the line. */
export interface Standing {
  readonly state: 'held' | 'waits' | 'late'
  /** Server time, µs. */
  readonly stamp: number
  /** For how many ms the lock stays another's; negative: without expiry, or free. */
  readonly left: number
  /** Whether whoever is ahead can grant directly. */
  readonly ours: boolean
}

/** Who asks for a place. */
export interface Asker {
  readonly owner: string
  readonly lease: number
  /** How long its caller waits at most, ms; may be Infinity. */
  readonly wait: number
}

/** How a waiter stands. */
export type Place = 'held' | 'behind ours' | 'behind others' | 'gone'

/** A lock whose waiters stand in a line on the server. `acquire` tries once and never joins. */
export interface LineProtocol extends LockProtocol {
  /**
   * Where a client of ours hears that one of its waiters was granted the lock: `<owner> <server time in µs>`.
   * Undefined where nobody grants it: waiters are called, and ask.
   */
  grants(client: string): string | undefined
  /** Where Redisson calls a waiter whose turn it is. */
  callOf(owner: string): string
  enqueue(asker: Asker, notAfter: number): Promise<Standing>
  /** Shows that they live; who was granted the lock meanwhile has it. */
  poll(
    askers: readonly Asker[],
  ): Promise<{ readonly stamp: number; readonly left: number; readonly states: readonly Place[] }>
  /** For how many ms it is this owner's from now on; 0: it is not any more. */
  confirm(owner: string, lease: number): Promise<number>
  /** Gives up its place, or what it was granted. Undefined: it had neither. */
  leave(asker: Asker): Promise<number | undefined>
}

export const isLine = (protocol: LockProtocol): protocol is LineProtocol => 'enqueue' in protocol

/** The gate of such a lock. */
export interface LineHost extends Host {
  /** While the step is on its way, the gate stays. */
  staying<T>(step: () => Promise<T>): Promise<T>
  /** Those who had it after its first owner have no place in the line any more. */
  leaveLine(tenure: Tenure): void
}
