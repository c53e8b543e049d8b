import type { Reported } from '../client/observed-call.js'
import type { Patience } from '../waiting/acquire-request.js'
import type { Waiter } from '../waiting/waiter.js'

/** The answer to several calls, asked for in their order: the first `granted.length` of them get one grant each. */
export interface Answer<Q, G> {
  readonly granted: readonly G[]
  /**
   * If not all got theirs: for how many ms that is sure to stay so, or the next call need not ask. -1: until a change, or until a
   * message comes.
   */
  readonly left: number
  /** The error for a call that would wait in vain; undefined: its grant may still come. */
  readonly vain?: (request: Q) => Error | undefined
}

/** What a turnstile needs from a kind that many callers may have at once: permits, or a latch. It never subscribes, sets a timer or loops. */
export interface Passage<Q extends Patience, G> extends Reported {
  readonly key: string
  /** The channel on which a message says that there may be more. */
  readonly channel: string
  /** The wire name under which the process may stand in a line on the server. */
  readonly standing?: string | undefined
  /** How much of one question a call takes up. Default: 1. */
  weight?(request: Q): number
  /** How much a call wants, if it wants nothing but an amount: then what is released may be passed on within the process. */
  amount?(request: Q): number
  /** One question for all. If it rejects, whatever it did is being undone. `hears`: messages arrive, as far as they can. */
  ask(waiters: readonly Waiter<Q, G>[], hears: boolean): Promise<Answer<Q, G>>
  /** A message may say in how many ms to ask, at the earliest. */
  delayOf?(payload: string): number
  /** ms. How long its answers may let waiters sleep, if longer than a poll. */
  readonly longest?: number
  /** No call here waits any more: the process leaves the line on the server, if there is one. */
  leaveLine?(): Promise<unknown> | undefined
  /** The place to leave, for a step that goes to the server anyway and can take it out of the line. */
  placeToLeave?(): string | undefined
  /** The call for which it was granted has left. Never rejects. */
  giveBack(granted: G): Promise<void>
}
