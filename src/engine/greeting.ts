import { ConfigError, serverError } from '../errors.js'
import type { Reply } from '../lua/values.js'
import { type Driver, NoReply, NotSent } from './driver.js'
import { isQueued, shown } from './link-errors.js'
import { errorOf } from '../thrown.js'

/** The PING on a new connection: whoever accepts one need not be a server, or may not be well. Only an answer tells. */
export class Greeting {
  readonly #driver: Driver
  /** While the answer is waited for. */
  #whenCut: ((reason: Error) => void) | undefined

  constructor(driver: Driver) {
    this.#driver = driver
  }

  /** Rejects where the connection cannot be used. */
  async send(): Promise<void> {
    const cut = new Promise<never>((_resolve, reject) => {
      this.#whenCut = (reason) => {
        reject(new NoReply(reason.message))
      }
    })
    try {
      const why = unusable(await Promise.race([this.#driver.send(['PING']), cut]))
      if (why !== undefined) throw new ConfigError(`${this.#driver.address} cannot be used: ${why}`)
    } catch (error) {
      if (!isAnswer(errorOf(error))) throw error
    } finally {
      this.#whenCut = undefined
    }
  }

  /** The connection was cut: no answer will come. */
  cut(reason: Error): void {
    this.#whenCut?.(reason)
  }
}

/** Why a connection that answers PING so cannot be used; undefined: it can. */
const unusable = (reply: Reply): string | undefined => {
  if (isQueued(reply)) return 'it is inside an open MULTI'
  // node-redis takes it out of its list.
  if (Array.isArray(reply) || reply === 'pong') return 'it is in subscriber mode, where no commands can be sent'
  return reply === 'PONG' ? undefined : `it answered PING with ${shown(reply)}`
}

/** A server that refuses PING is a server all the same, unless it wants to know first who asks. */
const isAnswer = (error: Error): boolean =>
  !(
    error instanceof ConfigError ||
    error instanceof NoReply ||
    error instanceof NotSent ||
    serverError(error.message).code === 'NOAUTH'
  )
