import type { Clock, Timer } from '../../base/clock.js'
import { POLL } from '../../script-times-and-limits.js'

interface Watched {
  readonly due: number
  over: (() => void) | undefined
}

/** How long a caller waits for a release at most: one reply, and a moment longer. The limit is the same for all, so one timer is enough. */
export class ReleaseCallerLimit {
  readonly #clock: Clock
  readonly ms: number
  #watched: Watched[] = []
  #oldest = 0
  #timer: Timer | undefined
  #stopped = false

  constructor(clock: Clock, commandTimeout: number) {
    this.#clock = clock
    this.ms = commandTimeout + POLL
  }

  /** Settles as the step does, or resolves with `otherwise` if the time is up first. */
  within<T>(step: Promise<T>, otherwise: T): Promise<T> {
    if (this.#stopped) return step
    return new Promise<T>((resolve, reject) => {
      const entry: Watched = {
        due: this.#clock.monotonic() + this.ms,
        over: () => resolve(otherwise),
      }
      this.#watched.push(entry)
      this.#timer ??= this.#arm(this.ms)
      step.then(
        (value) => {
          this.#settle(entry)
          resolve(value)
        },
        (error: unknown) => {
          this.#settle(entry)
          reject(error)
        },
      )
    })
  }

  /** The client is closed: from now on, no call is limited. */
  stop(): void {
    this.#stopped = true
    this.#timer?.cancel()
    this.#timer = undefined
  }

  #settle(entry: Watched): void {
    entry.over = undefined
    while (this.#oldest < this.#watched.length && this.#watched[this.#oldest]?.over === undefined) this.#oldest++
    if (this.#oldest < 1024 && this.#oldest < this.#watched.length) return
    this.#watched.splice(0, this.#oldest)
    this.#oldest = 0
  }

  #arm(ms: number): Timer {
    const due = (): void => {
      this.#timer = undefined
      this.#expire()
    }
    return this.#clock.setTimer(due, ms, { background: true })
  }

  #expire(): void {
    const now = this.#clock.monotonic()
    let next = this.#watched[this.#oldest]
    while (next !== undefined && (next.over === undefined || next.due <= now)) {
      next.over?.()
      this.#settle(next)
      next = this.#watched[this.#oldest]
    }
    if (next !== undefined) this.#timer = this.#arm(next.due - now)
  }
}
