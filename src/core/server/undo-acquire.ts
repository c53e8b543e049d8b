import { ClosedError, EngineError } from '../../errors.js'
import type { Clock } from '../../base/clock.js'
import { LONG_NOTE_TIME } from '../../script-times-and-limits.js'
import { type LockProtocol, NOT_HELD } from '../protocol/lock-protocol.js'
import type { BackgroundWork } from './background-work.js'
import { mayHaveRun } from './transient-or-unsure-errors.js'
import { type Retry, RETRY_TIME } from './retry-unanswered.js'

/** ms. How long a step on a counter is undone at most: its note must outlast the last copy. */
export const LONGEST_UNDO = LONG_NOTE_TIME / 2

/** Releases what an unanswered acquire may have left on the server. Steps on counters have notes instead: see `ExactlyOnceSteps.undo`. */
export class UndoAcquire {
  readonly #clock: Clock
  readonly #commandTimeout: number
  readonly #background: BackgroundWork
  readonly #retry: Retry

  constructor(clock: Clock, commandTimeout: number, background: BackgroundWork, retry: Retry) {
    this.#clock = clock
    this.#commandTimeout = commandTimeout
    this.#background = background
    this.#retry = retry
  }

  /**
   * The release is sent behind the acquire on the same connection, so the server runs it after the acquire. If there was nothing to
   * release, it is repeated once when the old connection must be gone. Resolves after the first answer.
   */
  acquire(protocol: Pick<LockProtocol, 'release'>, wire: string, lease: number, cause: unknown): Promise<void> {
    if (cause instanceof EngineError && !mayHaveRun(cause)) return Promise.resolve()
    if (cause instanceof ClosedError) return Promise.resolve()
    // For as long as the acquire may still run: a server that stands still runs it when it goes on.
    const until = this.#clock.monotonic() + Math.max(lease, RETRY_TIME)
    const first = this.#retry.insist(() => protocol.release(wire), until)
    this.#background.track(
      first.then(async (outcome) => {
        if (cause === undefined || ('answer' in outcome && outcome.answer !== NOT_HELD)) return
        // By then, a late join is refused, too.
        await this.#background.pause(Math.min(2 * this.#commandTimeout, until - this.#clock.monotonic()))
        await this.#retry.insist(() => protocol.release(wire), until)
      }),
    )
    return first.then(() => undefined)
  }
}
