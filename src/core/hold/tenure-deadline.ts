import type { Clock, Moment } from '../../base/clock.js'
import type { LeaseTerms } from './lease-terms.js'
import { TRIAL } from '../../script-times-and-limits.js'
import { CLOCKS_APART } from './clocks-apart.js'
import { marginOf } from './safety-margin.js'

/** Until when the server's last answer can be trusted. */
export class TenureDeadline {
  /** The moment before the question was sent. */
  #proven: Moment
  /** ms from that moment: what is left of the lease, less the margin. */
  #lasts: number
  /** How much of that time the monotonic clock has missed, and when this was noticed. */
  #slept = 0
  #sleptAt = 0
  #doubt: unknown
  /** Questions asked before this moment may have been answered by a server that is no longer the master. */
  #questioned = 0

  constructor(sent: Moment, lease: number) {
    this.#proven = sent
    this.#lasts = lease - marginOf(lease)
  }

  /** The server said, some time after `sent`, that the hold is ours for `left` ms (-1: the key has no expiry). False: the question is too old. */
  proved(sent: Moment, left: number, lease: number): boolean {
    if (sent.order < this.#questioned) return false
    this.#proven = sent
    // If another program removed the expiry, we still trust the hold only for the lease that we asked for.
    this.#lasts = (left < 0 ? lease : left) - marginOf(lease)
    this.#doubt = undefined
    if (sent.mono >= this.#sleptAt) this.#slept = 0
    return true
  }

  /** The hold is in doubt until the server has answered a question that is sent from now on. */
  questioned(now: Moment, cause: unknown): void {
    this.#questioned = now.order
    this.#doubt ??= cause
  }

  /** The wall clock has advanced by `ms` more than the monotonic clock: the machine was suspended. */
  slept(ms: number, now: number): void {
    this.#slept += ms
    this.#sleptAt = now
  }

  get proven(): Moment {
    return this.#proven
  }

  /** When the hold counts as lost, on the monotonic clock. */
  get lostAt(): number {
    return this.steadyLostAt - this.#slept
  }

  /** The same, if the monotonic clock has missed nothing: when the wall clock was only set. */
  get steadyLostAt(): number {
    return this.#proven.mono + this.#lasts
  }

  /** Why the hold is in doubt. */
  get doubt(): unknown {
    return this.#doubt
  }

  doubted(cause: unknown): void {
    this.#doubt = cause ?? new Error('no answer')
  }

  /** Computed from the clocks, on each call. */
  status(clock: Clock, { lease, watched }: LeaseTerms, trial: boolean): 'held' | 'uncertain' | 'lost' {
    const mono = clock.monotonic()
    const wall = clock.now()
    const left = Math.min(this.lostAt - mono, this.#lostAtWall - wall)
    if (left <= 0) return 'lost'
    // A hold that never expires cannot be in doubt because clocks disagree.
    if (left !== Infinity && Math.abs(wall - this.#proven.wall - (mono - this.#proven.mono)) > CLOCKS_APART)
      return 'uncertain'
    const whole = trial ? Math.min(lease, TRIAL) : lease
    if (watched && left + marginOf(lease) < whole / 2) return 'uncertain'
    return this.#doubt === undefined ? 'held' : 'uncertain'
  }

  /** ms until the hold counts as lost. */
  remaining(clock: Clock): number {
    return Math.min(this.lostAt - clock.monotonic(), this.#lostAtWall - clock.now())
  }

  get #lostAtWall(): number {
    return this.#proven.wall + this.#lasts
  }
}
