import type { Clock, Timer } from '../base/clock.js'
import { outside } from '../base/scope.js'
import { Random } from './random.js'

/** A clock whose time passes only when told to. With `memory:` everything that happens under it can be repeated. */
export interface VirtualClock extends Clock {
  /** Runs every timer that is due within the next `ms`, in order, and lets promises settle between them. */
  advance(ms: number): Promise<void>
  /** The wall clock alone moves: a step by NTP, or, with a positive step, what a suspended machine sees on waking. */
  stepWall(ms: number): void
}

/** A fixed beginning, so that a run can be repeated to the millisecond. */
const EPOCH = 1_767_225_600_000

interface VirtualTimer {
  readonly due: number
  readonly order: number
  readonly callback: () => void
}

class SeededClock implements VirtualClock {
  #elapsed = 0
  #wallStep = 0
  #order = 0
  readonly #random: Random
  readonly #timers = new Set<VirtualTimer>()

  constructor(seed: number) {
    this.#random = new Random(seed)
  }

  now(): number {
    return EPOCH + this.#elapsed + this.#wallStep
  }

  monotonic(): number {
    return this.#elapsed
  }

  setTimer(callback: () => void, ms: number): Timer {
    const timer = { due: this.#elapsed + Math.max(0, ms), order: this.#order++, callback }
    this.#timers.add(timer)
    return { cancel: () => void this.#timers.delete(timer) }
  }

  randomBytes(count: number): Uint8Array {
    return Uint8Array.from({ length: count }, () => Math.floor(this.random() * 256))
  }

  random(): number {
    return this.#random.next()
  }

  stepWall(ms: number): void {
    this.#wallStep += ms
  }

  async advance(ms: number): Promise<void> {
    if (!(ms >= 0)) throw new RangeError(`ms must be 0 or more, not ${ms}`)
    const end = this.#elapsed + ms
    await settle()
    for (let timer = this.#next(end); timer !== undefined; timer = this.#next(end)) {
      this.#timers.delete(timer)
      this.#elapsed = Math.max(this.#elapsed, timer.due)
      outside(timer.callback)
      await settle()
    }
    this.#elapsed = end
  }

  #next(end: number): VirtualTimer | undefined {
    let next: VirtualTimer | undefined
    for (const timer of this.#timers) {
      if (timer.due > end) continue
      if (next === undefined || timer.due < next.due || (timer.due === next.due && timer.order < next.order))
        next = timer
    }
    return next
  }
}

/** Promises settle in microtasks; a macrotask comes after all of them. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** A clock that stands still until `advance`; its random numbers come from the seed. */
export const virtualClock = (seed = 1): VirtualClock => {
  if (!Number.isFinite(seed)) throw new TypeError(`seed must be a number, not ${String(seed)}`)
  return new SeededClock(seed)
}
