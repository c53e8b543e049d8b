/** What a call of `acquire` goes through, in this order; the last four end it. */
export type CallStep =
  | 'invoke'
  /** It was seen in the lock's queue. */
  | 'queued'
  /** The caller has the hold. */
  | 'granted'
  /** The hold was asked for its time left. */
  | 'checked'
  /** The caller asks for the release: it claims nothing any more. */
  | 'releasing'
  /** The release was answered with yes: the server has freed it. */
  | 'released'
  /** The hold is lost, or its release was answered with no: the server may keep it until its lease is over. */
  | 'lost'
  /** It did not get the lock: too late, aborted, an error. */
  | 'refused'
  /** Its process died. */
  | 'crashed'

/** One step of one call, told by the process that made it. */
export interface CallEvent {
  /** ms, on one clock for all processes (`process.hrtime`, or the simulation's). */
  readonly at: number
  /** Which step. */
  readonly what: CallStep
  /** Who made it. */
  readonly process: string
  /** Which call: unique in the history. */
  readonly call: string
  /** Of the lock. */
  readonly name: string
  /** Holds of one owner may overlap. Default: each call is its own. */
  readonly owner?: string | undefined
  /** Default `exclusive`. */
  readonly mode?: 'exclusive' | 'shared' | undefined
  /** Of `granted` and `checked`: `at` + `remaining()`, the trust that the hold claims. Omitted: until it ends. */
  readonly until?: number | undefined
  /** How long the server may keep it without hearing from its holder; only counts where nobody said when it was free. */
  readonly lease?: number | undefined
  /** Of `granted`: the fencing token, digits. */
  readonly token?: string | undefined
}

/** Something that no call did, from `at` to `to`. */
export interface WorldEvent {
  /** ms, as in a call. */
  readonly at: number
  /** ms; when it was over. */
  readonly to: number
  /**
   * `forced`: somebody took the lock from its holder. `wiped`: the server lost its data.
   * `trouble`: a process was stopped, or could not reach the server.
   */
  readonly what: 'forced' | 'wiped' | 'trouble'
  /** Which lock; omitted: every one. */
  readonly name?: string | undefined
  /** Whose trouble; omitted: everybody's. */
  readonly process?: string | undefined
  /** For people. */
  readonly note?: string | undefined
}

/** What a history is made of. */
export type HistoryEvent = CallEvent | WorldEvent

/** What is asked of every history. */
export type Rule =
  /** A call's steps come in their order, and nothing comes after its end. */
  | 'order'
  /** No two holds claim to be held at one time, unless both are shared, or of one owner. */
  | 'exclusion'
  /** Lost is lost for good. */
  | 'trust'
  /** Fencing tokens grow in the order of holding. */
  | 'fencing'
  /** Who was seen in the queue before another came has the lock before it. */
  | 'fairness'
  /** Nobody waits for long for what nobody holds. */
  | 'forgotten'
  /** Every call ends, and every hold. */
  | 'endless'

/** Two events that cannot both be right. */
export interface Violation {
  /** Which rule is broken. */
  readonly rule: Rule
  /** Of the lock. */
  readonly name: string
  /** What was before. */
  readonly first: HistoryEvent
  /** What cannot be after it. */
  readonly second: HistoryEvent
  /** In a sentence. */
  readonly why: string
  /** What happened between the two to this lock, in order. */
  readonly between: readonly HistoryEvent[]
}

/** What may be asked of a history. */
export interface HistoryOptions {
  /** Whether `fairness` is asked for, or of which locks. Default: of none. */
  readonly fair?: boolean | ((name: string) => boolean) | undefined
  /** How long a call may wait for a free lock while its process is in no trouble, ms. Default: this is not checked. */
  readonly forgottenAfter?: number | undefined
  /**
   * How long after a forced release or a loss of data a hold from before may still say that it is held, ms.
   * Default 0: until it is asked again.
   */
  readonly noticedWithin?: number | undefined
  /** The history was cut off: what has not ended is no violation. Default false. */
  readonly unfinished?: boolean | undefined
  /** How many violations of each rule to tell. Default 10. */
  readonly limit?: number | undefined
}

export const isCall = (event: HistoryEvent): event is CallEvent => 'call' in event
