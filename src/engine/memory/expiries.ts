import type { Clock, Timer } from '../../base/clock.js'
import type { Int } from './numbers.js'
import type { Bytes } from './reply.js'

const IDLE = 1000
const BUSY = 20
const SAMPLE = 500
const MOST = 10_000
/** With fewer keys than this, looking between the sweeps is not worthwhile. */
const FEW = 64

/**
 * When keys expire, and the removal of expired keys that no command reads again. A sweep looks at a sample, from where the last one
 * ended, and continues while many of the sample were due. Each new expiry looks at two others, so that the memory stays bounded
 * even if no timer can run.
 */
export class Expiries {
  readonly #clock: Clock
  readonly #drop: (key: Bytes) => boolean
  readonly #moments = new Map<Bytes, Int>()
  #cursor: Iterator<Bytes> | undefined
  #timer: Timer | undefined

  /** `drop` removes the key if it is due, and returns whether it was. */
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
    // A cursor that is kept would keep alive every old table of a Map that has grown since.
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

  /** Removes all keys that are due. */
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

  /** Returns how many of the next `count` keys were due. */
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
