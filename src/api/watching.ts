import type { ListedKind } from './listing.js'

/**
 * What happened to a lock. `waiting`: a call stands in the line. `gave up`: a place left the line without being granted the lock. `granted`: an owner holds the lock.
 * The other four say how a hold ended: `released` by its owner; `expired`, because its lease ended; `forced`, by `forceRelease`; `deleted`, because somebody removed
 * it from the server.
 */
export type LockEventType = 'waiting' | 'granted' | 'gave up' | 'released' | 'expired' | 'forced' | 'deleted'

/** Something that happened to a lock, as the server shows it. All texts come from other processes: escape them before you show them. */
export interface LockEvent {
  /** What happened. */
  readonly type: LockEventType
  /** The name, as `ListedLock` has it. */
  readonly name: string
  /** The key on the server. */
  readonly key: string
  /** Several kinds look alike on the server. In that case it is what the client says that holds the lock or waits for it. */
  readonly kind: ListedKind
  /** The owner as the server knows it. Keep it as secret as that of a `HolderState`. */
  readonly owner: string
  /** The id of the owner's client. */
  readonly client: string
  /** The label of that client, if it has one. */
  readonly label?: string | undefined
  /** How the owner holds or held the lock. Not known of a waiter. */
  readonly mode?: 'exclusive' | 'read' | 'write' | undefined
  /** Keyed locks only: which keys. */
  readonly keys?: readonly string[] | undefined
  /** When the server was asked, ms since the epoch, by the server's clock. It happened at this time or before. */
  readonly at: number
  /** It happened within this many ms before `at`. `undefined`: the server was not asked about this lock before. */
  readonly within?: number | undefined
  /** Since when the owner holds or waits, or did, ms since the epoch, by the server's clock: as its client says, or since it was first seen. */
  readonly since?: number | undefined
  /** `false`: what the server shows does not prove the type; it is the likeliest. */
  readonly certain: boolean
  /** It was so when the watch began. */
  readonly initial?: true | undefined
  /** More may have happened before this event: the server was away, it was not asked about this lock for five seconds, or your loop was too slow. */
  readonly merged?: true | undefined
  /** `forced` only: the id of the client that called `forceRelease`. */
  readonly by?: string | undefined
}

/** Which locks `client.watch` watches, besides a single name. */
export interface Watched {
  /**
   * Names that match: `*` is any text, `?` one character, `[a-c]` one of these, and a `\` takes away the meaning of the next character, as in `KEYS`. As
   * `client.list` does, this finds locks that holdfast clients have held or waited for longer than a second.
   */
  readonly pattern: string
}

/** Options of `client.watch`. */
export interface WatchOptions {
  /** Only this kind. Default: all. */
  readonly kind?: ListedKind | undefined
  /** Ends the loop: it throws the signal's reason. Default: none. */
  readonly signal?: AbortSignal | undefined
}

/** For a `for await`. It asks the server from the first `next()` to the end of the loop. */
export interface LockEvents extends AsyncIterableIterator<LockEvent>, AsyncDisposable {
  /** Returns itself: you can loop over it only once. */
  [Symbol.asyncIterator](): LockEvents
}

/** The part of the client that watches. `Client` extends it. */
export interface Watching {
  /**
   * What happens to a lock, or to all locks whose names match a pattern: first how things stand, as events with `initial`, and then each change. It compares what the
   * server shows a few times a second, so it does not see a hold that begins and ends between two looks. A lock itself costs no command more. The loop goes on when
   * the server was away. When its signal aborts, it throws the signal's reason; when the client closes, a `ClosedError`.
   *
   * @example
   *     for await (const { type, name, label } of client.watch({ pattern: 'invoice:*' })) console.log(type, name, label)
   */
  watch(what: string | Watched, options?: WatchOptions): LockEvents
}
