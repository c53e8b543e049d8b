import { nextTick } from 'node:process'
import { type Clock, type Moment, momentOf, type Timer } from '../../base/clock.js'
import { BATCH, type Told } from './line-poll.js'
import type { JoinState, LineProtocol } from '../protocol/line-protocol.js'
import { askerOf } from './places.js'
import type { Place } from '../waiting/waiter.js'
import type { LineHost } from '../waiting/gate-host.js'

/** What is to join the line comes there so soon, or not at all: else its place could be granted and lapse unseen. */
const PUNCTUAL = 2500
/** Longer than this nobody waits for the answer to a release, ms. */
export const SOON = 50
/** Nor, where there is time, for others to join with, ms. */
const GATHER = 10
/** No server's clock has come so far. */
const NEVER = Number.MAX_SAFE_INTEGER

/** The line that is joined. */
export interface Joinable {
  /** Whether its caller has not given it up. */
  stays(place: Place): boolean
  /** The server has answered a question that was sent at this moment; its time, µs. */
  heard(stamp: number, sent: Moment): void
  /** How one of them stood then, and for how many ms the lock stays another's. */
  joined(place: Place, state: JoinState, told: Told, sent: Moment): void
  troubled(place: Place, trouble: unknown): void
}

/**
 * Those who come to a line before the next tick join it in one step, one behind the other; a little later where there is
 * time, so that more of them do. Who comes while this process gives the lock back to others joins together with whoever
 * gave it back, if that one comes again: those who stand together pass it on among themselves.
 */
export class LineJoin {
  readonly #host: LineHost
  readonly #protocol: LineProtocol
  readonly #line: Joinable
  /** Those of one step each, the oldest first: all but the last are full. */
  #coming: Place[][] = []
  /** With the next tick. */
  #asks = false
  #gathering: Timer | undefined
  /** Until the answer to a release is here, but not for long. */
  #release: Timer | undefined

  constructor(host: LineHost, protocol: LineProtocol, line: Joinable) {
    this.#host = host
    this.#protocol = protocol
    this.#line = line
  }

  get #clock(): Clock {
    return this.#host.runtime.options.clock
  }

  /** `patient`: it will not be granted soon. */
  join(place: Place, patient: boolean): void {
    let group = this.#coming.at(-1)
    if (group === undefined || group.length === BATCH) this.#coming.push((group = []))
    group.push(place)
    if (!patient) this.#askSoon()
    else this.#gathering ??= this.#clock.setTimer(() => this.#askSoon(), GATHER)
  }

  /** The lock is being freed. */
  hold(): void {
    this.#release ??= this.#clock.setTimer(() => this.go(), SOON)
  }

  /** It has been freed, and whoever did so goes on. */
  go(): void {
    if (this.#release === undefined) return
    this.#release.cancel()
    this.#release = undefined
    this.#askSoon()
  }

  #askSoon(): void {
    if (this.#asks) return
    this.#asks = true
    nextTick(() => {
      this.#asks = false
      if (this.#release !== undefined) return
      this.#gathering?.cancel()
      this.#gathering = undefined
      for (const group of this.#coming.splice(0)) void this.#host.staying(() => this.#ask(group))
    })
  }

  async #ask(all: readonly Place[]): Promise<void> {
    const places = all.filter((place) => this.#line.stays(place))
    if (places.length === 0) return
    const { commandTimeout } = this.#host.runtime.options
    const sent = momentOf(this.#clock)
    const now = this.#host.runtime.serverTime(this.#protocol.key).latest
    // Executed later than its reply is waited for, it would put somebody into the line who has gone.
    const notAfter = now === undefined ? NEVER : Math.ceil(now / 1000) + Math.min(commandTimeout, PUNCTUAL)
    let answer
    try {
      answer = await this.#protocol.enqueue(places.map(askerOf), notAfter)
    } catch (trouble) {
      for (const place of places) this.#line.troubled(place, trouble)
      return
    }
    this.#line.heard(answer.stamp, sent)
    for (const [i, place] of places.entries()) {
      try {
        this.#line.joined(place, answer.states[i] ?? 'late', answer, sent)
      } catch (trouble) {
        this.#line.troubled(place, trouble)
      }
    }
  }
}
