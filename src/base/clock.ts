import { createHash } from 'node:crypto'
import { closeSync, openSync, readSync } from 'node:fs'
import { outside } from './scope.js'

/**
 * Time, timers and randomness. This file alone touches the real ones (the linter forbids them elsewhere),
 * so that everything, the embedded engine included, also runs under a virtual clock.
 */
export interface Clock {
  /** Wall clock, ms since the epoch. */
  now(): number
  /** Monotonic clock, ms, with fractions. Stands still while the machine is suspended. */
  monotonic(): number
  /** Runs `callback` once after `ms`. Any length, also beyond what the platform's timers take. */
  setTimer(callback: () => void, ms: number, options?: TimerOptions): Timer
  /** Random bytes, fit for ids. */
  randomBytes(count: number): Uint8Array
  /** Uniform in [0, 1): for jitter only. */
  random(): number
}

/** Of a timer. */
export interface TimerOptions {
  /** The timer alone does not keep the process alive. */
  readonly background?: boolean
}

/** A timer of a clock. */
export interface Timer {
  /** It never fires; nothing where it has fired already. */
  cancel(): void
}

const LONGEST_TIMER = 2_147_483_647
/** A timer that comes so much too late tells of a blocked event loop. */
const STALL = 20
/** For what was not read, or not even sent, because of that. */
const LATE_READING = 50

class SystemTimer implements Timer {
  #handle: ReturnType<typeof setTimeout>

  constructor(callback: () => void, ms: number, background: boolean) {
    const due = performance.now() + ms
    const arm = (left: number): ReturnType<typeof setTimeout> => {
      const handle = outside(() =>
        left > LONGEST_TIMER
          ? setTimeout(() => (this.#handle = arm(due - performance.now())), LONGEST_TIMER)
          : setTimeout(callback, left),
      )
      if (background) handle.unref()
      return handle
    }
    this.#handle = arm(ms)
  }

  cancel(): void {
    clearTimeout(this.#handle)
  }
}

/** ms. */
const STIRRED_FOR = 20

let key = new Uint8Array(32)
let stirredAt = -Infinity

const fromKernel = (): Uint8Array => {
  const bytes = new Uint8Array(32)
  try {
    const file = openSync('/dev/urandom', 'r')
    readSync(file, bytes)
    closeSync(file)
  } catch {
    // Where there is none the rest must do.
  }
  return bytes
}

/**
 * The generator's state is a part of the process: two that were made of one snapshot draw the same for up to an hour. What
 * differs between them from then on is mixed in: the kernel's own random bytes, and the time to the nanosecond.
 */
const randomBytes = (count: number): Uint8Array => {
  if (Math.abs(performance.now() - stirredAt) > STIRRED_FOR) {
    const moment = `${process.hrtime.bigint()} ${Date.now()} ${process.pid}`
    key = createHash('sha256').update(key).update(fromKernel()).update(moment).digest()
    stirredAt = performance.now()
  }
  return crypto.getRandomValues(new Uint8Array(count)).map((byte, i) => byte ^ (key[i % key.length] as number))
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimer: (callback, ms, options) => new SystemTimer(callback, ms, options?.background === true),
  randomBytes,
  random: () => Math.random(),
}

/**
 * For who limits how long an answer may take. Timers come before what the sockets have: where this process stood still,
 * the answers may be there already, and are read first. `callback` is told the moment of which that is true.
 */
export const limitAnswers = (
  clock: Clock,
  callback: (then: number) => void,
  ms: number,
  options?: TimerOptions,
): Timer => {
  const due = clock.monotonic() + ms
  const look = (): void => {
    const then = clock.monotonic()
    const over = (): void => callback(then)
    if (then - due <= STALL) over()
    else timer = clock.setTimer(over, LATE_READING, options)
  }
  let timer = clock.setTimer(look, ms, options)
  return {
    cancel() {
      timer.cancel()
    },
  }
}

/** A date, for those who give or take one; the time that it is comes from a clock. */
export const dateAt = (ms: number): Date => new Date(ms)
export const isDate = (value: unknown): value is Date => value instanceof Date

/** Both clocks at one moment. What counts is the larger progress of the two: one of them stands still in a suspended machine. */
export interface Moment {
  readonly mono: number
  readonly wall: number
  /** Which of two was first: the clocks may show the same. */
  readonly order: number
}

let moments = 0

export const momentOf = (clock: Clock): Moment => ({ mono: clock.monotonic(), wall: clock.now(), order: ++moments })

/** The two clocks of one look may be read so far apart, ms; read once more, then: the process may have been put aside in between. */
const AT_ONCE = 1

/** Both clocks at one moment, for whoever compares them: how they have parted since another look. */
export const steadyMoment = (clock: Clock): Moment => {
  let moment = momentOf(clock)
  for (let tries = 0; tries < 5 && clock.monotonic() - moment.mono > AT_ONCE; tries++) moment = momentOf(clock)
  return moment
}
