import { platform } from '#platform'
import { outside } from './scope.js'

/**
 * Time, timers and randomness. Only this file touches the real ones (the linter forbids them elsewhere),
 * so that everything, the embedded engine included, also runs under a virtual clock.
 */
export interface Clock {
  /** Wall clock, ms since the epoch. */
  now(): number
  /** Monotonic clock, ms, with fractions. It stands still while the machine is suspended. */
  monotonic(): number
  /** Runs `callback` once after `ms`, which may be longer than the platform's timers allow. */
  setTimer(callback: () => void, ms: number, options?: TimerOptions): Timer
  /** Random bytes, good enough for ids. */
  randomBytes(count: number): Uint8Array
  /** Uniform in [0, 1). For jitter only. */
  random(): number
}

/** How a timer behaves. */
export interface TimerOptions {
  /** If true, the timer does not keep the process alive. Default false. */
  readonly background?: boolean
}

/** A timer that has been set. */
export interface Timer {
  /** Stops the timer. Does nothing if it has fired already. */
  cancel(): void
}

const LONGEST_TIMER = 2_147_483_647
/** ms. If a timer is later than this, the event loop was blocked. */
const STALL = 20
/** ms. After a blocked event loop, time to read answers that were not read, or requests not even sent. */
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
      if (background) platform.unref(handle)
      return handle
    }
    this.#handle = arm(ms)
  }

  cancel(): void {
    clearTimeout(this.#handle)
  }
}

/** ms. Random bytes within this time use the same mixed-in key. */
const STIRRED_FOR = 20

let key: Uint8Array = new Uint8Array(32)
let stirredAt = -Infinity

/**
 * Two processes started from one snapshot share the generator's state, and would draw the same bytes for up to an hour. So we
 * mix in what differs between them from then on.
 */
const randomBytes = (count: number): Uint8Array => {
  if (Math.abs(performance.now() - stirredAt) > STIRRED_FOR) {
    key = platform.stirred(key)
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
 * A time limit for an answer. Timers fire before sockets are read, so if the process stood still, the answer may be there
 * already: it is read first, and `callback` is called after that. `callback` gets the moment at which the limit was noticed.
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

/** ms since the epoch of a date in ISO 8601; `NaN` if it is none. */
export const timeOf = (text: string): number => Date.parse(text)

/** For code that gives or takes a `Date`. The current time comes from a clock. */
export const dateAt = (ms: number): Date => new Date(ms)
export const isDate = (value: unknown): value is Date => value instanceof Date

/** Both clocks at one moment. The larger progress of the two counts, because one clock stands still while the machine is suspended. */
export interface Moment {
  readonly mono: number
  readonly wall: number
  /** Tells which of two moments came first: the clocks may show the same. */
  readonly order: number
}

let moments = 0

export const momentOf = (clock: Clock): Moment => ({ mono: clock.monotonic(), wall: clock.now(), order: ++moments })

/** ms. If the two readings lie further apart, the process may have been paused in between, and we read again. */
const AT_ONCE = 1

/** Both clocks at one moment, read close enough together to compare how far they have drifted apart since another reading. */
export const steadyMoment = (clock: Clock): Moment => {
  let moment = momentOf(clock)
  for (let tries = 0; tries < 5 && clock.monotonic() - moment.mono > AT_ONCE; tries++) moment = momentOf(clock)
  return moment
}
