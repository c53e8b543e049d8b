import type { Timer } from '../../base/clock.js'
import { MessageThrottle } from '../waiting/message-throttle.js'
import type { Patience } from '../waiting/acquire-request.js'
import { type Contest as Asked, PollingLoop } from '../waiting/polling-loop.js'
import { troublePause } from '../waiting/trouble-to-wait-out.js'
import type { Ear } from '../server/shared-subscriptions.js'
import type { Runtime } from '../client/runtime.js'
import type { Passage } from './passage.js'
import { quoted } from '../../plain-text.js'
import { POLL } from '../../script-times-and-limits.js'

/** What a turnstile's loop asks for, if messages wake up its waiters. */
export interface TurnstileContest<W> extends Asked<W> {
  readonly passage: Pick<Passage<never, never>, 'name' | 'channel' | 'delayOf' | 'longest'>
  readonly runtime: Runtime
}

/** The wait loop of a turnstile: ask, subscribe, ask again, then sleep until a message, the time that the server said, or the next poll. */
export class TurnstileLoop<W extends { readonly request: Patience }> extends PollingLoop<W, TurnstileContest<W>> {
  /** Counts the wake-ups: one that comes during an attempt must not be missed. */
  #heard = 0
  /** Messages came too fast, so it pauses. */
  #pauses = false
  #ear: Ear | undefined
  /** A message woke it up, without success so far. */
  #called = false
  /** A message said when to ask. */
  #later: { readonly at: number; readonly timer: Timer } | undefined
  readonly #pace = new MessageThrottle()
  /** It cannot subscribe, or the subscription has not been answered for long. */
  #deaf = false

  /** What it sleeps for has come, or there is no waiter left to ask for. */
  wake(): void {
    this.#heard++
    this.interrupt()
  }

  /** A message says so. Any user who may publish can send one. */
  call(): void {
    this.#called = true
    this.rouse()
  }

  /** There is a new waiter to ask for. */
  rouse(): void {
    this.#heard++
    if (!this.#pauses) this.interrupt()
  }

  /** Messages can be heard, or there can be none at all: so a message that wakes up this process is not lost. */
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
        if (contest.troubled(outcome.trouble)) await this.sleep(troublePause(contest.clock, troubles++))
        continue
      }
      troubles = 0
      contest.refused(waiter)
      const next = contest.next()
      if (next === undefined) break
      // A single try that came while we asked for another call is asked for at once.
      if (next !== waiter && next.request.wait === 0) continue
      // A release before the subscription is ready is not heard: ask once more when it is ready, or when it is known to fail.
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

  /** A later time from another message does not replace an earlier one: the earliest counts. */
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

  /** Limits the questions, however many messages come. */
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

  /** False: it cannot subscribe, which was known. A slow subscription does not stop the loop: it asks on, and once more when it is ready. */
  async #subscribe(): Promise<boolean> {
    const ear = this.#listen()
    const ready = Promise.resolve(ear.ready).then(
      () => {
        this.#deaf = false
        this.wake()
        return true
      },
      (error: unknown) => {
        // Without messages it can still join a line, for which it has not asked yet.
        const isNews = !this.#deaf
        this.#deaf = true
        ear.close()
        const { passage, runtime } = this.contest
        runtime.options.logger.warn(`could not subscribe for ${quoted(passage.name)}, so its waiters poll`, error)
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
