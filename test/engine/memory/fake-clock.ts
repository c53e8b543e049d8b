import type { Clock, Timer } from '#src/base/clock.js'

/** Time that stands still until it is told to pass. */
export class FakeClock implements Clock {
  #now = 1_700_000_000_000
  readonly #timers = new Set<{ readonly due: number; readonly callback: () => void }>()

  get timers(): number {
    return this.#timers.size
  }

  now(): number {
    return this.#now
  }

  monotonic(): number {
    return this.#now
  }

  setTimer(callback: () => void, ms: number): Timer {
    const timer = { due: this.#now + ms, callback }
    this.#timers.add(timer)
    return { cancel: () => void this.#timers.delete(timer) }
  }

  randomBytes(count: number): Uint8Array {
    return new Uint8Array(count)
  }

  random(): number {
    return 0.5
  }

  pass(ms: number): void {
    const end = this.#now + ms
    for (;;) {
      const due = [...this.#timers].filter((timer) => timer.due <= end).sort((a, b) => a.due - b.due)[0]
      if (due === undefined) break
      this.#timers.delete(due)
      this.#now = Math.max(this.#now, due.due)
      due.callback()
    }
    this.#now = end
  }
}
