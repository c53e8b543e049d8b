import type { Clock, Moment } from '../../base/clock.js'
import type { Terms } from './terms.js'
import { TRIAL } from '../../constants.js'
import { marginOf } from './margin.js'

/** Clocks that differ by more are not believed until the server has answered. */
const CLOCKS_APART = 1000

/** For how long the server's last word can be believed. */
export class Deadline {
  /** Before the question was sent. */
  #proven: Moment
  /** ms from then on: the deadline less the margin. */
  #lasts: number
  /** How much of that the monotonic clock has not seen, and when this was noticed. */
  #slept = 0
  #sleptAt = 0
  #doubt: unknown
  /** What was asked before this moment may have been answered by a server that is the master no more. */
  #questioned = 0

  constructor(sent: Moment, lease: number) {
    this.#proven = sent
    this.#lasts = lease - marginOf(lease)
  }

  /** The server said at some time after `sent` that it is ours for `left` ms (-1: its key has no expiry). False: that was too long ago. */
  proved(sent: Moment, left: number, lease: number): boolean {
    if (sent.order < this.#questioned) return false
    this.#proven = sent
    // Where somebody took its expiry away, it is believed for no longer than it was asked for all the same.
    this.#lasts = (left < 0 ? lease : left) - marginOf(lease)
    this.#doubt = undefined
    if (sent.mono >= this.#sleptAt) this.#slept = 0
    return true
  }

  /** It is in doubt until the server has answered what is asked from now on. */
  questioned(now: Moment, cause: unknown): void {
    this.#questioned = now.order
    this.#doubt ??= cause
  }

  /** The wall clock has gone on by so many ms more: the machine was suspended. */
  slept(ms: number, now: number): void {
    this.#slept += ms
    this.#sleptAt = now
  }

  get proven(): Moment {
    return this.#proven
  }

  /** When it is over, on the monotonic clock. */
  get lostAt(): number {
    return this.#proven.mono + this.#lasts - this.#slept
  }

  /** Why it is in doubt. */
  get doubt(): unknown {
    return this.#doubt
  }

  doubted(cause: unknown): void {
    this.#doubt = cause ?? new Error('no answer')
  }

  /** Computed from the clock, each time. */
  status(clock: Clock, { lease, watched }: Terms, trial: boolean): 'held' | 'uncertain' | 'lost' {
    const mono = clock.monotonic()
    const wall = clock.now()
    const left = Math.min(this.lostAt - mono, this.#lostAtWall - wall)
    if (left <= 0) return 'lost'
    // What never expires cannot be in doubt because clocks disagree.
    if (left !== Infinity && Math.abs(wall - this.#proven.wall - (mono - this.#proven.mono)) > CLOCKS_APART)
      return 'uncertain'
    const whole = trial ? Math.min(lease, TRIAL) : lease
    if (watched && left + marginOf(lease) < whole / 2) return 'uncertain'
    return this.#doubt === undefined ? 'held' : 'uncertain'
  }

  /** ms until it is over. */
  remaining(clock: Clock): number {
    return Math.min(this.lostAt - clock.monotonic(), this.#lostAtWall - clock.now())
  }

  get #lostAtWall(): number {
    return this.#proven.wall + this.#lasts
  }
}
