import { limitAnswers } from '../base/clock.js'
import type { EngineError } from '../errors.js'
import type { ConnectionReplacement } from './when-to-replace-connection.js'
import type { Driver } from './driver.js'
import { badReply, noReply } from './link-errors.js'
import type { ReplyTimeouts, TimeoutOptions } from './reply-timeouts.js'

/** A connection that is silent for this long is replaced for its silence first, ms. */
const LONG_SILENCE = 1500

/**
 * If a reply was lost or doubled on its way, each later reply belongs to another command. A reply of the wrong form shows this. If
 * the forms cannot show it, a PING does.
 */
export class RepliesOutOfStep {
  readonly #driver: Driver
  readonly #options: TimeoutOptions
  readonly #replies: ReplyTimeouts
  readonly #replacement: ConnectionReplacement
  #probing = false
  #stopped = false

  constructor(driver: Driver, options: TimeoutOptions, replies: ReplyTimeouts, replacement: ConnectionReplacement) {
    this.#driver = driver
    this.#options = options
    this.#replies = replies
    this.#replacement = replacement
  }

  /** No reply to commands under way can be trusted. Returns the error. */
  found(error: EngineError): EngineError {
    const { address, lent } = this.#driver
    if (lent !== true && this.#driver.reconnect !== undefined)
      this.#replies.failAll((target) => noReply(address, 'that can be trusted', target))
    this.#replacement.outOfStep(error)
    return error
  }

  /**
   * A command is overdue. If a reply was lost on its way, the next reply was taken for it, and the last command has none. Then the
   * reply of that command arrives now in place of a PING's, which cannot be mistaken for another.
   */
  probe(): void {
    if (this.#probing || !this.#canSend || this.#driver.cluster) return
    this.#probing = true
    const { address } = this.#driver
    const words = `holdfast ${this.#options.clock.random()}`
    const timer = this.#watchForReplies()
    const over = (): void => {
      this.#probing = false
      timer.cancel()
    }
    this.#driver.send(['PING', words]).then((reply) => {
      over()
      this.#replies.answered()
      if (reply !== words) this.found(badReply(address, 'PING', reply))
    }, over)
  }

  stop(): void {
    this.#stopped = true
  }

  get #canSend(): boolean {
    return this.#driver.isUp && !this.#stopped
  }

  /** Bytes may keep coming without ever forming a reply. */
  #watchForReplies(): { cancel(): void } {
    const { clock, commandTimeout } = this.#options
    const before = this.#replies.answers
    const wedged = (): void => {
      if (this.#replies.answers === before && this.#canSend)
        this.found(noReply(this.#driver.address, 'that can be read'))
    }
    return limitAnswers(clock, wedged, Math.max(commandTimeout, LONG_SILENCE), { background: true })
  }
}
