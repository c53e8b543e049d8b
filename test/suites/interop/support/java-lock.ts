import type { Answer } from './java-process.js'

/** Kinds of objects that the driver knows (interop/java, Kinds). */
export type Kind =
  | 'plain'
  | 'fair'
  | 'nonReentrant'
  | 'nonReentrantFair'
  | 'spin'
  | 'fenced'
  | 'read'
  | 'write'
  | 'semaphore'
  | 'permits'
  | 'latch'
  | 'limiter'
  | 'topic'
  /** Behind the colon its keys, divided by commas; the name is the group's. */
  | `keyed:${string}`
  /** Behind the colon the kinds of its members, divided by commas; they are named `<name>:0` and on. */
  | `multi:${string}`
  | `red:${string}`

/**
 * Who calls. A number: the asynchronous methods under that thread id, any number of them at once. A name: the blocking
 * methods on a real thread of that name, one after the other.
 */
export type Thread = number | string

/** One step of a visit, told by the process that made it; `at` in ms of the monotonic clock. */
export interface WorkEvent {
  readonly worker: string
  /**
   * `orphan`: an interrupted acquire of Redisson's had left a hold behind, which was given back. `checked`, `lost`: ours was
   * asked whether it holds it still.
   */
  readonly event: 'invoke' | 'granted' | 'checked' | 'releasing' | 'released' | 'refused' | 'failed' | 'lost' | 'orphan'
  readonly at: number
  readonly lease?: number
  /** Of `invoke`: where a part of the visits reads, whether this one does. */
  readonly mode?: 'read' | 'write'
  /** Until when ours says that it holds it. */
  readonly until?: number
  readonly reason?: string
}

export type Range = readonly [least: number, most: number]

/** See interop/java, Work. */
export interface WorkOptions {
  readonly workers: number
  readonly seconds: number
  readonly startAt?: number
  readonly seed?: number
  readonly hold?: Range
  readonly pause?: Range
  readonly leases?: readonly number[]
  /** Of a read-write lock: what part of the visits reads. */
  readonly reads?: number | undefined
  readonly timeouts?: number
  readonly wait?: Range
  readonly aborts?: number
  readonly abortAfter?: Range
}

interface Requester {
  request<T>(fields: Readonly<Record<string, unknown>>, told?: (line: unknown) => void): Answer<T>
}

const MS = 'MILLISECONDS'

/** A lock of Redisson's; durations in ms. What a version does not have rejects with `NoSuchMethodException`. */
export class JavaLock {
  readonly #redisson: Requester

  constructor(
    redisson: Requester,
    readonly kind: Kind,
    readonly name: string,
  ) {
    this.#redisson = redisson
  }

  /** Any method. */
  call<T>(method: string, args: readonly unknown[], on?: string): Answer<T> {
    return this.#redisson.request({ op: 'call', kind: this.kind, name: this.name, method, args, on })
  }

  /** `lease` omitted: the watchdog. */
  lock(thread: Thread, lease?: number): Answer<null> {
    const terms = lease === undefined ? [] : [lease, MS]
    return typeof thread === 'string' ? this.call('lock', terms, thread) : this.call('lockAsync', [...terms, thread])
  }

  tryLock(thread: Thread, wait?: number, lease?: number): Answer<boolean> {
    if (typeof thread === 'string') {
      const terms = wait === undefined ? [] : lease === undefined ? [wait, MS] : [wait, lease, MS]
      return this.call('tryLock', terms, thread)
    }
    return this.call('tryLockAsync', wait === undefined ? [thread] : [wait, lease ?? -1, MS, thread])
  }

  unlock(thread: Thread): Answer<null> {
    return typeof thread === 'string' ? this.call('unlock', [], thread) : this.call('unlockAsync', [thread])
  }

  forceUnlock(): Answer<boolean> {
    return this.call('forceUnlockAsync', [])
  }

  isLocked(): Answer<boolean> {
    return this.call('isLocked', [])
  }

  isHeld(thread: Thread): Answer<boolean> {
    return typeof thread === 'string'
      ? this.call('isHeldByCurrentThread', [], thread)
      : this.call('isHeldByThread', [thread])
  }

  /** Redisson tells a thread only its own. */
  holdCount(thread: string): Answer<number> {
    return this.call('getHoldCount', [], thread)
  }

  remainTimeToLive(): Answer<number> {
    return this.call('remainTimeToLive', [])
  }

  work(options: WorkOptions, tell: (event: WorkEvent) => void): Answer<number> {
    return this.#redisson.request({ op: 'work', kind: this.kind, name: this.name, ...options }, (line) =>
      tell(line as WorkEvent),
    )
  }
}
