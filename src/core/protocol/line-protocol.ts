import type { LockProtocol } from './lock-protocol.js'

/** How a waiter stands, and the result of a join. `next`: first in the line, behind a holdfast holder. */
export type PlaceState = 'held' | 'next' | 'behind ours' | 'behind others' | 'gone'
export type JoinState = 'held' | 'next' | 'behind ours' | 'behind others' | 'late'

/** What the server says about the places that ask. */
export interface Answer<State> {
  /** Server time, µs. */
  readonly stamp: number
  /** For how many ms the lock is still held by another owner; negative: without expiry, or free. */
  readonly left: number
  /** For how many ms the lock is left to outsiders, which know of no line and only publish messages to each other. */
  readonly open?: number
  /** How many visits of outsiders that covers, at most. */
  readonly share?: number
  /** The state of each place, in the order asked. */
  readonly states: readonly State[]
}

/** A waiter that asks for a place. */
export interface Asker {
  readonly owner: string
  readonly lease: number
  /** How long its caller waits at most, ms; may be Infinity. */
  readonly wait: number
}

/** 1: no outsider is heard any more in its turn, or they have had their share of visits. 2: we cannot hear grants. 3: both. */
export type News = 0 | 1 | 2 | 3

/** A lock whose waiters stand in a line on the server. `acquire` tries once and never joins. */
export interface LineProtocol extends LockProtocol {
  /** The process has one place in the line, which its first waiter uses; otherwise each waiter has a place. */
  readonly standsOnce?: boolean
  /**
   * The channel on which a client hears that one of its waiters was granted the lock: see docs/protocol.md.
   * Undefined if locks are not granted: waiters are woken up, and ask.
   */
  grants(client: string): string | undefined
  /**
   * The channel on which Redisson wakes up this waiter when it is next. If Redisson wakes up no waiter by name, holdfast's clients
   * and Redisson's take turns: see `Outsiders`.
   */
  callOf?(owner: string): string
  /** Adds places to the end of the line, one behind the other. */
  enqueue(askers: readonly Asker[], notAfter: number): Promise<Answer<JoinState>>
  /** Shows that the waiters are alive. A waiter that was granted the lock meanwhile holds it then. */
  poll(askers: readonly Asker[], news: News): Promise<Answer<PlaceState>>
  /** For how many ms the lock is this owner's from now on; 0: no longer. */
  confirm(owner: string, lease: number): Promise<number>
  /** Gives up the owner's place, or the lock that it was granted. `NOT_HELD`: it had neither. */
  leave(asker: Asker): Promise<number>
}

export const isLine = (protocol: LockProtocol): protocol is LineProtocol => 'enqueue' in protocol
