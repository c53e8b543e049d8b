/** How a candidate leads. */
export interface LeadOptions<V = unknown> {
  /** What observers see of the leader, such as its address. Written with the client's codec. Default: nothing. */
  readonly value?: V | undefined
  /** Aborting it ends the term, or the wait for one, and with it `lead`: once the work has settled it resolves. */
  readonly signal?: AbortSignal | undefined
  /** How long the others wait for a leader that died, ms. It is renewed each third of it. Default: the client's `watchdog`, 30 000. */
  readonly lease?: number | undefined
  /**
   * A leader whose lease could not be renewed for so long gives up: its signal aborts, and the work has until the end of the lease to stop. More than 0.4
   * times the lease, so that a renewal may be late, and less than the lease. Default: two thirds of it.
   */
  readonly renewDeadline?: number | undefined
}

/** One term of a leader, given to its work. */
export interface Term {
  /** Aborts when the term is over, at latest before another can lead. The lease is kept until the work has settled, unless the client closes without waiting. */
  readonly signal: AbortSignal
  /** A fencing token: grows with every leader. Write it along with what the leader changes, and have the database reject a smaller one. */
  readonly term: bigint
}

/** Who leads. */
export interface Leader<V = unknown> {
  /** Its fencing token. */
  readonly term: bigint
  /** What it said of itself. */
  readonly value: V | undefined
  /** The id of its client. */
  readonly client: string
  /** Of its client, where it has one. Like `value` it comes from others: escape it before showing. */
  readonly label?: string | undefined
  /** When its term began, ms since the epoch, by the server's clock. */
  readonly since: number
}

/** Of a loop over the leaders. */
export interface ObserveOptions {
  /** When it aborts, the loop throws its reason. */
  readonly signal?: AbortSignal | undefined
}

/** For a `for await`: the leader now, and then each other leader or value; `undefined` while nobody leads. A slow loop sees the newest only. */
export interface Leaders<V = unknown> extends AsyncIterableIterator<Leader<V> | undefined>, AsyncDisposable {
  /** Itself: it is gone through once. */
  [Symbol.asyncIterator](): Leaders<V>
}

/** One leader at a time among all processes, on the fenced lock of the same name. Candidates lead in the order in which they came. */
export interface Election<V = unknown> {
  /** As it was given to the client. */
  readonly name: string
  /**
   * Waits until it leads, and runs `work` while it does. Work that returns or throws during its term ends the candidacy: `lead` resolves or rejects as it did. Work
   * whose term was lost or resigned before is run again in the next term, whatever it returned. When `signal` aborts or the client closes, `lead` resolves once the
   * work has settled, with what it returned, or `undefined`.
   */
  lead<T>(work: (term: Term) => Promise<T> | T): Promise<T | undefined>
  /** The same, with options. */
  lead<T>(options: LeadOptions<V> | undefined, work: (term: Term) => Promise<T> | T): Promise<T | undefined>
  /** Who leads, as the server knows it; `undefined` when nobody does. */
  leader(): Promise<Leader<V> | undefined>
  /** The leader now, and then each change, also of those that happened while the connection was away. */
  observe(options?: ObserveOptions): Leaders<V>
  /** Another value for the term that this client leads. Rejects with `NotOwnerError` when it does not lead, `LockLostError` when its term ends meanwhile. */
  proclaim(value: V): Promise<void>
  /**
   * Ends the term that this client leads: its signal aborts, and once its work has settled the next candidate leads. This one waits again, as the last in
   * the line: only the `signal` of `lead` ends that. Resolves when the work has settled; called inside the work, at once. `false`: this client does not lead.
   */
  resign(): Promise<boolean>
}
