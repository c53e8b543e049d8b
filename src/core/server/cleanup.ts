import { ClosedError, EngineError } from '../../errors.js'
import type { Clock } from '../../base/clock.js'
import { type LockProtocol, NOT_HELD } from '../protocol/protocol.js'
import { isWrongKind, mayHaveRun } from './trouble.js'

/** How long an undo is tried that nobody answers, ms. */
export const UNDO_TIME = 60_000

/** What goes on behind the callers' backs: steps that are repeated until somebody answers, and what undoes those whose answer was lost. */
export class Cleanup {
  readonly #clock: Clock
  readonly #commandTimeout: number
  /** How much goes on behind the callers' backs that must be over before the connection ends. */
  #background = 0
  #settled: (() => void) | undefined
  /** Pauses that closing cuts short. */
  readonly #pauses = new Set<() => void>()
  closed = false
  /** When closing gives up what it still tries, on the monotonic clock. */
  endsAt = Infinity

  constructor(clock: Clock, commandTimeout: number) {
    this.#clock = clock
    this.#commandTimeout = commandTimeout
  }

  /** Nothing new is begun. What goes on is given up at that time, on the monotonic clock. */
  end(endsAt: number): void {
    this.closed = true
    this.endsAt = endsAt
  }

  /** Keeps `close` waiting for it; it must not reject. */
  track(work: Promise<unknown>): void {
    this.begun()
    void work.finally(() => {
      this.ended()
    })
  }

  /** Keeps `close` waiting until as much has ended. */
  begun(): void {
    this.#background++
  }

  ended(): void {
    this.#background--
    if (this.#background === 0) this.#settled?.()
  }

  /** Cuts short what waits for a later time. */
  hurry(): void {
    for (const wake of [...this.#pauses]) wake()
  }

  async settled(): Promise<void> {
    this.hurry()
    while (this.#background > 0) {
      await new Promise<void>((resolve) => {
        this.#settled = resolve
      })
    }
  }

  /** Closing cuts it short. */
  pause(ms: number): Promise<void> {
    return this.closed ? Promise.resolve() : this.#sleep(ms)
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        timer.cancel()
        this.#pauses.delete(wake)
        resolve()
      }
      const timer = this.#clock.setTimer(wake, ms)
      this.#pauses.add(wake)
    })
  }

  /** Repeats a step until it is answered, behind the caller's back. */
  inBackground(step: () => Promise<unknown>): void {
    this.track(this.insist(step, this.#clock.monotonic() + UNDO_TIME))
  }

  /** Repeats a step until it is answered, or until `until`. The last error when it never was. */
  async insist<T>(
    step: () => Promise<T>,
    until: number | (() => number),
    failed?: (error: unknown) => void,
  ): Promise<{ answer: T } | { error: unknown }> {
    for (let pause = 20; ; pause = Math.min(2 * pause, 500)) {
      try {
        return { answer: await step() }
      } catch (error) {
        failed?.(error)
        const last = Math.min(typeof until === 'number' ? until : until(), this.endsAt)
        const over = last - this.#clock.monotonic() <= pause
        if (over || error instanceof ClosedError || isWrongKind(error)) return { error }
        await this.#sleep(pause)
      }
    }
  }

  /**
   * Undoes what an acquire may have left behind. Goes out behind it on the same connection, so that order makes it
   * effective; where the connection was cut in between, it is repeated once when the old one must be gone.
   * Resolves after the first answer.
   */
  undo(protocol: Pick<LockProtocol, 'release'>, wire: string, lease: number, cause: unknown): Promise<void> {
    if (cause instanceof EngineError && !mayHaveRun(cause)) return Promise.resolve()
    if (cause instanceof ClosedError) return Promise.resolve()
    // As long as it may still be done: a server that stands still does it when it goes on.
    const until = this.#clock.monotonic() + Math.max(lease, UNDO_TIME)
    const first = this.insist(() => protocol.release(wire), until)
    this.track(
      first.then(async (outcome) => {
        if (cause === undefined || ('answer' in outcome && outcome.answer !== NOT_HELD)) return
        // What joins a line is too late by then, too.
        await this.pause(Math.min(2 * this.#commandTimeout, until - this.#clock.monotonic()))
        await this.insist(() => protocol.release(wire), until)
      }),
    )
    return first.then(() => undefined)
  }
}
