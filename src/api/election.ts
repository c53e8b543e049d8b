/** Options of `election.lead`. */
export interface LeadOptions<V = unknown> {
  /** What observers see of the leader, such as its address. Encoded with the client's codec. Default: nothing. */
  readonly value?: V | undefined
  /** If it aborts, the term ends, or the wait for one, and `lead` resolves once the work has settled. Default: none. */
  readonly signal?: AbortSignal | undefined
  /** How long the others wait after a leader has died, ms. It is renewed when a third of it is over. Default: the client's `watchdog`, 30 000. */
  readonly lease?: number | undefined
  /**
   * A leader that could not renew its lease for this many ms gives up: its signal aborts, and the work has until the end of the lease to stop. Must be more
   * than 0.4 times the lease, so that a renewal may be late, and less than the lease. Default: two thirds of the lease.
   */
  readonly renewDeadline?: number | undefined
}

/** One term of a leader. Your work receives it. */
export interface Term {
  /**
   * Aborts when the term is over, at the latest before another process can lead. The client keeps the lease until the work has settled, unless it closes
   * without waiting.
   */
  readonly signal: AbortSignal
  /** A fencing token: it grows with every leader. Send it along with each write of the leader, and have the database reject a smaller one. */
  readonly term: bigint
}

/** The current leader. */
export interface Leader<V = unknown> {
  /** Its fencing token. */
  readonly term: bigint
  /** The value that it passed to `lead` or `proclaim`. */
  readonly value: V | undefined
  /** The id of its client. */
  readonly client: string
  /** The label of its client, if it has one. Like `value`, it comes from another process: escape it before you show it. */
  readonly label?: string | undefined
  /** When its term began, ms since the epoch, by the server's clock. */
  readonly since: number
}

/** Options of `election.observe`. */
export interface ObserveOptions {
  /** When it aborts, the loop throws its reason. Default: none. */
  readonly signal?: AbortSignal | undefined
}

/**
 * For a `for await`: yields the current leader, and then each new leader or value; `undefined` while there is no leader. A slow loop sees only the newest.
 */
export interface Leaders<V = unknown> extends AsyncIterableIterator<Leader<V> | undefined>, AsyncDisposable {
  /** Returns itself: you can loop over it only once. */
  [Symbol.asyncIterator](): Leaders<V>
}

/** One leader at a time among all processes, on the fenced lock with the same name. Candidates lead in the order in which they came. */
export interface Election<V = unknown> {
  /** The name that you gave the election. */
  readonly name: string
  /**
   * Waits until this candidate leads, and runs `work` while it leads. If the work returns or throws during its term, the candidacy ends: `lead` resolves or
   * rejects as the work did. If the term was lost or resigned before that, the work runs again in the next term, whatever it returned. If `signal` aborts or the
   * client closes, `lead` resolves once the work has settled, with what it returned, or `undefined`.
   */
  lead<T>(work: (term: Term) => Promise<T> | T): Promise<T | undefined>
  /** The same, with options. */
  lead<T>(options: LeadOptions<V> | undefined, work: (term: Term) => Promise<T> | T): Promise<T | undefined>
  /** The current leader, as the server knows it; `undefined` if there is none. */
  leader(): Promise<Leader<V> | undefined>
  /** Yields the current leader, and then each change, also if it happened while the connection was lost. */
  observe(options?: ObserveOptions): Leaders<V>
  /**
   * Sets another value for the term that this client leads. Rejects with `NotOwnerError` if this client does not lead, and with `LockLostError` if its term
   * ends meanwhile.
   */
  proclaim(value: V): Promise<void>
  /**
   * Ends the term that this client leads: its signal aborts, and once its work has settled the next candidate leads. This candidate waits again, as the last
   * in the line: only the `signal` of `lead` ends that. Resolves when the work has settled; if you call it inside the work, it resolves at once. `false`: this client
   * does not lead.
   */
  resign(): Promise<boolean>
}
