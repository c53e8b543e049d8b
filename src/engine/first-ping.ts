import { ConfigError, serverError } from '../errors.js'
import type { Reply } from '../lua/values.js'
import { type Driver, NoReply, NotSent } from './driver.js'
import { isQueued, shown } from './link-errors.js'
import { errorOf } from '../thrown.js'

/**
 * The PING on a new connection. Something that accepts a connection may not be a server, or may not work; only an answer shows that
 * it does.
 */
export class FirstPing {
  readonly #driver: Driver
  /** Rejects the PING while its answer is outstanding. */
  #whenCut: ((reason: Error) => void) | undefined

  constructor(driver: Driver) {
    this.#driver = driver
  }

  /** Rejects if the connection cannot be used. */
  async send(): Promise<void> {
    const cut = new Promise<never>((_resolve, reject) => {
      this.#whenCut = (reason) => {
        reject(new NoReply(reason.message))
      }
    })
    try {
      const why = unusable(await Promise.race([this.#ping(), cut]))
      if (why !== undefined) throw new ConfigError(`${this.#driver.address} cannot be used: ${why}`)
    } catch (error) {
      if (!isAnswer(errorOf(error))) throw error
    } finally {
      this.#whenCut = undefined
    }
  }

  /** One of a cluster's masters is enough: another may be away. */
  #ping(): Promise<Reply> {
    const masters = this.#driver.masters?.() ?? []
    if (masters.length < 2) return this.#driver.send(['PING'])
    const pings = masters.map((node) => this.#pingTo(node))
    return Promise.any(pings).catch(() => pings[0] as Promise<Reply>)
  }

  async #pingTo(node: string): Promise<Reply> {
    try {
      return await this.#driver.send(['PING'], { node })
    } catch (error) {
      if (!isAnswer(errorOf(error))) throw error
      return 'PONG'
    }
  }

  /** The connection was cut: no answer will come. */
  cut(reason: Error): void {
    this.#whenCut?.(reason)
  }
}

/** Why a connection with this answer to PING cannot be used; undefined: it can. */
const unusable = (reply: Reply): string | undefined => {
  if (isQueued(reply)) return 'it is inside an open MULTI'
  // node-redis unwraps the list of such an answer.
  if (Array.isArray(reply) || reply === 'pong') return 'it is in subscriber mode and cannot send commands'
  return reply === 'PONG' ? undefined : `it answered PING with ${shown(reply)}`
}

/** A server that refuses PING is a server, too, unless it wants a login first. */
const isAnswer = (error: Error): boolean =>
  !(
    error instanceof ConfigError ||
    error instanceof NoReply ||
    error instanceof NotSent ||
    serverError(error.message).code === 'NOAUTH'
  )
