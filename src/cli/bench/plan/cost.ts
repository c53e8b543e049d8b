import type { Demand } from './demand.js'

/** What this server's main thread takes, µs. */
export interface Costs {
  /** Acquire and release, if nobody else wants the lock. */
  readonly alone: number
  /** The same if the lock comes from another client: three scripts and a message. */
  readonly contended: number
  /** In each second, if nobody asks for anything. */
  readonly base?: number
}

/** The share of a core that a server should not exceed: beyond it, waits grow fast, and a burst has no room. */
export const ENOUGH = 0.7

/** The share of a core that the server needs. Each request besides the visits costs about half of what two do. */
export const coresOf = ({ visits, contended, requests }: Demand, costs: Costs): number => {
  const { alone, contended: handedOver, base = 0 } = costs
  const more = requests.visits - visits * (2 + contended)
  const others = requests.polls + requests.renewals + requests.heartbeats + requests.listing + more
  const us = base + visits * ((1 - contended) * alone + contended * handedOver) + (others * alone) / 2
  return us / 1_000_000
}

/** How much of one kind of work, and nothing else, takes `ENOUGH` of a core. */
export interface Limits {
  /** Acquisitions a second of locks that nobody else wants. */
  readonly alone: number
  /** Acquisitions a second of locks that are always wanted. */
  readonly contended: number
  /** Calls that wait, in a process each. */
  readonly waiting: number
  /** Clients that do nothing. */
  readonly idle: number
}

/** Requests a second of a client that does nothing, and of one that waits: polls and listing, too. */
const IDLES = 2 / 10 + 1 / 30
const WAITS = 1 / 0.95 + 1 / 10 + IDLES

export const limitsOf = ({ alone, contended }: Costs): Limits => {
  const us = ENOUGH * 1_000_000
  return {
    alone: us / alone,
    contended: us / contended,
    waiting: us / (WAITS * (alone / 2)),
    idle: us / (IDLES * (alone / 2)),
  }
}
