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

interface Answered {
  readonly states: ReadonlyMap<Place, Joined>
  readonly told: Told
  readonly sent: Moment
}

interface Group {
  readonly places: Place[]
  readonly answered: Promise<Answered | undefined>
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
  readonly #stays: (place: Place) => boolean
  #coming: Group | undefined
  #release: Release | undefined

  /** `stays`: whether its caller has not given it up. */
  constructor(host: LineHost, protocol: LineProtocol, stays: (place: Place) => boolean) {
    this.#host = host
    this.#protocol = protocol
    this.#stays = stays
  }

  /** How it stands now; undefined: it was given up before it was asked for. */
  async join(place: Place): Promise<(Told & { readonly state: Joined; readonly sent: Moment }) | undefined> {
    const { places, answered } = (this.#coming ??= this.#gather())
    if (places.push(place) === BATCH) this.#coming = undefined
    const answer = await answered
    const state = answer?.states.get(place)
    return answer && state && { ...answer.told, sent: answer.sent, state }
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

  #gather(): Group {
    const places: Place[] = []
    const answered = new Promise<Answered | undefined>((resolve) => {
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
    return { places, answered }
  }

  async #ask(all: readonly Place[]): Promise<Answered | undefined> {
    if (this.#coming?.places === all) this.#coming = undefined
    const places = all.filter(this.#stays)
    if (places.length === 0) return undefined
    const { clock, commandTimeout } = this.#host.runtime.options
    const sent = momentOf(clock)
    const now = this.#host.runtime.serverTime(this.#protocol.key).latest
    // Executed later than its reply is waited for, it would put somebody into the line who has gone.
    const notAfter = now === undefined ? NEVER : Math.ceil(now / 1000) + Math.min(commandTimeout, PUNCTUAL)
    const { states, ...told } = await this.#protocol.enqueue(places.map(askerOf), notAfter)
    return { states: new Map(places.map((place, i) => [place, states[i] ?? 'late'])), told, sent }
  }
}
