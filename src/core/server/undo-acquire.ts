import { ClosedError, EngineError } from '../../errors.js'
import type { Clock } from '../../base/clock.js'
import { LONG_NOTE_TIME } from '../../constants.js'
import { type LockProtocol, NOT_HELD } from '../protocol/protocol.js'
import type { BackgroundWork } from './background-work.js'
import { mayHaveRun } from './error-kinds.js'
import { type Retry, RETRY_TIME } from './retry.js'

/** How long a step on a count is undone at most, ms: its note must outlast the last copy. */
export const LONGEST_UNDO = LONG_NOTE_TIME / 2

/** Releases what an acquire without an answer may have left on the server. Steps on counts have notes: see `IdempotentSteps.undo`. */
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
   * Goes out behind the acquire on the same connection, so that order makes it effective; if there was nothing to release, it is
   * repeated once when the old connection must be gone. Resolves after the first answer.
   */
  acquire(protocol: Pick<LockProtocol, 'release'>, wire: string, lease: number, cause: unknown): Promise<void> {
    if (cause instanceof EngineError && !mayHaveRun(cause)) return Promise.resolve()
    if (cause instanceof ClosedError) return Promise.resolve()
    // As long as it may still be done: a server that stands still does it when it goes on.
    const until = this.#clock.monotonic() + Math.max(lease, RETRY_TIME)
    const first = this.#retry.insist(() => protocol.release(wire), until)
    this.#background.track(
      first.then(async (outcome) => {
        if (cause === undefined || ('answer' in outcome && outcome.answer !== NOT_HELD)) return
        // What joins a line is too late by then, too.
        await this.#background.pause(Math.min(2 * this.#commandTimeout, until - this.#clock.monotonic()))
        await this.#retry.insist(() => protocol.release(wire), until)
      }),
    )
    return first.then(() => undefined)
  }
}
