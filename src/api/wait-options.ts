/** Of every call that may wait. */
export interface WaitOptions {
  /** How long to wait. Omitted: for ever (`acquire`, `using`, `wait`), not at all (`tryAcquire`). */
  wait?: number | undefined
  /** Ends the wait with the signal's reason. An already aborted one sends nothing. */
  signal?: AbortSignal | undefined
}

/** Of a call that waits for permits, which somebody must have set. */
export interface SetupOptions {
  /**
   * Where no permits are set, or no rate, it waits until somebody sets them instead of rejecting with a `NotInitializedError`;
   * and for more permits with an id than there are in all, until somebody adds some. Default false.
   */
  waitForSetup?: boolean | undefined
}
