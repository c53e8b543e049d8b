import type { Timer } from '../../base/clock.js'
import { MessageBrake } from '../waiting/message-brake.js'
import type { Patience } from '../waiting/request.js'
import { type Contest as Asked, AskLoop } from '../waiting/ask-loop.js'
import type { Ear } from '../server/subscriptions.js'
import type { Runtime } from '../client/runtime.js'
import type { Passage } from './passage.js'
import { quoted } from '../../plain-text.js'
import { POLL } from '../../constants.js'

/** What it contends for, where whoever waits is told by messages. */
export interface TurnstileContest<W> extends Asked<W> {
  readonly passage: Pick<Passage<never, never>, 'name' | 'channel' | 'delayOf' | 'longest'>
  readonly runtime: Runtime
}

/** The wait loop of a turnstile: ask, subscribe, ask again, sleep until a message, the time that it was told, or the next poll. */
export class TurnstileLoop<W extends { readonly request: Patience }> extends AskLoop<W, TurnstileContest<W>> {
  /** Messages heard: one that comes while an attempt is on its way must not be missed. */
  #heard = 0
  /** Messages came too fast. */
  #pauses = false
  #ear: Ear | undefined
  /** It was woken by a message, and for nothing so far. */
  #called = false
  /** A message said that it is to ask then. */
  #later: { readonly at: number; readonly timer: Timer } | undefined
  readonly #pace = new MessageBrake()
  /** It cannot subscribe, or has not been answered for long. */
  #deaf = false

  /** What it sleeps for has come, or nobody is left to ask for. */
  wake(): void {
    this.#heard++
    this.interrupt()
  }

  /** So says a message: anybody who may publish can send it. */
  call(): void {
    this.#called = true
    this.rouse()
  }

  /** Somebody new is there to ask for. */
  rouse(): void {
    this.#heard++
    if (!this.#pauses) this.interrupt()
  }

  /** Messages are heard, or nobody can: whoever is told is not told in vain. */
  get listens(): boolean {
    return this.#deaf || (this.#ear !== undefined && this.#hears)
  }

  get #hears(): boolean {
    return this.contest.runtime.subscriptions.hears(this.contest.passage.channel)
  }

  protected async run(): Promise<void> {
    const { contest } = this
    if (this.#hears) this.#listen()
    let troubles = 0
    for (let waiter = contest.next(); waiter !== undefined; waiter = contest.next()) {
      const heard = this.#heard
      this.#forget()
      const outcome = await contest.attempt(waiter)
      if (outcome === 'served') {
        this.#pace.served()
        continue
      }
      if (typeof outcome === 'object') {
        if (contest.troubled(outcome.trouble)) await this.sleep(Math.min(50 * 2 ** troubles++, POLL))
        continue
      }
      troubles = 0
      contest.refused(waiter)
      const next = contest.next()
      if (next === undefined) break
      // A single try that came while another call was asked for is asked for at once.
      if (next !== waiter && next.request.wait === 0) continue
      // What is released before the subscription stands is not heard: ask once more when it does, or when it is known that it cannot.
      const wasDeaf = this.#deaf
      if (this.#ear === undefined && ((await this.#subscribe()) || !wasDeaf)) continue
      if (this.#heard === heard) await this.sleep(this.#untilPoll(outcome))
      const pause = this.#called ? this.#pace.delay(contest.clock.monotonic()) : 0
      this.#called = false
      if (pause > 0) await this.#unhurried(pause)
    }
    this.#ear?.close()
    this.#forget()
    this.over()
  }

  /** A message that comes later than another says nothing of that one: the first that is due counts. */
  #callIn(ms: number): void {
    const at = this.contest.clock.monotonic() + ms
    if (this.#later !== undefined && this.#later.at <= at) return
    this.#forget()
    const timer = this.contest.clock.setTimer(() => {
      this.#later = undefined
      this.call()
    }, ms + 1)
    this.#later = { at, timer }
  }

  #forget(): void {
    this.#later?.timer.cancel()
    this.#later = undefined
  }

  /** However many messages anybody sends, there are not as many questions. */
  async #unhurried(pause: number): Promise<void> {
    this.#pauses = true
    await this.sleep(pause)
    this.#pauses = false
  }

  #listen(): Ear {
    if (this.#ear !== undefined) return this.#ear
    const { passage, runtime } = this.contest
    const attended = runtime.subscriptions.listen(passage.channel, (payload) => {
      const delay = payload === undefined ? 0 : (passage.delayOf?.(payload) ?? 0)
      if (delay > 0) {
        this.#callIn(delay)
        return
      }
      this.#called ||= payload !== undefined
      this.rouse()
    })
    const ear: Ear = {
      ready: attended.ready,
      close: () => {
        if (this.#ear === ear) this.#ear = undefined
        attended.close()
      },
    }
    return (this.#ear = ear)
  }

  /** False: it cannot subscribe, which was known. One that is not answered keeps nobody from asking; when it is, we ask once more. */
  async #subscribe(): Promise<boolean> {
    const ear = this.#listen()
    const ready = Promise.resolve(ear.ready).then(
      () => {
        this.#deaf = false
        this.wake()
        return true
      },
      (error: unknown) => {
        // Without messages it can join a line as well, which it has not asked for yet.
        const isNews = !this.#deaf
        this.#deaf = true
        ear.close()
        const { passage, runtime } = this.contest
        runtime.options.logger.warn(`cannot subscribe for ${quoted(passage.name)}: waiting by polling`, error)
        return isNews
      },
    )
    const late = this.sleep(POLL).then(() => {
      this.#deaf = !this.#hears
      return true
    })
    const goesOn = await Promise.race([ready, late])
    this.interrupt()
    return goesOn
  }

  #untilPoll(left: number): number {
    const poll = this.contest.passage.longest ?? POLL * (0.9 + 0.2 * this.contest.clock.random())
    return Math.min(left < 0 ? poll : left + 1, poll)
  }
}
