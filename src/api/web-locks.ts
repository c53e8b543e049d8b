/** `shared`: with others that share the lock. `exclusive`: alone. */
export type WebLockMode = 'exclusive' | 'shared'

/** Options of `client.locks.request`: those of `navigator.locks.request`. */
export interface WebLockOptions {
  /** `'shared'`: with others that share the lock. `'exclusive'`: alone. Default `'exclusive'`. */
  readonly mode?: WebLockMode | undefined
  /** Ends the wait with the signal's reason. It has no effect once the lock is granted. Excludes `ifAvailable` and `steal`. Default: none. */
  readonly signal?: AbortSignal | undefined
  /** Does not wait: if the lock is not available, the callback is called with `null`. Default false. */
  readonly ifAvailable?: boolean | undefined
  /**
   * Takes the lock from all who hold it, ahead of those who wait; their `request` rejects with an `AbortError`. Only for `exclusive`, and not with `ifAvailable`.
   * Default false.
   */
  readonly steal?: boolean | undefined
}

/** The lock that the callback gets. */
export interface WebLock {
  /** The name of the lock. */
  readonly name: string
  /** How it is held. */
  readonly mode: WebLockMode
  /** Aborts when the lock is stolen or lost. A browser's `Lock` has no such signal. */
  readonly signal: AbortSignal
}

/** A lock that is held, or a request that waits. */
export interface WebLockInfo {
  /** The name of the lock. It may come from another process: escape it before you show it. */
  name: string
  /** How it is held, or wanted. */
  mode: WebLockMode
  /** The `id` of the client. */
  clientId: string
}

/** What `client.locks.query` resolves to. */
export interface WebLocksSnapshot {
  /** The locks that are held. */
  held: WebLockInfo[]
  /** The requests that wait; of each lock, in the order in which they are granted. */
  pending: WebLockInfo[]
}

/** The Web Locks API, as `navigator.locks`, for all processes that use this server. */
export interface WebLocks {
  /**
   * Waits for the lock, calls `callback`, and releases the lock when the promise of the callback settles. Resolves to what the callback returned. Rejects with the
   * callback's error, the signal's reason, or an `AbortError` if the lock is stolen or lost. Wrong arguments are a `TypeError` or a `NotSupportedError`.
   *
   * @example
   *     await client.locks.request('report', async () => { await write() })
   */
  request<T>(name: string, callback: (lock: WebLock) => T): Promise<Awaited<T>>
  /** The same, with options. The lock is `null` only with `ifAvailable`. */
  request<T>(
    name: string,
    options: WebLockOptions | null | undefined,
    callback: (lock: WebLock | null) => T,
  ): Promise<Awaited<T>>
  /**
   * The locks that are held, and the requests that wait: those of this client, and those of other clients that have lasted for longer than a second, at most two
   * seconds late.
   */
  query(): Promise<WebLocksSnapshot>
}
