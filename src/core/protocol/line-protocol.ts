import type { LockProtocol } from './protocol.js'

/** How a waiter stands, and how one that wanted to join. `next`: first in the line, behind a holder of ours. */
export type PlaceState = 'held' | 'next' | 'behind ours' | 'behind others' | 'gone'
export type JoinState = 'held' | 'next' | 'behind ours' | 'behind others' | 'late'

/** What the server says of those who ask. */
export interface Answer<State> {
  /** Server time, µs. */
  readonly stamp: number
  /** For how many ms the lock stays another's; negative: without expiry, or free. */
  readonly left: number
  /** For how many ms it is left to those who know of no line, and only tell each other by messages. */
  readonly open?: number
  /** For how many visits of theirs it is, at most. */
  readonly share?: number
  /** Of each, in their order. */
  readonly states: readonly State[]
}

/** Who asks for a place. */
export interface Asker {
  readonly owner: string
  readonly lease: number
  /** How long its caller waits at most, ms; may be Infinity. */
  readonly wait: number
}

/** 1: of those to whom the lock was left nobody is heard any more, or they have had their share. 2: we hear of no grants. 3: both. */
export type News = 0 | 1 | 2 | 3

/** A lock whose waiters stand in a line on the server. `acquire` tries once and never joins. */
export interface LineProtocol extends LockProtocol {
  /** Each process has one place in the line, which its first waiter uses; otherwise each waiter has a place. */
  readonly standsOnce?: boolean
  /**
   * Where a client of ours hears that one of its waiters was granted the lock: see docs/protocol.md.
   * Undefined where nobody grants it: waiters are called, and ask.
   */
  grants(client: string): string | undefined
  /** Where Redisson wakes up this waiter when it is next. Where it wakes up nobody by name, ours and its have turns: see Outsiders. */
  callOf?(owner: string): string
  /** To the end of the line, one behind the other. */
  enqueue(askers: readonly Asker[], notAfter: number): Promise<Answer<JoinState>>
  /** Shows that they live; who was granted the lock meanwhile has it. */
  poll(askers: readonly Asker[], news: News): Promise<Answer<PlaceState>>
  /** For how many ms it is this owner's from now on; 0: it is not any more. */
  confirm(owner: string, lease: number): Promise<number>
  /** Gives up its place, or what it was granted. `NOT_HELD`: it had neither. */
  leave(asker: Asker): Promise<number>
}

export const isLine = (protocol: LockProtocol): protocol is LineProtocol => 'enqueue' in protocol
