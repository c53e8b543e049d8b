import { nextTick } from 'node:process'
import type { Timer } from './clock.js'
import { BATCH, type Told } from './line-poll.js'
import type { Joined, LineHost, LineProtocol } from './line-protocol.js'
import { type Place, askerOf } from './place.js'
import { type Moment, momentOf } from './trust.js'

/** What is to join the line comes there so soon, or not at all: else its place could be granted and lapse unseen. */
const PUNCTUAL = 2500
/** Longer than this nobody waits for the answer to a release, ms. */
const SOON = 50
/** No server's clock has come so far. */
const NEVER = Number.MAX_SAFE_INTEGER

/** The line that is joined. */
export interface Joinable {
  /** Whether its caller has not given it up. */
  stays(place: Place): boolean
  /** The server has answered a question that was sent at this moment; its time, µs. */
  heard(stamp: number, sent: Moment): void
  /** How one of them stood then, and for how many ms the lock stays another's. */
  joined(place: Place, state: Joined, told: Told, sent: Moment): void
  troubled(place: Place, trouble: unknown): void
}

/** Until the answer to a release is here. */
interface Release {
  readonly answered: Promise<void>
  readonly go: () => void
  readonly timer: Timer
}

/**
 * Those who come to a line within one turn of the event loop join it in one step, one behind the other. Who comes while this
 * process gives the lock back to others joins together with whoever gave it back, if that one comes again: who stand together
 * have their turns from hand to hand.
 */
export class LineJoin {
  readonly #host: LineHost
  readonly #protocol: LineProtocol
  readonly #line: Joinable
  #coming: Place[] | undefined
  #release: Release | undefined

  constructor(host: LineHost, protocol: LineProtocol, line: Joinable) {
    this.#host = host
    this.#protocol = protocol
    this.#line = line
  }

  join(place: Place): void {
    const places = (this.#coming ??= this.#gather())
    if (places.push(place) === BATCH) this.#coming = undefined
  }

  /** The lock is being freed. */
  hold(): void {
    this.go()
    let go = (): void => undefined
    const answered = new Promise<void>((resolve) => {
      go = resolve
    })
    const timer = this.#host.runtime.options.clock.setTimer(go, SOON)
    this.#release = { answered, go, timer }
  }

  /** It has been freed, and whoever did so goes on. */
  go(): void {
    this.#release?.timer.cancel()
    this.#release?.go()
    this.#release = undefined
  }

  #gather(): Place[] {
    const places: Place[] = []
    const joined = new Promise<void>((resolve) => {
      const ask = (): void => {
        resolve(this.#ask(places))
      }
      nextTick(() => {
        if (this.#release === undefined) ask()
        else
          void this.#release.answered.then(() => {
            nextTick(ask)
          })
      })
    })
    void this.#host.staying(() => joined)
    return places
  }

  async #ask(all: readonly Place[]): Promise<void> {
    if (this.#coming === all) this.#coming = undefined
    const places = all.filter((place) => this.#line.stays(place))
    if (places.length === 0) return
    const { clock, commandTimeout } = this.#host.runtime.options
    const sent = momentOf(clock)
    const now = this.#host.runtime.serverTime(this.#protocol.key).latest
    // Executed later than its reply is waited for, it would put somebody into the line who has gone.
    const notAfter = now === undefined ? NEVER : Math.ceil(now / 1000) + Math.min(commandTimeout, PUNCTUAL)
    try {
      const { states, ...told } = await this.#protocol.enqueue(places.map(askerOf), notAfter)
      this.#line.heard(told.stamp, sent)
      for (const [i, place] of places.entries()) this.#line.joined(place, states[i] ?? 'late', told, sent)
    } catch (trouble) {
      for (const place of places) this.#line.troubled(place, trouble)
    }
  }
}
