import { type Moment, momentOf, type Timer } from '../../base/clock.js'
import type { Answer, LineProtocol, News, PlaceState } from '../protocol/line-protocol.js'
import { MessageThrottle } from '../waiting/message-throttle.js'
import { askerOf } from './places.js'
import { isTransient } from '../server/transient-or-unsure-errors.js'
import type { Place } from '../waiting/waiter.js'
import type { LineHost } from '../waiting/gate-host.js'
import { POLL } from '../../script-times-and-limits.js'

/** How many waiters one script call asks about. */
export const BATCH = 250

/** ms. If all places were last asked about longer ago than this, the next question is about all again. */
const ALL_AGAIN = 0.8 * POLL

/** ms. How often a waiter asks that is next in line and cannot hear grants. */
const RESTLESS = 100

/** The rest of an answer, besides the states. */
export type Told = Omit<Answer<unknown>, 'states'>

/** The line to ask about. */
export interface Polled {
  /** The places that stand in the line, as far as is known. */
  standing(): readonly Place[]
  /** The server has answered a question that was sent at this moment; `stamp`: its time, µs. */
  heard(stamp: number, sent: Moment): void
  /** How a place stood then, and for how many ms the lock is still held. */
  stands(place: Place, state: PlaceState, told: Told, sent: Moment): void
  troubled(place: Place, trouble: unknown): void
  /** Trouble that concerns all waiters, and that they wait out. */
  met(trouble: unknown): void
}

/** Shows the server regularly that the waiters are alive, and asks how they stand. */
export class LinePoll {
  readonly #host: LineHost
  readonly #protocol: LineProtocol
  readonly #line: Polled
  readonly #pace = new MessageThrottle()
  readonly #news: () => News
  #timer: Timer | undefined
  #due = Infinity
  #asking = false
  /** When all places were last asked about. */
  #askedAll = -Infinity
  /** A message demands a question, which will be asked soon. */
  #owed = false
  /** How many messages have demanded a question. */
  calls = 0

  constructor(host: LineHost, protocol: LineProtocol, line: Polled, news: () => News) {
    this.#host = host
    this.#protocol = protocol
    this.#line = line
    this.#news = news
  }

  /** Asks in `ms`, or sooner if a question is due sooner anyway. */
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

  /** Asks when an answer says: in `left` ms at the latest; sooner if this place is next and no message can tell it of its grant. */
  after(state: PlaceState, left: number): void {
    const wait = left < 0 ? POLL : left + 1
    this.in(this.#news() >= 2 && this.#isNext(state) ? Math.min(RESTLESS, wait) : wait)
  }

  #isNext(state: PlaceState): boolean {
    return state === 'next' || (state === 'behind others' && this.#protocol.callOf === undefined)
  }

  /** A message came. A question in progress may have been answered before it. */
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
    // A message concerns the first places: it costs one script. The others are asked about as often as without messages.
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
