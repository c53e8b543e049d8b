/** Options of every call that may wait. */
export interface WaitOptions {
  /** How long to wait, ms. Default: no limit (`acquire`, `using`, `wait`), or 0, which does not wait at all (`tryAcquire`). */
  wait?: number | undefined
  /** Ends the wait with the signal's reason. If it has already aborted, nothing is sent. Default: none. */
  signal?: AbortSignal | undefined
}

/** Options of a call that waits for permits, which somebody must set first. */
export interface SetupOptions {
  /**
   * If no permits are set, or no rate, the call waits until somebody sets them, instead of rejecting with a `NotInitializedError`. If it wants more permits with an
   * id than there are in all, it waits until somebody adds some. Default false.
   */
  waitForSetup?: boolean | undefined
}
