import { type Moment, momentOf, type Timer } from '../../base/clock.js'
import type { Answer, LineProtocol, News, PlaceState } from '../protocol/line-protocol.js'
import { MessageBrake } from '../waiting/message-brake.js'
import { askerOf } from './places.js'
import { isTransient } from '../server/error-kinds.js'
import type { Place } from '../waiting/waiter.js'
import type { LineHost } from '../waiting/gate-host.js'
import { POLL } from '../../constants.js'

/** How many waiters one script call asks about. */
export const BATCH = 250

/** All who stand there are asked about again when the last time was so long ago, ms. */
const ALL_AGAIN = 0.8 * POLL

/** How often a waiter asks that is next and hears of no grants, ms. */
const RESTLESS = 100

/** What an answer tells besides. */
export type Told = Omit<Answer<unknown>, 'states'>

/** The line that is asked about. */
export interface Polled {
  /** Those who stand in it, as far as is known. */
  standing(): readonly Place[]
  /** The server has answered a question that was sent at this moment; its time, µs. */
  heard(stamp: number, sent: Moment): void
  /** How one of them stood then, and for how many ms the lock stays another's. */
  stands(place: Place, state: PlaceState, told: Told, sent: Moment): void
  troubled(place: Place, trouble: unknown): void
  /** What all who wait have met, and wait out. */
  met(trouble: unknown): void
}

/** Shows the server again and again that those who wait live, and asks how they stand. */
export class LinePoll {
  readonly #host: LineHost
  readonly #protocol: LineProtocol
  readonly #line: Polled
  readonly #pace = new MessageBrake()
  readonly #news: () => News
  #timer: Timer | undefined
  #due = Infinity
  #asking = false
  /** When all who stand there were asked about. */
  #askedAll = -Infinity
  /** Soon, for a message. */
  #owed = false
  /** How often somebody here was called. */
  calls = 0

  constructor(host: LineHost, protocol: LineProtocol, line: Polled, news: () => News) {
    this.#host = host
    this.#protocol = protocol
    this.#line = line
    this.#news = news
  }

  /** In so many ms, unless it comes sooner anyway. */
  in(ms: number): void {
    const { clock } = this.#host.runtime.options
    const wait = Math.min(ms, POLL * (0.9 + 0.1 * clock.random()))
    const due = clock.monotonic() + wait
    if (due >= this.#due) return
    this.#timer?.cancel()
    this.#due = due
    this.#timer = clock.setTimer(() => {
      this.#due = Infinity
      void this.#host.staying(() => this.#ask())
    }, wait)
  }

  /** As an answer says: `left` ms from now at the latest, and sooner where nothing else can say that this place, the next one, is granted. */
  after(state: PlaceState, left: number): void {
    const wait = left < 0 ? POLL : left + 1
    this.in(this.#news() >= 2 && this.#isNext(state) ? Math.min(RESTLESS, wait) : wait)
  }

  #isNext(state: PlaceState): boolean {
    return state === 'next' || (state === 'behind others' && this.#protocol.callOf === undefined)
  }

  /** Somebody here was called. What is being asked may have been answered before that. */
  now(): void {
    this.calls += 1
    if (!this.#asking && !this.#owed) this.#answerCall()
  }

  #answerCall(): void {
    const now = this.#host.runtime.options.clock.monotonic()
    const wait = this.#pace.delay(now, this.#line.standing().length)
    this.#owed = wait > 0
    if (this.#owed) this.in(wait)
    else void this.#host.staying(() => this.#ask())
  }

  stop(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#due = Infinity
    this.#owed = false
  }

  async #ask(): Promise<void> {
    this.#owed = false
    const places = this.#line.standing()
    if (places.length === 0 || this.#asking) return
    this.stop()
    this.#asking = true
    const { calls } = this
    // A message is about those in front: it costs one script, and the others are asked about as often as without it.
    const now = this.#host.runtime.options.clock.monotonic()
    const most = now - this.#askedAll < ALL_AGAIN ? BATCH : places.length
    if (most >= places.length) this.#askedAll = now
    let left = this.#askedAll + POLL - now
    try {
      for (let from = 0; from < most; from += BATCH) {
        left = Math.min(left, await this.#askAbout(places.slice(from, from + BATCH)))
      }
    } catch (trouble) {
      if (isTransient(trouble)) this.#line.met(trouble)
      else for (const place of places) this.#line.troubled(place, trouble)
    } finally {
      this.#asking = false
    }
    if (calls === this.calls) this.in(left)
    else this.#answerCall()
  }

  async #askAbout(places: readonly Place[]): Promise<number> {
    const sent = momentOf(this.#host.runtime.options.clock)
    for (const place of places) place.asked++
    const answer = await this.#protocol.poll(places.map(askerOf), this.#news())
    for (const place of places) place.asked--
    this.#line.heard(answer.stamp, sent)
    if (answer.states.includes('held')) this.#pace.served()
    places.forEach((place, i) => this.#line.stands(place, answer.states[i] ?? 'gone', answer, sent))
    return answer.left < 0 ? POLL : answer.left + 1
  }
}
