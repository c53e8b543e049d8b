import type { Host } from './contention.js'
import type { LockProtocol } from './protocol.js'

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

/** How a waiter stands. */
export type Place = 'held' | 'behind ours' | 'behind others' | 'gone'

/** A lock whose waiters stand in a line on the server. `acquire` tries once and never joins, `release` also gives up a place. */
export interface LineProtocol extends LockProtocol {
  /** Where a client of ours hears that one of its waiters was granted the lock: `<owner> <server time in µs>`. */
  grants(client: string): string
  /** Where Redisson calls a waiter whose turn it is. */
  callOf(owner: string): string
  enqueue(owner: string, lease: number, notAfter: number): Promise<Standing>
  /** Shows that they live; who was granted the lock meanwhile has it. */
  poll(
    owners: readonly (readonly [owner: string, lease: number])[],
  ): Promise<{ readonly stamp: number; readonly left: number; readonly states: readonly Place[] }>
  /** For how many ms it is this owner's from now on; 0: it is not any more. */
  confirm(owner: string, lease: number): Promise<number>
}

export const isLine = (protocol: LockProtocol): protocol is LineProtocol => 'enqueue' in protocol

/** The gate of such a lock. */
export interface LineHost extends Host {
  /** While the step is on its way, the gate stays. */
  staying<T>(step: () => Promise<T>): Promise<T>
}
