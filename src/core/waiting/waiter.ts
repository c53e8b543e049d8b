import type { Timer } from '../../base/clock.js'
import type { TenureHold } from '../hold/hold.js'
import type { Patience, Request } from './request.js'
import type { Ear } from '../server/subscriptions.js'

/** One call that waits: at a gate, unless said otherwise. */
export interface Waiter<Q extends Patience = Request, G = TenureHold> {
  readonly request: Q
  readonly resolve: (granted: G | undefined) => void
  readonly reject: (reason: unknown) => void
  /** When the call began, on the monotonic clock. */
  readonly since: number
  /** It is in `Runtime.waiting`. */
  counted: boolean
  queued: boolean
  timer: Timer | undefined
  unlisten: (() => void) | undefined
  previous: Waiter<Q, G> | undefined
  next: Waiter<Q, G> | undefined
  /** In a line of the server. */
  place: Place | undefined
}

/** A place in the server's line. */
export interface Place {
  /** Who is served when it is granted: where a process stands there once, whoever is first here. */
  waiter: Waiter
  readonly wire: string
  readonly number: number
  /** Server time of the reply that said it waits, µs: a grant from before is of an earlier round. */
  since: number | undefined
  /** A question about joining is on its way, or was never answered. */
  joining: boolean
  /** How often somebody here had been called when that question was sent. */
  calls: number
  /** Polls that were not answered: each may have confirmed a grant already, and so have set the lease going. */
  asked: number
  /** Listens as a Redisson client would: whoever is ahead knows no other way. */
  ear: Ear | undefined
  /** When the newest grant was made that it has heard of, µs: what is repeated is no other. */
  granted: number
  /** Some question about it was for another lease than that of its waiter now. */
  mixed: boolean
  /** Where among all moments its waiter took it over from another. */
  given: number
  /** Others may know its whole name: what is said of it proves nothing. */
  named: boolean
  /** The next in its slot of the table. */
  alike: Place | undefined
}

export const newWaiter = <Q extends Patience, G>(
  request: Q,
  resolve: Waiter<Q, G>['resolve'],
  reject: Waiter<Q, G>['reject'],
  since: number,
): Waiter<Q, G> => ({
  request,
  resolve,
  reject,
  since,
  counted: false,
  queued: false,
  timer: undefined,
  unlisten: undefined,
  previous: undefined,
  next: undefined,
  place: undefined,
})
