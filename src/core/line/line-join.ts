import { platform } from '#platform'
import { type Clock, type Moment, momentOf, type Timer } from '../../base/clock.js'
import { BATCH, type Told } from './line-poll.js'
import type { JoinState, LineProtocol } from '../protocol/line-protocol.js'
import { askerOf } from './places.js'
import type { Place } from '../waiting/waiter.js'
import type { LineHost } from '../waiting/gate-host.js'

/** ms. A join that reaches the server later than this is not carried out: its place could be granted and lapse unseen. */
const PUNCTUAL = 2500
/** ms. How long a join waits for the answer to a release, at most. */
export const SOON = 50
/** ms. How long a join waits for others to join with, if there is time. */
const GATHER = 10
/** Later than any server's clock. */
const NEVER = Number.MAX_SAFE_INTEGER

/** The line to join. */
export interface Joinable {
  /** Whether its caller has not given it up. */
  stays(place: Place): boolean
  /** The server has answered a question that was sent at this moment; `stamp`: its time, µs. */
  heard(stamp: number, sent: Moment): void
  /** How a place stood then, and for how many ms the lock is still held. */
  joined(place: Place, state: JoinState, told: Told, sent: Moment): void
  troubled(place: Place, trouble: unknown): void
}

/**
 * Calls that come before the next tick join the line in one step, one behind the other; if there is time, a little later, so that
 * more of them join together. Calls that come while this process releases the lock to others join together with the call that
 * released it, if that one comes again: places that stand together pass the lock on among themselves.
 */
export class LineJoin {
  readonly #host: LineHost
  readonly #protocol: LineProtocol
  readonly #line: Joinable
  /** The places of one step each, the oldest first: all groups but the last are full. */
  #coming: Place[][] = []
  /** It will ask with the next tick. */
  #asks = false
  #gathering: Timer | undefined
  /** Set until the answer to a release is here, but not for long. */
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

  /** The lock is being freed: wait for that. */
  hold(): void {
    this.#release ??= this.#clock.setTimer(() => this.go(), SOON)
  }

  /** The lock has been freed, and the call that released it goes on. */
  go(): void {
    if (this.#release === undefined) return
    this.#release.cancel()
    this.#release = undefined
    this.#askSoon()
  }

  #askSoon(): void {
    if (this.#asks) return
    this.#asks = true
    platform.nextTick(() => {
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
    // If the server ran it after we stop waiting for the reply, it would put a place into the line after its call has gone.
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
