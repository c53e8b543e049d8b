import { NotInitializedError } from '../../errors.js'
import type { Reported } from '../client/lock-events.js'
import type { Patience } from '../waiting/request.js'
import type { Waiter } from '../waiting/waiter.js'

/** What several calls, asked for in their order, have got: the first so many of them, one each. */
export interface Answer<Q, G> {
  readonly granted: readonly G[]
  /**
   * When not all got theirs: for how many ms that is sure to stay so, or the next of them need not ask; -1: until somebody changes it, or
   * until a message comes.
   */
  readonly left: number
  /** Why a call that did not get its own waits for what will not come; undefined: it may come. */
  readonly vain?: (request: Q) => Error | undefined
}

/** What is waited for that many may have at once: permits, or a latch that opens. It never subscribes, sets a timer or loops. */
export interface Passage<Q extends Patience, G> extends Reported {
  readonly key: string
  /** The channel on which a message says that there may be more. */
  readonly channel: string
  /** How much of one question a call takes up: 1 unless said otherwise. */
  weight?(request: Q): number
  /** How much a call wants, where what is given back may be passed on within the process: by itself, if it is nothing but an amount. */
  amount?(request: Q): number
  /** One question for all. When it rejects, whatever it did is being undone. `hears`: messages come, as far as they can. */
  ask(waiters: readonly Waiter<Q, G>[], hears: boolean): Promise<Answer<Q, G>>
  /** A message may say in how many ms to ask, at the earliest. */
  delayOf?(payload: string): number
  /** How long its answers may tell those who wait to sleep, ms, where that is longer than a poll. */
  readonly longest?: number
  /** Nobody here waits any more: the process leaves the line on the server, where there is one. */
  leaveLine?(): Promise<unknown> | undefined
  /** So it does with a step that goes to the server anyway: which place that is to take out. */
  placeToLeave?(): string | undefined
  /** Who was to have it has left. Never rejects. */
  giveBack(granted: G): Promise<void>
}

/** Rejects whoever waits for permits or a rate that were never set, unless it was asked to wait for that, too. */
export const unlessSetUp =
  (name: string, what: 'rate is' | 'permits are') =>
  ({ needsSetup }: Patience): Error | undefined =>
    needsSetup === true ? new NotInitializedError(name, what) : undefined
