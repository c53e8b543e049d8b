import type { Clock } from '../../base/clock.js'

/** Work behind the callers' backs, for which `close` waits; and pauses that closing cuts short. */
export class BackgroundWork {
  readonly #clock: Clock
  /** How much of it goes on. */
  #count = 0
  #settled: (() => void) | undefined
  /** Pauses that closing cuts short. */
  readonly #pauses = new Set<() => void>()
  closed = false
  /** When closing gives up what it still tries, on the monotonic clock. */
  endsAt = Infinity

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Nothing new is begun. What goes on is given up at that time, on the monotonic clock. */
  end(endsAt: number): void {
    this.closed = true
    this.endsAt = endsAt
  }

  /** Keeps `close` waiting for it; what it rejects with is for others to tell. */
  track(work: Promise<unknown>): void {
    this.begun()
    const ended = (): void => this.ended()
    work.then(ended, ended)
  }

  /** Keeps `close` waiting until as much has ended. */
  begun(): void {
    this.#count++
  }

  ended(): void {
    this.#count--
    if (this.#count === 0) this.#settled?.()
  }

  /** Cuts short what waits for a later time. */
  hurry(): void {
    for (const wake of [...this.#pauses]) wake()
  }

  async settled(): Promise<void> {
    this.hurry()
    while (this.#count > 0) {
      await new Promise<void>((resolve) => {
        this.#settled = resolve
      })
    }
  }

  /** Closing cuts it short. */
  pause(ms: number): Promise<void> {
    return this.closed ? Promise.resolve() : this.sleep(ms)
  }

  /** Only the last moment of closing cuts it short. */
  sleep(ms: number): Promise<void> {
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
}
