import type { Timer } from '../../base/clock.js'
import type { TenureHold } from '../hold/hold.js'
import type { Patience, Request } from './acquire-request.js'
import type { Ear } from '../server/shared-subscriptions.js'

/** One call that waits: at a gate, unless the types say otherwise. */
export interface Waiter<Q extends Patience = Request, G = TenureHold> {
  readonly request: Q
  readonly resolve: (granted: G | undefined) => void
  readonly reject: (reason: unknown) => void
  /** When the call began, on the monotonic clock. */
  readonly since: number
  /** It is counted in `Runtime.waiting`. */
  counted: boolean
  queued: boolean
  timer: Timer | undefined
  unlisten: (() => void) | undefined
  previous: Waiter<Q, G> | undefined
  next: Waiter<Q, G> | undefined
  /** Its place in a line on the server. */
  place: Place | undefined
}

/** A place in the line on the server. */
export interface Place {
  /** The waiter that is served when the place is granted. If the process has one place, that is its first waiter. */
  waiter: Waiter
  readonly wire: string
  readonly number: number
  /** Server time of the reply that said that it waits, µs. A grant from before that belongs to an earlier round. */
  since: number | undefined
  /** A question about joining is in progress, or was never answered. */
  joining: boolean
  /** How many messages had demanded a question when that question was sent. */
  calls: number
  /** Unanswered polls: each may have confirmed a grant already, and so have started the lease. */
  asked: number
  /** Listens as a Redisson client would, because a client ahead in the line knows no other way. */
  ear: Ear | undefined
  /** The stamp of the newest grant that it has heard of, µs. A repeated message is not a new grant. */
  granted: number
  /** A question about this place asked for another lease than that of its waiter now. */
  mixed: boolean
  /** When its waiter took it over from another, among all moments. */
  given: number
  /** Others may know its whole wire name, so a message about it proves nothing. */
  named: boolean
  /** The next place in its slot of the table. */
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
