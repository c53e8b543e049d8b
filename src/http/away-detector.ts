import { limitAnswers, systemClock } from '../base/clock.js'
import { EngineError } from '../errors.js'
import { isAway } from '../away-or-refusing.js'

/** At most this many queries are with the server at once. Further ones wait here, where giving them up costs nothing. */
const MOST = 256
/** How long after a failed probe the next one is sent, ms: the first pause, and the longest. */
const PAUSE = 20
const LONGEST_PAUSE = 250

/**
 * Asks the server, and gives up in time. Once a query got no answer within the timeout, the server counts as away: calls get their result at once, without asking.
 * Only one query at a time is still sent, to find out when the server is back. Answers come in the order of the queries, so an answer in time also shows that no
 * earlier query is open any more.
 */
export class AwayDetector {
  readonly #timeout: number
  readonly #trouble: (error: EngineError) => void
  /** Queries that are not sent yet, in order: each with a function that sends it and one that ends it. */
  readonly #waiting = new Map<() => void, () => void>()
  #asked = 0
  #away = false
  #probing = false
  #pause = 0
  #probeAt = 0

  /** `trouble` receives each error of the server, and one for each question that had no answer in time. */
  constructor(timeout: number, trouble: (error: EngineError) => void = () => undefined) {
    this.#timeout = timeout
    this.#trouble = trouble
  }

  /** Calls `question` once, or never. Undefined: there was no answer in time, or the server was not asked. */
  async ask<T>(question: (signal: AbortSignal) => Promise<T>): Promise<T | undefined> {
    if (!this.#away) return this.#inTime(question)
    if (this.#probing || systemClock.monotonic() < this.#probeAt) return undefined
    this.#probing = true
    try {
      return await this.#inTime(question)
    } finally {
      this.#probing = false
    }
  }

  #inTime<T>(question: (signal: AbortSignal) => Promise<T>): Promise<T | undefined> {
    return new Promise((resolve, reject) => {
      const given = new AbortController()
      let sent = false
      let over = false
      const end = (): void => {
        if (over) return
        over = true
        timer.cancel()
        this.#waiting.delete(send)
        if (sent) this.#asked--
        resolve(undefined)
      }
      const send = (): void => {
        this.#waiting.delete(send)
        sent = true
        this.#asked++
        question(given.signal).then(
          (answer) => {
            if (over) return
            resolve(answer)
            end()
            this.#answered()
          },
          (error: unknown) => {
            if (over) return
            if (error instanceof EngineError) this.#trouble(error)
            else reject(error)
            end()
            if (isAway(error)) this.#silent()
            else this.#answered()
          },
        )
      }
      const timer = limitAnswers(
        systemClock,
        () => {
          if (over) return
          this.#trouble(new EngineError('NO_REPLY', `no answer from the server within ${this.#timeout} ms`))
          end()
          if (sent) this.#silent()
          given.abort()
        },
        this.#timeout,
      )
      if (this.#asked < MOST) send()
      else this.#waiting.set(send, end)
    })
  }

  #answered(): void {
    this.#away = false
    this.#pause = 0
    for (const send of this.#waiting.keys()) {
      if (this.#asked >= MOST) break
      send()
    }
  }

  #silent(): void {
    this.#away = true
    this.#pause = Math.min(Math.max(PAUSE, 2 * this.#pause), LONGEST_PAUSE)
    this.#probeAt = systemClock.monotonic() + this.#pause
    for (const end of [...this.#waiting.values()]) end()
  }
}
