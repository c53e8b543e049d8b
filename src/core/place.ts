import type { Asker } from './line-protocol.js'
import type { Waiter } from './queue.js'
import type { Ear } from './wakeups.js'

/** One waiter's place in the server's line. */
export interface Place {
  readonly waiter: Waiter
  readonly wire: string
  /** Server time of the reply that said it waits, µs: a grant from before is of an earlier round. */
  since: number | undefined
  /** A question about joining is on its way, or was never answered. */
  joining: boolean
  /** Polls that were not answered: each may have confirmed a grant already, and so have set the lease going. */
  asked: number
  /** Listens as a Redisson client would: whoever is ahead knows no other way. */
  ear: Ear | undefined
}

export const newPlace = (waiter: Waiter, wire: string): Place => ({
  waiter,
  wire,
  since: undefined,
  joining: true,
  asked: 0,
  ear: undefined,
})

export const askerOf = ({ wire, waiter: { request } }: Place): Asker => ({
  owner: wire,
  lease: request.terms.lease,
  wait: request.wait,
})
