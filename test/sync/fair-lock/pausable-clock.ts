import type { Clock, Timer } from 'holdfast'

/** The clock of a process that can be stopped: meanwhile no timer of it goes off. */
export class PausableClock implements Clock {
  readonly #clock: Clock
  #due: Set<() => void> | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  now(): number {
    return this.#clock.now()
  }

  monotonic(): number {
    return this.#clock.monotonic()
  }

  random(): number {
    return this.#clock.random()
  }

  randomBytes(count: number): Uint8Array {
    return this.#clock.randomBytes(count)
  }

  setTimer(callback: () => void, ms: number, options?: Parameters<Clock['setTimer']>[2]): Timer {
    const run = (): void => {
      if (this.#due === undefined) callback()
      else this.#due.add(callback)
    }
    const timer = this.#clock.setTimer(run, ms, options)
    return {
      cancel: () => {
        timer.cancel()
        this.#due?.delete(callback)
      },
    }
  }

  pause(): void {
    this.#due ??= new Set()
  }

  resume(): void {
    const due = this.#due ?? []
    this.#due = undefined
    for (const callback of due) callback()
  }
}
