import type { Clock } from '../../base/clock.js'

/** Work that goes on in the background, and for which `close` waits; and pauses that closing cuts short. */
export class BackgroundWork {
  readonly #clock: Clock
  /** How many pieces of work are in progress. */
  #count = 0
  #settled: (() => void) | undefined
  /** Pauses that closing cuts short. */
  readonly #pauses = new Set<() => void>()
  closed = false
  /** When closing gives up the steps that it still repeats, on the monotonic clock. */
  endsAt = Infinity

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Nothing new starts from now on. Work in progress is given up at that time, on the monotonic clock. */
  end(endsAt: number): void {
    this.closed = true
    this.endsAt = endsAt
  }

  /** `close` waits for the work. If it rejects, reporting that is up to others. */
  track(work: Promise<unknown>): void {
    this.begun()
    const ended = (): void => this.ended()
    work.then(ended, ended)
  }

  /** `close` waits until each `begun` has its `ended`. */
  begun(): void {
    this.#count++
  }

  ended(): void {
    this.#count--
    if (this.#count === 0) this.#settled?.()
  }

  /** Ends all pauses now. */
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

  /** A pause that closing cuts short, and that does not start once closed. `begun` gets a function that ends it, too. */
  pause(ms: number, begun?: (wake: () => void) => void): Promise<void> {
    return this.closed ? Promise.resolve() : this.sleep(ms, begun)
  }

  /** A pause that only the last moment of closing cuts short. */
  sleep(ms: number, begun?: (wake: () => void) => void): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        timer.cancel()
        this.#pauses.delete(wake)
        resolve()
      }
      const timer = this.#clock.setTimer(wake, ms)
      this.#pauses.add(wake)
      begun?.(wake)
    })
  }
}
