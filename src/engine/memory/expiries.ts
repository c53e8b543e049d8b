import type { Clock, Timer } from '../../base/clock.js'
import type { Int } from './numbers.js'
import type { Bytes } from './reply.js'

const IDLE = 1000
const BUSY = 20
const SAMPLE = 500
const MOST = 10_000
/** Below this many it is not worth looking between the sweeps. */
const FEW = 64

/**
 * When keys expire, and what removes those that nobody asks for again. A sweep looks at a sample, where the last one
 * ended, and goes on while many of the sample were due. Each new expiry looks at two others, so that the space stays in
 * bounds also where no timer gets to run.
 */
export class Expiries {
  readonly #clock: Clock
  readonly #drop: (key: Bytes) => boolean
  readonly #moments = new Map<Bytes, Int>()
  #cursor: Iterator<Bytes> | undefined
  #timer: Timer | undefined

  /** `drop` removes the key when it is due and says whether it was. */
  constructor(clock: Clock, drop: (key: Bytes) => boolean) {
    this.#clock = clock
    this.#drop = drop
  }

  get size(): number {
    return this.#moments.size
  }

  get(key: Bytes): Int | undefined {
    return this.#moments.get(key)
  }

  set(key: Bytes, at: Int): void {
    const before = this.#moments.size
    this.#moments.set(key, at)
    if (this.#timer === undefined) this.#arm(IDLE)
    // A cursor left where it is would keep alive every table that the Map has outgrown since.
    if (before < FEW) this.#cursor = undefined
    else if (this.#moments.size > before) this.#look(2)
  }

  delete(key: Bytes): void {
    this.#moments.delete(key)
  }

  clear(): void {
    this.#moments.clear()
    this.#timer?.cancel()
    this.#timer = undefined
  }

  /** Drops all that is due. */
  sweep(): void {
    for (const key of this.#moments.keys()) this.#drop(key)
  }

  #arm(ms: number): void {
    this.#timer = this.#clock.setTimer(() => this.#onTimer(), ms, { background: true })
  }

  #onTimer(): void {
    this.#timer = undefined
    let seen = 0
    let busy = true
    while (busy && seen < MOST) {
      busy = this.#look(SAMPLE) > SAMPLE / 10
      seen += SAMPLE
    }
    if (this.#moments.size > 0) this.#arm(busy ? BUSY : IDLE)
  }

  /** How many of the next `count` were due. */
  #look(count: number): number {
    let due = 0
    for (let i = 0; i < count; i++) {
      this.#cursor ??= this.#moments.keys()
      const next = this.#cursor.next()
      if (next.done === true) {
        this.#cursor = undefined
        return due
      }
      if (this.#drop(next.value)) due++
    }
    return due
  }
}
