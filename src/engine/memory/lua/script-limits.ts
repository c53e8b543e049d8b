import * as vm from './vm.gen.js'
import type { Clock } from '../../../base/clock.js'

/**
 * How much a script may do: a few seconds' work, counted in steps so that runs are repeatable: calls, jumps back, and other work in
 * units of these. A slow machine stops the script after 5 s, Redis's own default for a script that blocks all clients.
 */
const STEPS = 50_000_000
const MOST_MS = 5_000
/** The limits are checked after this many steps, and the time also after each command. */
const STRIDE = 500
/** The most bytes that a script may allocate; short strings do not count. */
const MEMORY = 512 * 1024 * 1024

/** In a single thread, no other client could stop the script. A script cannot catch this error. */
export class Stopped extends Error {}
const endless = () => new Stopped('BUSY Script did not end and was stopped; what it wrote stays.')
const tooLarge = (): never => {
  throw new Stopped('ERR Script took too much memory and was stopped; what it wrote stays.')
}

/** Stops a script that does not end, or that takes too much memory. */
export class ScriptLimits {
  readonly #clock: Clock
  /** How many steps the running script has left. */
  #left = STEPS
  #began = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** A script begins. */
  begin(): void {
    this.#left = STEPS
    this.#began = this.#clock.monotonic()
    vm.limitMemory(MEMORY, tooLarge)
  }

  end(): void {
    vm.limitMemory(Infinity)
  }

  /** So many steps have been made beyond those that were allowed. Returns how many are allowed next. */
  readonly count = (beyond: number): number => {
    this.#left -= STRIDE + beyond
    if (this.#left < 0) throw endless()
    this.checkTime()
    return STRIDE
  }

  checkTime(): void {
    if (this.#clock.monotonic() - this.#began > MOST_MS) throw endless()
  }
}
